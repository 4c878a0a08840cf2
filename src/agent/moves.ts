import type { Body, Event } from '../event/event.ts';
import {
  type AgentPlanStatus,
  isOpen,
  type AgentStep as StepState,
  type StepStatus,
} from '../gate/agent-state.ts';
import type { AgentExecutionPlan, AgentStep } from './contracts.ts';
import { type Refs, refsOf } from './plan.ts';

type Move = Body<'agent.moved'>;
export type MoveReason = Move['reason_code'];
type Extra = Partial<
  Pick<
    Move,
    'idempotency_key' | 'intent_id' | 'execution_id' | 'dispatch_decision_hash' | 'dispatch_ms' | 'outcome'
  >
>;

/** Every transition is one entry. These write them; the state machine in gate/ says which ones are legal. */

export function stepMoved(
  plan: AgentExecutionPlan,
  { step_id }: Pick<AgentStep, 'step_id'>,
  [from, to]: readonly [StepStatus, StepStatus],
  reason_code: MoveReason,
  refs: Refs,
  extra: Extra = {},
): Event<'agent.moved'> {
  return moved(plan, step_id, from, to, reason_code, refs, extra);
}

export function agentPlanMoved(
  plan: AgentExecutionPlan,
  [from, to]: readonly [AgentPlanStatus, AgentPlanStatus],
  reason_code: MoveReason,
  refs: Refs,
  extra: Extra = {},
): Event<'agent.moved'> {
  return moved(plan, null, from, to, reason_code, refs, extra);
}

function moved(
  { correlation_id, plan_id }: AgentExecutionPlan,
  step_id: string | null,
  from: Move['from'],
  to: Move['to'],
  reason_code: MoveReason,
  refs: Refs,
  extra: Extra,
): Event<'agent.moved'> {
  return {
    kind: 'agent.moved',
    subject: `agent:${correlation_id}`,
    body: {
      plan_id,
      step_id,
      from,
      to,
      reason_code,
      refs,
      idempotency_key: null,
      intent_id: null,
      execution_id: null,
      dispatch_decision_hash: null,
      dispatch_ms: null,
      outcome: null,
      ...extra,
    },
  };
}

/** Nothing after this step is done: what is open is skipped, and the plan ends. */
export function closing(
  plan: AgentExecutionPlan,
  state: {
    readonly state: AgentPlanStatus;
    readonly steps: readonly Pick<StepState, 'step_id' | 'state'>[];
  },
  closed_step_id: string,
  [to, reason_code]: readonly ['FAILED' | 'CANCELLED', MoveReason],
): Event<'agent.moved'>[] {
  const open = state.steps.filter((step) => isOpen(step as StepState) && step.step_id !== closed_step_id);
  return [
    ...open.map((step) => stepMoved(plan, step, [step.state, 'SKIPPED'], reason_code, refsOf(plan, null))),
    agentPlanMoved(plan, [state.state, to], reason_code, refsOf(plan, null)),
  ];
}
