import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IntentEvent } from '../../src/gate/next.ts';
import { eligible } from '../../src/gate/standing.ts';
import type { IntentState, IntentStatus } from '../../src/gate/state.ts';
import { type ReasonCode, Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  AT,
  announced,
  checkpointed,
  claimed,
  denied,
  everybodyBut,
  expired,
  finished,
  fold,
  granted,
  HASH,
  issued,
  next,
  proposed,
  RUN,
  RUN_2,
  resolved,
  retried,
  undoing,
  undone,
} from './story.ts';

const NOW = new Date('2026-01-15T12:30:00.000Z');
const FOLDER = 'agent_outputs/reports/x';
const begun = [proposed({ effect: 'plan' }), granted(), issued(), claimed(1, RUN, FOLDER)];
const having = (...events: IntentEvent[]) => fold(...begun, ...events);
const verdict = (state: IntentState, authorities = everybodyBut()) => {
  const moment = {
    now: NOW,
    ledger_at: AT,
    tenant: 'default',
    freezes: [],
    set_back_at: null,
    control_keys: [],
    authorities,
  };
  const answer = eligible(state, HASH, moment);
  return answer.eligible ? 'ELIGIBLE' : answer.code;
};

describe('a checkpoint', () => {
  it('is recorded once, for the run of a plan that is at work', async () => {
    expect(having(checkpointed()).runs.at(-1)).toMatchObject({ manifest: 'cd'.repeat(32), result: null });
    expect(having(checkpointed(), finished('success')).runs.at(-1)?.manifest).toBe('cd'.repeat(32));
    await expectRefusal('TRANSITION_ILLEGAL', () => having(checkpointed(), checkpointed()));
    await expectRefusal('EXECUTION_NOT_FOUND', () => having(checkpointed(RUN_2)));
    await expectRefusal('ALREADY_EXECUTED', () => having(finished('success'), checkpointed()));
    await expectRefusal('TRANSITION_ILLEGAL', () =>
      fold(proposed(), granted(), issued(), claimed(), checkpointed()),
    );
  });
});

describe('an announcement', () => {
  const [first, second] = ['11'.repeat(32), '22'.repeat(32)];

  it('binds the journal as far as the run came', () => {
    expect(having(checkpointed(), announced(first), announced(second)).runs.at(-1)?.journal).toBe(second);
  });

  it('belongs to the run that is at work, after its checkpoint', async () => {
    await expectRefusal('TRANSITION_ILLEGAL', () => having(announced(first)));
    await expectRefusal('EXECUTION_NOT_FOUND', () => having(checkpointed(), announced(first, RUN_2)));
    await expectRefusal('ALREADY_EXECUTED', () =>
      having(checkpointed(), finished('success'), announced(first)),
    );
  });
});

describe('backups that expire', () => {
  const ended = having(checkpointed(), finished('success'));

  it('take the undo with them only when the human who signs says so, once', async () => {
    await expectRefusal('MANIFEST_STILL_ACTIVE', () => next(ended, expired(false), AT));
    const state = next(ended, expired(true), AT);
    expect(state).toEqual({ ...ended, runs: [{ ...ended.runs[0], expired_at: AT }] });
    await expectRefusal('BACKUPS_EXPIRED', () => next(state, undoing(), AT));
    await expectRefusal('BACKUPS_EXPIRED', () => next(state, expired(true), AT));
    const over = having(checkpointed(), finished('success'), undoing(), undone('complete'));
    await expectRefusal('TRANSITION_ILLEGAL', () => next(over, expired(true), AT));
    expect(next(over, expired(false), AT).runs[0]!.expired_at).toBe(AT);
  });

  it('stay while something needs them', async () => {
    const busy: [ReasonCode, IntentState][] = [
      ['RUN_IN_DOUBT', having(checkpointed())],
      ['ROLLBACK_UNFINISHED', next(ended, undoing(), AT)],
      ['ROLLBACK_STUCK', having(checkpointed(), finished('success'), undoing(), undone('stuck'))],
    ];
    for (const [code, state] of busy)
      for (const gives_up of [true, false])
        await expectRefusal(code, () => next(state, expired(gives_up), AT));
  });

  it('may be those of an earlier run, and never those of a tool or of another intent', async () => {
    const again = having(finished('failure'), retried(), issued(2), claimed(2, RUN_2, FOLDER));
    expect(next(again, expired(false), AT).runs.map(({ expired_at }) => expired_at)).toEqual([AT, null]);
    await expectRefusal('EXECUTION_NOT_FOUND', () => next(ended, expired(true, RUN_2), AT));
    const tool = fold(proposed(), granted(), issued(), claimed(), finished('success'));
    await expectRefusal('TRANSITION_ILLEGAL', () => next(tool, expired(false), AT));
  });
});

