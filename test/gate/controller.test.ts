import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Freeze } from '../../src/gate/freeze.ts';
import { BLOCKS, type IntentEvent } from '../../src/gate/next.ts';
import { eligible, type Moment, type Verdict } from '../../src/gate/standing.ts';
import type { IntentState, IntentStatus } from '../../src/gate/state.ts';
import { Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  AT,
  broken,
  CAP,
  claimed,
  denied,
  everybodyBut,
  finished,
  fold,
  granted,
  HASH,
  issued,
  next,
  proposed,
  RUN,
  RUN_2,
  replaced,
  resolved,
  retried,
  stopped,
  takenBack,
  undoing,
  undone,
  violated,
  withdrawn,
} from './story.ts';

const now = new Date('2026-01-15T12:30:00.000Z');
const facts: Moment = {
  now,
  ledger_at: AT,
  tenant: 'default',
  freezes: [],
  control_keys: [],
  set_back_at: null,
  authorities: everybodyBut(),
};
const check = (state: IntentState | null, hash = HASH, at = now): Verdict =>
  eligible(state, hash, { ...facts, now: at });
const code = (verdict: Verdict) => (verdict.eligible ? 'ELIGIBLE' : verdict.code);

const ready = [proposed(), granted(), issued()];
const planned = [
  proposed({ effect: 'plan' }),
  granted(),
  issued(),
  claimed(1, RUN, 'agent_outputs/reports/x'),
];

/** One state for every status: the compiler sees to it that none is missing. */
const states: Record<IntentStatus, IntentState> = {
  proposed: fold(proposed()),
  rejected: fold(proposed(), denied()),
  withdrawn: fold(proposed(), takenBack()),
  replaced: fold(proposed(), replaced()),
  approved: fold(...ready),
  claimed: fold(...ready, claimed()),
  succeeded: fold(...ready, claimed(), finished('success')),
  failed: fold(...ready, claimed(), finished('failure')),
  partial: fold(...ready, claimed(), finished('partial')),
  happened: fold(...ready, claimed(), resolved('happened')),
  rolled_back: fold(...planned, finished('rolled_back')),
  rolling_back: fold(...planned, finished('success'), undoing()),
  undone: fold(...planned, finished('success'), undoing(), undone('complete')),
  stuck: fold(...planned, finished('success'), undoing(), undone('stuck')),
};

const CAP_3 = '5d1c7c0e-3b52-4c38-8d0f-6a0f0c1e7a03';
const events: Record<string, IntentEvent> = {
  propose: proposed(),
  approve: granted(),
  reject: denied(),
  'take back': takenBack(),
  edit: replaced(),
  issue: issued(1, { capability_id: CAP_3 }),
  withdraw: withdrawn(),
  break_glass: broken('ada'),
  claim: claimed(),
  violate: violated(),
  stop: stopped(),
  finish: finished('success'),
  resolve: resolved('happened'),
  retry: retried(),
  retry_taken_back: retried(2, RUN, undefined, 'rolled_back'),
  undo: undoing(),
  undone: undone('complete'),
};

