import { describe, expect, it } from 'vitest';
import { currentCapability, outstanding } from '../../src/gate/capability.ts';
import { eligible } from '../../src/gate/standing.ts';
import type { IntentState } from '../../src/gate/state.ts';
import { limits } from '../../src/limits.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  AT,
  broken,
  CAP,
  CAP_2,
  claimed,
  denied,
  everybodyBut,
  finished,
  fold,
  granted,
  HASH,
  issued,
  next,
  ordered,
  proposed,
  RUN,
  RUN_2,
  retried,
  violated,
  withdrawn,
} from './story.ts';

const now = new Date('2026-01-15T12:30:00.000Z');
const CAP_3 = '5d1c7c0e-3b52-4c38-8d0f-6a0f0c1e7a03';
const ready = [proposed(), granted(), issued()];
const failed = fold(...ready, claimed(), finished('failure'));
const verdict = (state: IntentState, at = now) => {
  const facts = {
    now: at,
    ledger_at: AT,
    tenant: 'default',
    freezes: [],
    control_keys: [],
    set_back_at: null,
    authorities: everybodyBut(),
  };
  const answer = eligible(state, HASH, facts);
  return answer.eligible ? 'ELIGIBLE' : answer.code;
};

describe('a capability', () => {
  const later = '2026-01-15T12:45:00.000Z';

  it('is issued for an approved intent only, for its attempt, its effect and its actions', async () => {
    await expectRefusal('APPROVAL_MISSING', () => next(fold(proposed()), issued(), AT));
    await expectRefusal('INTENT_REJECTED', () => next(fold(proposed(), denied()), issued(), AT));
    const approved = fold(proposed(), granted());
    const issue = (over: Parameters<typeof issued>[1], attempt = 1) =>
      next(approved, issued(attempt, over), AT);
    await expectRefusal('HASH_MISMATCH', () => issue({ hash: 'aa'.repeat(32) }));
    await expectRefusal('CAPABILITY_INTENT_CHANGED', () => issue({}, 2));
    await expectRefusal('CAPABILITY_INTENT_CHANGED', () => issue({ effect_digest: 'aa'.repeat(32) }));
    await expectRefusal('ACTION_NOT_REQUESTED', () => issue({ action: 'tool:other' }));
    await expectRefusal('TRANSITION_ILLEGAL', () => next(issue({}), issued(), AT));
  });

  it('is ordered once at a time for an attempt', async () => {
    const [first, second] = ['2026-01-15T12:10:00.000Z', '2026-01-15T12:20:00.000Z'];
    const one = next(fold(proposed(), granted()), ordered(), first);
    const again = (signed_at: string) => ordered({ order_id: CAP_2, signed_at });
    const statuses = ({ capabilities }: IntentState) => capabilities.map(({ status }) => status);
    // Its human did not know of the first one.
    await expectRefusal('ORDER_OPEN', () => next(one, again(AT), second));
    for (const knowing of [first, second])
      expect(statuses(next(one, again(knowing), second))).toEqual(['revoked', 'ordered']);
    const lapsed = next(
      fold(proposed(), granted()),
      ordered({ lapses_at: '2026-01-15T12:15:00.000Z' }),
      first,
    );
    expect(outstanding(next(lapsed, again(AT), second), second)).toEqual([CAP_2]);
    // What was issued for a holder elsewhere is no open order.
    expect(outstanding(next(next(one, issued(), first), again(AT), second), second)).toEqual([CAP, CAP_2]);
  });

  it('never outlives its intent', async () => {
    const approved = fold(proposed({ expires_at: later }), granted());
    await expectRefusal('CAPABILITY_TOO_LONG', () => next(approved, issued(), AT));
    expect(verdict(next(approved, issued(1, { expires_at: later }), AT))).toBe('ELIGIBLE');
  });

  it('is not issued while sixteen others are outstanding', async () => {
    let state = fold(proposed(), granted());
    const id = (n: number) => `5d1c7c0e-3b52-4c38-8d0f-6a0f0c1e7${(n + 256).toString(16)}`;
    for (let n = 0; n < limits.outstanding_capabilities; n++)
      state = next(state, issued(1, { capability_id: id(n) }), AT);
    const more = issued(1, { capability_id: id(99) });
    await expectRefusal('CAPABILITY_TOO_MANY', () => next(state, more, AT));
    expect(outstanding(next(next(state, withdrawn(id(0)), AT), more, AT), AT)).toHaveLength(16);
    // Those that expired by themselves do not count.
    const late = '2026-01-15T23:00:00.000Z';
    expect(outstanding(state, late)).toEqual([]);
  });

  it('that expired is denied, and claims nothing', async () => {
    const short = fold(proposed(), granted(), issued(1, { expires_at: '2026-01-15T12:30:00.000Z' }));
    expect(verdict(short)).toBe('CAPABILITY_EXPIRED');
    expect(verdict(short, new Date('2026-01-15T12:29:59.999Z'))).toBe('ELIGIBLE');
    await expectRefusal('CAPABILITY_EXPIRED', () => next(short, claimed(), '2026-01-15T12:30:00.000Z'));
  });

  it('that was issued after its order has to be claimed before the order lapses', async () => {
    const lapses_at = '2026-01-15T12:02:00.000Z';
    const [in_time, late] = ['2026-01-15T12:01:59.999Z', lapses_at];
    const open = fold(proposed(), granted(), ordered({ lapses_at }));
    const after = next(open, issued(), '2026-01-15T12:01:00.000Z');
    expect(next(after, claimed(), in_time).status).toBe('claimed');
    expect(verdict(after, new Date(in_time))).toBe('ELIGIBLE');
    await expectRefusal('ORDER_LAPSED', () => next(after, claimed(), late));
    expect(verdict(after, new Date(late))).toBe('ORDER_LAPSED');
    expect(outstanding(after, late)).toEqual([]);
    // One that was issued with its order is for the executor that takes it elsewhere, until it expires.
    const at_once = next(open, issued(), AT);
    expect(next(at_once, claimed(), late).status).toBe('claimed');
    expect(verdict(at_once, new Date(late))).toBe('ELIGIBLE');
  });

  it('that was revoked is denied, and claims nothing', async () => {
    const state = next(fold(...ready), withdrawn(), AT);
    expect(verdict(state)).toBe('CAPABILITY_REVOKED');
    await expectRefusal('CAPABILITY_REVOKED', () => next(state, claimed(), AT));
    await expectRefusal('CAPABILITY_REVOKED', () => next(state, withdrawn(), AT));
    await expectRefusal('CAPABILITY_UNKNOWN', () => next(state, withdrawn(CAP_2), AT));
    expect(verdict(next(state, issued(1, { capability_id: CAP_3 }), AT))).toBe('ELIGIBLE');
  });

  it('is good for one run: another attempt needs another one', async () => {
    const used = claimed(2, RUN_2, null, { capability_id: CAP });
    const again = next(failed, retried(), AT);
    await expectRefusal('CAPABILITY_USED', () => next(again, used, AT));
    const unused = fold(
      ...ready,
      issued(1, { capability_id: CAP_3 }),
      claimed(),
      finished('failure'),
      retried(),
    );
    expect(verdict(unused)).toBe('ORDER_MISSING');
    await expectRefusal('CAPABILITY_INTENT_CHANGED', () =>
      next(unused, claimed(2, RUN_2, null, { capability_id: CAP_3 }), AT),
    );
  });

  it('of a run that goes on can be revoked, and that of one that is over cannot', async () => {
    const stopped = next(fold(...ready, claimed()), withdrawn(), AT);
    expect(stopped).toMatchObject({ status: 'claimed', capabilities: [{ status: 'revoked' }] });
    await expectRefusal('CAPABILITY_USED', () =>
      next(fold(...ready, claimed(), finished('success')), withdrawn(), AT),
    );
  });

  it('that is outstanding when a running action breaks a rule is revoked with it', async () => {
    const running = fold(...ready, issued(1, { capability_id: CAP_3 }), claimed());
    expect(outstanding(running, AT)).toEqual([CAP_3]);
    const state = next(running, violated(), AT);
    expect(outstanding(state, AT)).toEqual([]);
    await expectRefusal('EXECUTION_NOT_FOUND', () => next(running, violated(RUN_2), AT));
  });

  it('the newest that can be used is the current one', () => {
    const third = { capability_id: CAP_3, expires_at: later };
    const two = fold(...ready, issued(1, third));
    expect(currentCapability(two, now).capability_id).toBe(CAP_3);
    expect(currentCapability(next(two, withdrawn(CAP_3), AT), now).capability_id).toBe(CAP);
    expect(currentCapability(two, new Date(later)).capability_id).toBe(CAP);
  });

  it('past the break_glass needs two humans who broke it for this attempt', async () => {
    const approved = fold(proposed(), granted(), broken('ada'));
    const break_glass = issued(1, { break_glass: true });
    await expectRefusal('BREAK_GLASS_FORBIDDEN', () => next(approved, break_glass, AT));
    const both = next(approved, broken('bob'), AT);
    expect(next(both, break_glass, AT).capabilities).toMatchObject([
      { issued: { break_glass: true }, status: 'issued' },
    ]);
    await expectRefusal('TRANSITION_ILLEGAL', () => next(both, broken('eve', 2), AT));
    const again = fold(
      proposed(),
      granted(),
      broken('ada'),
      broken('bob'),
      break_glass,
      claimed(),
      finished('failure'),
      retried(),
    );
    expect(again.break_glass).toEqual([]);
    await expectRefusal('BREAK_GLASS_FORBIDDEN', () => next(again, issued(2, { break_glass: true }), AT));
  });

  it('of an alternate is issued once a human has turned to it, and only to one that the intent names', async () => {
    const spare = { tool: 'copy', effect_digest: 'cc'.repeat(32) };
    const named = proposed({ alternates: [spare], actions: ['tool:backup', 'tool:copy'] });
    const failed_once = fold(named, granted(), issued(), claimed(), finished('failure'));
    const other = { tool: 'copy', effect_digest: 'aa'.repeat(32) };
    await expectRefusal('ALTERNATE_NOT_NAMED', () => next(failed_once, retried(2, RUN, other), AT));
    await expectRefusal('ALTERNATE_NOT_NAMED', () => next(failed, retried(2, RUN, spare), AT));
    const turned = next(failed_once, retried(2, RUN, spare), AT);
    expect(turned).toMatchObject({ status: 'approved', tool: 'copy', effect_digest: spare.effect_digest });
    await expectRefusal('CAPABILITY_INTENT_CHANGED', () => next(turned, issued(2), AT));
    const ready_again = next(
      turned,
      issued(2, { effect_digest: spare.effect_digest, action: 'tool:copy' }),
      AT,
    );
    expect(verdict(ready_again)).toBe('ELIGIBLE');
    await expectRefusal('TRANSITION_ILLEGAL', () => next(ready_again, claimed(2, RUN_2), AT));
  });
});