describe('a rollback', () => {
  it('takes back a success for good', () => {
    const state = having(finished('success'), undoing(), undone('complete'));
    expect(state).toMatchObject({ status: 'undone', rollback: { from: 'succeeded', result: 'complete' } });
    expect(verdict(state)).toBe('ALREADY_EXECUTED');
  });

  it.each([
    ['a failure', [finished('failure')]],
    ['a run that was killed half way', [finished('partial')]],
    ['a run in doubt', []],
  ] as const)('mends %s, which may then be tried again', async (_, end) => {
    const state = having(...end, undoing(), undone('complete'));
    expect(state.status).toBe('rolled_back');
    expect(verdict(state)).toBe('RUN_FAILED');
    await expectRefusal('ACT_CHANGED', () => next(state, retried(), AT));
    const again = next(state, retried(2, RUN, undefined, 'rolled_back'), AT);
    expect(again).toMatchObject({ status: 'approved', attempt: 2, rollback: null });
    expect(verdict(again)).toBe('ORDER_MISSING');
    expect(verdict(next(again, issued(2), AT))).toBe('ELIGIBLE');
  });

  it('under way blocks like a run in doubt, and cannot be retried', async () => {
    const state = having(finished('failure'), undoing());
    expect(verdict(state)).toBe('RUN_IN_DOUBT');
    await expectRefusal('RETRY_NOT_DUE', () => next(state, retried(), AT));
    await expectRefusal('RUN_IN_DOUBT', () => next(state, claimed(2, RUN_2, FOLDER), AT));
  });

  it('that is stuck blocks, until a later round restores the rest', async () => {
    const stuck = having(finished('success'), undoing(), undone('stuck'));
    expect(stuck.status).toBe('stuck');
    expect(verdict(stuck)).toBe('ROLLBACK_STUCK');
    await expectRefusal('ROLLBACK_STUCK', () => next(stuck, claimed(1, RUN_2, FOLDER), AT));
    await expectRefusal('RETRY_NOT_DUE', () => next(stuck, retried(), AT));
    const done = fold(
      ...begun,
      finished('success'),
      undoing(),
      undone('stuck'),
      undoing(2),
      undone('complete', 2),
    );
    expect(done).toMatchObject({ status: 'undone', rollback: { round: 2, from: 'succeeded' } });
  });

  it('that was killed is taken up by the next round, which remembers what it undoes', () => {
    const state = having(finished('success'), undoing(), undoing(2), undone('complete', 2));
    expect(state).toMatchObject({ status: 'undone', rollback: { round: 2, from: 'succeeded' } });
  });

  it('of some checkpoints leaves the status as it was', () => {
    expect(having(finished('success'), undoing(), undone('partial')).status).toBe('succeeded');
    expect(having(finished('failure'), undoing(), undone('partial')).status).toBe('failed');
    expect(having(undoing(), undone('partial')).status).toBe('claimed');
    const rest = having(finished('success'), undoing(), undone('partial'), undoing(2), undone('complete', 2));
    expect(rest.status).toBe('undone');
  });

  it('has one round at a time, counted from one', async () => {
    const ended = having(finished('success'));
    await expectRefusal('TRANSITION_ILLEGAL', () => next(ended, undoing(2), AT));
    const first = next(ended, undoing(), AT);
    await expectRefusal('TRANSITION_ILLEGAL', () => next(first, undoing(1), AT));
    await expectRefusal('TRANSITION_ILLEGAL', () => next(first, undone('complete', 2), AT));
  });

  it('belongs to the last run', async () => {
    const again = having(finished('failure'), retried(), issued(2), claimed(2, RUN_2, FOLDER));
    await expectRefusal('EXECUTION_NOT_FOUND', () => next(again, undoing(), AT));
  });

  it('is not due where nothing ran, a tool ran, or it is over', async () => {
    const states: IntentState[] = [
      fold(proposed({ effect: 'plan' })),
      fold(proposed({ effect: 'plan' }), granted()),
      fold(proposed(), granted(), issued(), claimed(), finished('success')),
      having(resolved('happened')),
      having(finished('success'), undoing(), undone('complete')),
    ];
    for (const state of states) await expectRefusal('ROLLBACK_NOT_DUE', () => next(state, undoing(), AT));
    await expectRefusal('ROLLBACK_NOT_DUE', () => next(having(finished('success')), undone('complete'), AT));
  });

  it('never makes a run possible that was not, whatever the order of events', () => {
    const steps: IntentEvent[] = [
      ...begun,
      issued(2),
      claimed(2, RUN_2, FOLDER),
      finished('success'),
      finished('failure'),
      finished('partial'),
      finished('rolled_back'),
      retried(),
      retried(2, RUN, undefined, 'rolled_back'),
      ...[1, 2, 3].flatMap((round) => [
        undoing(round),
        undone('complete', round),
        undone('partial', round),
        undone('stuck', round),
      ]),
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...steps), { maxLength: 40 }), (events) => {
        let state: IntentState | null = null;
        let retries = 0;
        for (const event of events) {
          const before: IntentStatus | null = state?.status ?? null;
          try {
            state = next(state, event, AT);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            continue;
          }
          if (event.kind === 'retry.authorised') {
            retries += 1;
            expect(['failed', 'rolled_back']).toContain(before);
          }
          // A success that was ever taken back, and one that was not, is never run again.
          if (before === 'undone' || before === 'succeeded') expect(state.status).not.toBe('approved');
        }
        if (state) expect(state.runs.length).toBeLessThanOrEqual(retries + 1);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a quorum of two', () => {
  const OTHERS = [
    { name: 'bob', roles: [] },
    { name: 'eve', roles: [] },
  ];
  const wanted = () => proposed({ effect: 'plan', approvals_needed: 2 });
  const by = (name: string, over: { expires_at?: string } = {}): IntentEvent => {
    const event = granted(over) as Extract<IntentEvent, { kind: 'approval.granted' }>;
    return { ...event, body: { ...event.body, by: name } };
  };

  it('is not reached by one human, however often they sign', async () => {
    const state = fold(wanted(), by('ada'), by('ada'), by('ada'));
    expect(state.status).toBe('proposed');
    expect(verdict(state)).toBe('APPROVAL_MISSING');
    await expectRefusal('APPROVAL_MISSING', () => next(state, claimed(1, RUN, FOLDER), AT));
  });

  it('is reached by two different humans', () => {
    const state = fold(wanted(), by('ada'), by('bob'));
    expect(state.status).toBe('approved');
    expect(verdict(next(state, issued(), AT))).toBe('ELIGIBLE');
  });

  it('is lost when the approval of one expires, and won back by a new one', () => {
    const stale = { expires_at: '2026-01-15T12:10:00.000Z' };
    expect(verdict(fold(wanted(), by('ada', stale), by('bob'), issued()))).toBe('APPROVAL_EXPIRED');
    expect(verdict(fold(wanted(), by('ada', stale), by('bob'), by('ada'), issued()))).toBe('ELIGIBLE');
    expect(
      verdict(fold(wanted(), by('ada', stale), by('bob'), by('eve'), issued(1, { approvers: OTHERS }))),
    ).toBe('ELIGIBLE');
  });

  it('is lost when one of the two is revoked', () => {
    const state = fold(wanted(), by('ada'), by('bob'), issued());
    expect(verdict(state, everybodyBut('bob'))).toBe('APPROVER_REVOKED');
  });

  it('one no is enough, before and after the second yes', () => {
    for (const state of [fold(wanted(), by('ada'), denied()), fold(wanted(), by('ada'), by('bob'), denied())])
      expect(verdict(state)).toBe('INTENT_REJECTED');
  });
});
