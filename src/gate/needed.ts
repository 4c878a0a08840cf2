import { type AgentState, isOver, liveAgentPlan } from './agent-state.ts';
import { canBeUndone } from './backups.ts';
import type { IntentState, IntentStatus } from './state.ts';

/** What still needs the objects of an intent or of a conversation. */
export interface Need {
  /** It can still be approved, run, retried, settled or answered, or does something now. */
  readonly in_use: boolean;
  /** The execution that could still be rolled back. */
  readonly execution_id: string | null;
  /** The conversation that could still be undone. */
  readonly correlation_id: string | null;
}

export const NOT_NEEDED: Need = { in_use: false, execution_id: null, correlation_id: null };

/** Something may be happening, or a human has to say what did. */
const AT_WORK: ReadonlySet<IntentStatus> = new Set<IntentStatus>([
  'claimed',
  'partial',
  'rolling_back',
  'stuck',
]);

/** These go on, but only until the intent expires. */
const GOES_ON: ReadonlySet<IntentStatus> = new Set<IntentStatus>([
  'proposed',
  'approved',
  'failed',
  'rolled_back',
]);

/** Pure. `is_dispatched`: the agent core dispatched it and has not recorded the end of that. */
export function intentNeed(state: IntentState, is_dispatched: boolean, now: Date): Need {
  const { status, expires_at, runs } = state;
  const goes_on = GOES_ON.has(status) && Date.parse(expires_at) > now.getTime();
  const last = runs.at(-1);
  return {
    ...NOT_NEEDED,
    in_use: is_dispatched || AT_WORK.has(status) || goes_on,
    execution_id: last && canBeUndone(state, last) ? last.execution_id : null,
  };
}

/** Pure. A question that waits for its answer is as open as a plan that goes on. */
export function conversationNeed(state: AgentState): Need {
  const { correlation_id, plans, turn } = state;
  const isUndone = (plan_id: string) =>
    plans.some(({ rolls_back, state: status }) => rolls_back === plan_id && status === 'COMPLETED');
  const undoable = plans.some(
    (plan) =>
      isOver(plan) &&
      plan.rolls_back === null &&
      plan.steps.some(({ execution_id }) => execution_id !== null) &&
      !isUndone(plan.plan_id),
  );
  return {
    ...NOT_NEEDED,
    in_use: liveAgentPlan(state) !== null || turn.packet_kind === 'CLARIFY',
    correlation_id: undoable ? correlation_id : null,
  };
}
