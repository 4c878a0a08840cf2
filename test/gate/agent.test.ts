import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { AGENT_PLAN_STATES, STEP_STATES } from '../../src/event/agent.ts';
import { correlationOf, nextAgent } from '../../src/gate/agent.ts';
import type {
  AgentPlan,
  AgentPlanStatus,
  AgentState,
  AgentStep,
  StepStatus,
} from '../../src/gate/agent-state.ts';
import { currentStep, liveAgentPlan } from '../../src/gate/agent-state.ts';
import { Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  AT,
  accessed,
  confirmed,
  dispatched,
  ended,
  fold,
  INTENT,
  KEY,
  moved,
  onward,
  PACKET,
  PLAN,
  PROOF,
  planned,
  RUN,
  ready,
  received,
  refs,
  STEP,
  STEP_2,
  step,
} from './agent-story.ts';

/** Written out a second time, as the specification reads: what a plan and a step may do, and nothing else. */
const PLAN_PAIRS = `
  CREATED>WAITING_CONFIRM CREATED>WAITING_CLARIFY CREATED>READY CREATED>FAILED CREATED>CANCELLED
  WAITING_CONFIRM>READY WAITING_CONFIRM>FAILED WAITING_CONFIRM>CANCELLED
  WAITING_CLARIFY>WAITING_CONFIRM WAITING_CLARIFY>READY WAITING_CLARIFY>FAILED WAITING_CLARIFY>CANCELLED
  READY>IN_PROGRESS READY>PAUSED READY>FAILED READY>CANCELLED
  IN_PROGRESS>WAITING_CONFIRM IN_PROGRESS>WAITING_CLARIFY IN_PROGRESS>PAUSED IN_PROGRESS>COMPLETED
  IN_PROGRESS>FAILED IN_PROGRESS>CANCELLED
  PAUSED>WAITING_CONFIRM PAUSED>WAITING_CLARIFY PAUSED>READY PAUSED>IN_PROGRESS PAUSED>FAILED PAUSED>CANCELLED`;

const STEP_PAIRS = `
  PENDING>WAITING_CONFIRM PENDING>WAITING_CLARIFY PENDING>READY PENDING>FAILED_TERMINAL PENDING>SKIPPED
  WAITING_CONFIRM>READY WAITING_CONFIRM>FAILED_TERMINAL WAITING_CONFIRM>SKIPPED
  WAITING_CLARIFY>WAITING_CONFIRM WAITING_CLARIFY>READY WAITING_CLARIFY>FAILED_TERMINAL WAITING_CLARIFY>SKIPPED
  READY>EXECUTING READY>FAILED_TERMINAL READY>SKIPPED
  EXECUTING>SUCCEEDED EXECUTING>FAILED_RETRYABLE EXECUTING>FAILED_TERMINAL
  FAILED_RETRYABLE>FAILED_TERMINAL FAILED_RETRYABLE>SKIPPED`;

const pairsOf = (text: string) => new Set(text.trim().split(/\s+/));

/** A state that no story led to: everything that could stand in the way of a move is out of it. */
function having(plan: Partial<AgentPlan>, one: Partial<AgentStep> = {}): AgentState {
  const state = fold(received(), planned());
  const known = state.plans[0]!;
  return { ...state, plans: [{ ...known, ...plan, steps: [{ ...known.steps[0]!, ...one }] }] };
}