describe('eligibility', () => {
  it('an approved intent that never ran is eligible', () => {
    const [capability] = states.approved.capabilities;
    expect(capability).toMatchObject({ capability_id: CAP, status: 'issued' });
    expect(check(states.approved)).toEqual({ eligible: true, state: states.approved, capability });
  });

  it('an approved intent without a capability is denied', () =>
    expect(code(check(fold(proposed(), granted())))).toBe('ORDER_MISSING'));

  it('an unknown intent is denied', () => expect(code(check(null))).toBe('INTENT_NOT_FOUND'));

  it('an intent that nobody approved is denied', () =>
    expect(code(check(states.proposed))).toBe('APPROVAL_MISSING'));

  it('a hash that differs in one character is denied', () => {
    for (let i = 0; i < HASH.length; i++) {
      const other = `${HASH.slice(0, i)}${HASH[i] === '0' ? '1' : '0'}${HASH.slice(i + 1)}`;
      expect(code(check(states.approved, other))).toBe('HASH_MISMATCH');
    }
  });

  it('a rejected intent is denied for good', async () => {
    expect(code(check(states.rejected))).toBe('INTENT_REJECTED');
    for (const event of Object.values(events).filter((event) => event.kind !== 'intent.proposed')) {
      expect(() => next(states.rejected, event, AT)).toThrow(Refusal);
    }
    await expectRefusal('INTENT_REJECTED', () => next(states.rejected, granted(), AT));
  });

  it('an expired intent and an expired approval are denied', () => {
    const soon = '2026-01-15T12:30:00.000Z';
    const short = fold(proposed({ expires_at: soon }), granted(), issued(1, { expires_at: soon }));
    expect(code(check(short))).toBe('INTENT_EXPIRED');
    const stale = fold(proposed(), granted({ expires_at: soon }), issued());
    expect(code(check(stale))).toBe('APPROVAL_EXPIRED');
    expect(code(check(stale, HASH, new Date('2026-01-15T12:29:59.999Z')))).toBe('ELIGIBLE');
  });

  it('an approval signed again after it expired counts again', () => {
    const twice = fold(proposed(), granted({ expires_at: '2026-01-15T12:01:00.000Z' }), granted(), issued());
    expect(code(check(twice))).toBe('ELIGIBLE');
  });

  it('a clock behind the ledger judges nothing that expires', () => {
    const yesterday = new Date('2026-01-14T12:00:00.000Z');
    expect(code(check(states.approved, HASH, yesterday))).toBe('CLOCK_BEHIND');
    expect(code(check(states.succeeded, HASH, yesterday))).toBe('ALREADY_EXECUTED');
  });

  it('a run that succeeded denies for good and says when it was claimed', () => {
    expect(check(states.succeeded)).toEqual({ eligible: false, code: 'ALREADY_EXECUTED', executed_at: AT });
    for (const event of Object.values(events))
      expect(() => next(states.succeeded, event, AT)).toThrow(Refusal);
  });

  it('a run that failed denies until a human authorises a retry', async () => {
    expect(code(check(states.failed))).toBe('RUN_FAILED');
    const authorised = next(states.failed, retried(), AT);
    expect(code(check(authorised))).toBe('ORDER_MISSING');
    await expectRefusal('CAPABILITY_UNKNOWN', () => next(authorised, claimed(2, RUN_2), AT));
    const again = next(authorised, issued(2), AT);
    expect(code(check(again))).toBe('ELIGIBLE');
    expect(again.attempt).toBe(2);
    await expectRefusal('TRANSITION_ILLEGAL', () => next(again, claimed(1, RUN_2), AT));
    expect(code(check(next(again, claimed(2, RUN_2), AT)))).toBe('RUN_IN_DOUBT');
  });

  it('a run in doubt denies until a human resolves it', async () => {
    expect(check(states.claimed)).toEqual({ eligible: false, code: 'RUN_IN_DOUBT', executed_at: AT });
    await expectRefusal('RUN_IN_DOUBT', () => next(states.claimed, retried(), AT));
    expect(code(check(next(states.claimed, resolved('happened'), AT)))).toBe('ALREADY_EXECUTED');
    expect(code(check(next(states.claimed, resolved('did_not_happen'), AT)))).toBe('RUN_FAILED');
  });

  it('a run that was killed half way blocks like one in doubt', () => {
    expect(code(check(states.partial))).toBe('RUN_PARTIAL');
    expect(code(check(next(states.partial, resolved('did_not_happen', undefined, 'partial'), AT)))).toBe(
      'RUN_FAILED',
    );
  });

  it('how long ago a run was makes no difference', () => {
    for (const year of [2026, 2027, 2126]) {
      const later = new Date(`${year}-06-01T00:00:00.000Z`);
      expect(code(check(states.succeeded, HASH, later))).toBe('ALREADY_EXECUTED');
    }
  });

  it('approval is judged before history, and the first denial stops', () => {
    // The wrong hash and the old run are both reasons; only the first is told.
    expect(code(check(states.succeeded, 'ab'.repeat(32)))).toBe('HASH_MISMATCH');
    expect(code(check(states.proposed))).toBe('APPROVAL_MISSING');
  });

  it('the verdict does not depend on the tool, the effect or the proposer', () => {
    const others = {
      tool: 'rm',
      effect_digest: '11'.repeat(32),
      registry_digest: '22'.repeat(32),
      proposer: 'eve',
    };
    for (const state of Object.values(states)) {
      expect(code(check({ ...state, ...others }))).toBe(code(check(state)));
    }
  });

  it('the verdict depends on the tool, the proposer and the tenant where one of them is frozen', () => {
    const frozen = (scope: Freeze['scope'], name: string) =>
      eligible(states.approved, HASH, {
        ...facts,
        freezes: [{ scope, name, by: 'ada', at: AT, reason: 'looking into it' }],
      });
    expect(frozen('system', '')).toMatchObject({ code: 'FROZEN', words: expect.stringContaining('ada') });
    expect(code(frozen('tool', 'backup'))).toBe('FROZEN');
    expect(code(frozen('agent', 'bot'))).toBe('FROZEN');
    expect(code(frozen('tenant', 'default'))).toBe('FROZEN');
    for (const scope of ['tool', 'agent', 'tenant'] as const)
      expect(code(frozen(scope, 'other'))).toBe('ELIGIBLE');
  });

  it('only two humans who broke the break_glass go past a freeze', () => {
    const freezes: Freeze[] = [{ scope: 'system', name: '', by: 'ada', at: AT, reason: 'stop' }];
    const verdict = (...break_glass: IntentEvent[]) =>
      code(eligible(fold(...ready, ...break_glass), HASH, { ...facts, freezes }));
    expect(verdict(broken('ada'))).toBe('FROZEN');
    expect(verdict(broken('ada'), broken('ada'))).toBe('FROZEN');
    expect(verdict(broken('ada'), broken('bob'))).toBe('ELIGIBLE');
  });

  it('the same state, hash and clock give the same verdict and leave the state as it was', () => {
    for (const state of Object.values(states)) {
      const before = structuredClone(state);
      expect(check(state)).toEqual(check(state));
      expect(state).toEqual(before);
    }
  });
});

