import { type AgentPlan, type AgentState, type ConversationStatus, liveAgentPlan } from './agent-state.ts';

type Told = Omit<AgentState, 'status'>;

/** Pure. What the answers of a conversation say, too. */
export function conversationStatus(state: Told): ConversationStatus {
  const live = liveAgentPlan(state);
  const plan = live ?? state.plans.at(-1);
  if (plan && (live || !isTurnNewest(state))) return statusOf(plan);
  switch (state.turn.packet_kind) {
    case 'CLARIFY':
      return 'WAITING_CLARIFY';
    case 'MISSING_SIMULATION':
      return 'MISSING_SIMULATION';
    default:
      return 'REFUSED';
  }
}

/** A plan that failed before anything ran was refused. */
function statusOf({ state, steps }: AgentPlan): ConversationStatus {
  return state === 'FAILED' && steps.every(({ execution_id }) => execution_id === null) ? 'REFUSED' : state;
}

/** The newest turn led to no plan, and no undo came after it. */
function isTurnNewest({ turn, plans }: Told): boolean {
  return turn.packet_kind !== 'SIMULATION_MATCH' && (plans.at(-1)?.created_at ?? '') < turn.at;
}

/** Whether the question of the newest turn waits for its answer. */
export function asksNow(state: AgentState): boolean {
  return state.turn.packet_kind === 'CLARIFY' && isTurnNewest(state);
}

/** What the finder named: the simulation, or the template whose steps these are. Of an undo, what is undone. */
export function simulationOf({ plans }: AgentState, plan: AgentPlan): string {
  const named = plans.find(({ plan_id }) => plan_id === plan.rolls_back) ?? plan;
  return named.template?.simulation ?? named.steps[0]!.simulation;
}

/** When it last changed. */
export function changedAt({ turn, plans }: AgentState): string {
  return [turn.at, ...plans.map(({ changed_at }) => changed_at)].sort().at(-1)!;
}