/** The code of the refusal; null when there is none. */
function codeOf(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

const ENDS: Partial<Record<AgentPlanStatus, StepStatus>> = {
  COMPLETED: 'SUCCEEDED',
  FAILED: 'FAILED_TERMINAL',
  CANCELLED: 'SKIPPED',
};

describe('a plan and its steps', () => {
  it('a plan moves from each state to exactly the states that follow it', () => {
    const legal = pairsOf(PLAN_PAIRS);
    for (const from of AGENT_PLAN_STATES)
      for (const to of [...new Set([...AGENT_PLAN_STATES, ...STEP_STATES])]) {
        const state = having({ state: from }, { state: ENDS[to as AgentPlanStatus] ?? 'READY' });
        const code = codeOf(() => nextAgent(state, moved(null, from, to), AT));
        expect(code, `${from}>${to}`).toBe(legal.has(`${from}>${to}`) ? null : 'AGENT_TRANSITION_ILLEGAL');
      }
  });

  it('a step moves from each state to exactly the states that follow it', () => {
    const legal = pairsOf(STEP_PAIRS);
    const agreed = {
      confirmation: { answer: 'YES' as const, proof: PROOF, at: AT },
      access: { outcome: 'ALLOW' as const, decision: refs().access_decision_ref!, intent_id: null, at: AT },
      idempotency_key: KEY,
      intent_id: INTENT,
    };
    const full = { idempotency_key: KEY, intent_id: INTENT, execution_id: RUN, outcome: KEY };
    for (const from of STEP_STATES)
      for (const to of [...new Set([...AGENT_PLAN_STATES, ...STEP_STATES])]) {
        const state = having({ state: 'IN_PROGRESS' }, { state: from, ...agreed });
        const move = moved(STEP, from, to, { ...full, dispatch_decision_hash: KEY });
        const code = codeOf(() => nextAgent(state, move, AT));
        expect(code, `${from}>${to}`).toBe(legal.has(`${from}>${to}`) ? null : 'AGENT_TRANSITION_ILLEGAL');
      }
  });

  it('a move that names another state than the present one is refused', () => {
    for (const present of AGENT_PLAN_STATES)
      for (const from of AGENT_PLAN_STATES.filter((other) => other !== present))
        for (const to of AGENT_PLAN_STATES) {
          const state = having({ state: present }, { state: 'SKIPPED' });
          expect(
            codeOf(() => nextAgent(state, moved(null, from, to), AT)),
            `${present} ${from}>${to}`,
          ).toBe('AGENT_TRANSITION_ILLEGAL');
        }
    for (const present of STEP_STATES)
      for (const from of STEP_STATES.filter((other) => other !== present)) {
        const state = having({ state: 'IN_PROGRESS' }, { state: present });
        expect(codeOf(() => nextAgent(state, moved(STEP, from, 'SKIPPED'), AT))).toBe(
          'AGENT_TRANSITION_ILLEGAL',
        );
      }
  });

  it('a goal goes from the question through a yes and a run to its end', () => {
    const state = fold(...ready(), dispatched(), ended('SUCCEEDED'), moved(null, 'IN_PROGRESS', 'COMPLETED'));
    expect(liveAgentPlan(state)).toBeNull();
    expect(state).toMatchObject({ correlation_id: 'goal-1', user_id: 'mia', turns: 1 });
    expect(state.plans).toMatchObject([
      {
        state: 'COMPLETED',
        finder_packet: PACKET,
        steps: [{ state: 'SUCCEEDED', execution_id: RUN, idempotency_key: KEY }],
      },
    ]);
  });

  it('a plan is over only when no step is open, and says what its steps say', async () => {
    const all = { state: 'IN_PROGRESS' } as const;
    for (const [to, one] of [
      ['COMPLETED', 'READY'],
      ['COMPLETED', 'SKIPPED'],
      ['COMPLETED', 'FAILED_RETRYABLE'],
      ['FAILED', 'PENDING'],
      ['FAILED', 'SUCCEEDED'],
    ] as const)
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
        nextAgent(having(all, { state: one }), moved(null, 'IN_PROGRESS', to), AT),
      );
    for (const to of ['PAUSED', 'WAITING_CONFIRM'] as const)
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
        nextAgent(having(all, { state: 'EXECUTING' }), moved(null, 'IN_PROGRESS', to), AT),
      );
  });

  it('steps run one after the other, and only to be skipped nobody waits for its turn', async () => {
    const quick = { confirmation_required: false, impactful: false };
    const state = fold(received(), planned({ steps: [step(STEP, quick), step(STEP_2, quick)] }));
    expect(currentStep(state.plans[0]!)).toMatchObject({ step_id: STEP });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(state, moved(STEP_2, 'PENDING', 'READY')));
    const skipped = onward(state, moved(STEP_2, 'PENDING', 'SKIPPED'));
    expect(skipped.plans[0]!.steps.map((one) => one.state)).toEqual(['PENDING', 'SKIPPED']);
    const first = onward(
      state,
      moved(STEP, 'PENDING', 'READY'),
      accessed('ALLOW'),
      moved(null, 'CREATED', 'READY'),
      moved(null, 'READY', 'IN_PROGRESS'),
      dispatched(),
    );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(first, moved(STEP_2, 'PENDING', 'READY')));
    const failed = onward(first, ended('FAILED_RETRYABLE'));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(failed, moved(STEP_2, 'PENDING', 'READY')));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      onward(failed, moved(STEP, 'FAILED_RETRYABLE', 'READY')),
    );
    const second = onward(first, ended('SUCCEEDED'), moved(STEP_2, 'PENDING', 'READY'));
    expect(currentStep(second.plans[0]!)).toMatchObject({ step_id: STEP_2, state: 'READY' });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      onward(second, moved(null, 'IN_PROGRESS', 'COMPLETED')),
    );
  });

  it('a step that waits for a clarification goes on with the answer', () => {
    const state = fold(
      received(),
      planned(),
      moved(STEP, 'PENDING', 'WAITING_CLARIFY'),
      moved(null, 'CREATED', 'WAITING_CLARIFY'),
      received({ turn_id: 'turn-2', packet_kind: 'CLARIFY' }),
      moved(STEP, 'WAITING_CLARIFY', 'WAITING_CONFIRM'),
      moved(null, 'WAITING_CLARIFY', 'WAITING_CONFIRM'),
    );
    expect(state).toMatchObject({ turns: 2, plans: [{ state: 'WAITING_CONFIRM' }] });
  });
});