describe('the state machine', () => {
  const legal: Record<IntentStatus, readonly string[]> = {
    proposed: ['approve', 'reject', 'take back', 'edit', 'break_glass'],
    rejected: [],
    withdrawn: [],
    replaced: [],
    approved: ['approve', 'reject', 'take back', 'issue', 'withdraw', 'break_glass', 'claim'],
    claimed: ['withdraw', 'violate', 'stop', 'finish', 'resolve'],
    succeeded: [],
    failed: ['retry'],
    partial: ['resolve'],
    happened: [],
    rolled_back: ['retry_taken_back', 'undo'],
    rolling_back: ['undone'],
    undone: [],
    stuck: [],
  };

  it('an event that is not listed for a status is refused, for every status', () => {
    for (const [status, state] of Object.entries(states) as [IntentStatus, IntentState][]) {
      for (const [name, event] of Object.entries(events)) {
        const of = name === 'resolve' && status === 'partial' ? resolved('happened', RUN, 'partial') : event;
        const act = () => next(state, of, AT);
        if (legal[status].includes(name)) expect(act, `${name} in ${status}`).not.toThrow();
        else expect(act, `${name} in ${status}`).toThrow(Refusal);
      }
    }
  });

  it('each refusal says what stands in the way', async () => {
    await expectRefusal('INTENT_NOT_FOUND', () => next(null, granted(), AT));
    await expectRefusal('INTENT_EXISTS', () => next(states.proposed, proposed(), AT));
    await expectRefusal('APPROVAL_MISSING', () => next(states.proposed, claimed(), AT));
    await expectRefusal('RUN_IN_DOUBT', () => next(states.claimed, claimed(), AT));
    await expectRefusal('ALREADY_EXECUTED', () => next(states.succeeded, claimed(), AT));
    await expectRefusal('RUN_FAILED', () => next(states.failed, claimed(2, RUN_2), AT));
    await expectRefusal('RESOLVE_NOT_DUE', () => next(states.failed, resolved('happened'), AT));
    await expectRefusal('RETRY_NOT_DUE', () => next(states.approved, retried(), AT));
    await expectRefusal('HASH_MISMATCH', () => next(states.proposed, granted({ hash: 'aa'.repeat(32) }), AT));
    await expectRefusal('EXECUTION_NOT_FOUND', () => next(states.claimed, finished('success', 1, RUN_2), AT));
    await expectRefusal('EXECUTION_NOT_FOUND', () => next(states.failed, retried(2, RUN_2), AT));
  });

  it('no order of events claims one attempt or one capability twice, or runs without an approval and a capability', () => {
    const step = fc.constantFrom(
      ...Object.values(events),
      issued(),
      issued(2),
      claimed(1, RUN, null, { capability_id: CAP_3 }),
      claimed(2, RUN_2),
      claimed(2, RUN_2, null, { capability_id: CAP }),
      finished('failure'),
      resolved('did_not_happen'),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let state: IntentState | null = null;
        const attempts: number[] = [];
        const spent: string[] = [];
        const given = new Map<string, number>();
        const taken_back = new Set<string>();
        for (const event of steps) {
          const before: IntentState | null = state;
          try {
            state = next(state, event, AT);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            continue;
          }
          if (event.kind === 'capability.issued') given.set(event.body.capability_id, event.body.attempt);
          if (event.kind === 'capability.revoked') taken_back.add(event.body.capability_id);
          if (event.kind === 'violation.detected') for (const id of given.keys()) taken_back.add(id);
          if (event.kind !== 'execution.claimed') continue;
          const { capability_id, attempt } = event.body;
          // What was given is remembered here, not read from the state that is judged.
          expect(given.get(capability_id)).toBe(attempt);
          expect(taken_back).not.toContain(capability_id);
          spent.push(capability_id);
          expect(before?.status).toBe('approved');
          expect(BLOCKS[state.status]).toBe('RUN_IN_DOUBT');
          attempts.push(attempt);
        }
        expect(new Set(spent).size).toBe(spent.length);
        expect(new Set(attempts).size).toBe(attempts.length);
        if (attempts.length > 0) expect(state?.approvals.length).toBeGreaterThan(0);
        if (state && state.runs.length > 0) expect(state.runs[0]?.execution_id).toBe(RUN);
      }),
      { numRuns: 2000 },
    );
  });
});