describe('a plan comes from a match and from nothing else', () => {
  it.each(['CLARIFY', 'REFUSE', 'MISSING_SIMULATION'] as const)(
    'a packet of kind %s leads to no plan',
    async (kind) => {
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(received({ packet_kind: kind }), planned()));
    },
  );

  it('a match is used once, and a plan names it', async () => {
    const cancelled = fold(
      received(),
      planned(),
      moved(STEP, 'PENDING', 'SKIPPED'),
      moved(null, 'CREATED', 'CANCELLED'),
    );
    const again = planned({ plan_id: sha256('again') });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(cancelled, again));
    const next = received({ turn_id: 'turn-2' });
    await expectRefusal('AGENT_REFS_MISSING', () => onward(cancelled, next, again));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(cancelled, next, planned()));
    const named = planned({ ...again.body, refs: refs({ finder_packet_ref: sha256('packet turn-2') }) });
    expect(onward(cancelled, next, named).plans.map(({ state }) => state)).toEqual(['CANCELLED', 'CREATED']);
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(cancelled, next, named, next));
  });

  it('one plan at a time, each step once, and nothing before a question', async () => {
    const other = planned({ plan_id: sha256('other') });
    const twice = planned({ steps: [step(), step()] });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(received(), planned(), other));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(received(), twice));
    for (const event of [planned(), confirmed('YES'), accessed('ALLOW'), moved(STEP, 'PENDING', 'READY')])
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(event));
    for (const event of [confirmed('YES'), accessed('ALLOW'), moved(null, 'CREATED', 'READY')])
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(received(), event));
    for (const event of [
      confirmed('YES', { step_id: STEP_2 }),
      accessed('ALLOW', { step_id: STEP_2 }),
      moved(STEP_2, 'PENDING', 'SKIPPED'),
    ])
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(received(), planned(), event));
  });

  it('a plan that is over is undone by a plan of its own, once', async () => {
    const undo = planned({ plan_id: sha256('undo'), rolls_back: PLAN });
    const done = fold(...ready(), dispatched(), ended('SUCCEEDED'), moved(null, 'IN_PROGRESS', 'COMPLETED'));
    const undoing = onward(done, undo);
    expect(undoing.plans[1]).toMatchObject({ rolls_back: PLAN, finder_packet: PACKET, state: 'CREATED' });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready(), undo));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(done, planned({ rolls_back: STEP })));
    const undone = {
      ...undoing,
      plans: [done.plans[0]!, { ...undoing.plans[1]!, state: 'COMPLETED' as const }],
    };
    const again = planned({ plan_id: sha256('again'), rolls_back: PLAN });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(undone, again));
  });

  it('a correlation belongs to one user and one thread, and a turn is received once', async () => {
    const other = { turn_id: 'turn-2' };
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(received(), received()));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      fold(received(), received({ ...other, user_id: 'eve' })),
    );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      fold(received(), received({ ...other, thread_id: 'thread-2' })),
    );
    expect(correlationOf('agent:a.b:c')).toBe('a.b:c');
    for (const subject of ['agent:', 'agent', 'goal-1', 'agent:a b', `agent:${'x'.repeat(200)}`])
      await expectRefusal('SHAPE_INVALID', () => correlationOf(subject));
  });
});
