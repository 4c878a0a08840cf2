import { deepFrozen } from '../canonical/frozen.ts';
import { isSameJson } from '../canonical/json.ts';
import { type AgentPlan, type AgentState, isOver, type AgentStep as StepState } from '../gate/agent-state.ts';
import { refuse } from '../refusal.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { type AgentExecutionPlan, type AgentStep, agentPlans, type DispatchEnvelope } from './contracts.ts';
import { idempotencyKey } from './plan.ts';

/** One step of one plan: as it was planned, and as the ledger has it now. */
export interface StepInAgentPlan {
  readonly state: AgentState;
  readonly plan: AgentExecutionPlan;
  readonly plan_now: AgentPlan;
  readonly step: AgentStep;
  readonly step_now: StepState;
}

export async function stepInAgentPlan(
  { journey, memory }: AgentContext,
  state: AgentState,
  plan_now: AgentPlan,
  step_id: string,
): Promise<StepInAgentPlan> {
  // Read each time, since an object can be erased. The same bytes are parsed once.
  const bytes = await journey.store.object(plan_now.plan);
  const plan = memory.plans.get(plan_now.plan) ?? deepFrozen(agentPlans.open(bytes));
  memory.plans.set(plan_now.plan, plan);
  const step = plan.ordered_steps.find((one) => one.step_id === step_id);
  const step_now = plan_now.steps.find((one) => one.step_id === step_id);
  if (!step || !step_now) return refuse('AGENT_TRANSITION_ILLEGAL', 'The plan has no such step.');
  return { state, plan, plan_now, step, step_now };
}

/** The bounded envelope of 003 section 2.2: what the plan says about this step, and nothing that was made up here. */
export function envelopeOf(
  { state, plan, step, step_now }: StepInAgentPlan,
  tenant_id: string,
): DispatchEnvelope {
  return {
    correlation_id: plan.correlation_id,
    tenant_id,
    user_id: state.user_id,
    step_id: step.step_id,
    simulation_id: step.simulation_id,
    required_fields: step.required_fields,
    confirmation_proof_ref: step.confirmation_required ? (step_now.confirmation?.proof ?? null) : null,
    access_action: step.access_action,
    idempotency_key: idempotencyKey(plan.correlation_id, step),
    policy_snapshot_ref: plan.policy_snapshot_ref,
    artifact_fingerprint_bundle_ref: step.artifact_fingerprint_bundle_ref,
    rollback_plan_ref: step.rollback_plan_ref,
  };
}

/** Which step is meant: of this plan, or of the plan that goes on, or of the newest that has it. */
export interface StepName {
  readonly correlation_id: string;
  readonly step_id: string;
  readonly plan_id?: string;
}

export async function requireStep(context: AgentContext, name: StepName): Promise<StepInAgentPlan> {
  const { correlation_id, step_id, plan_id } = name;
  const state = await requireCorrelation(context, correlation_id, undefined);
  const having = state.plans.filter(
    (plan) =>
      (plan_id === undefined || plan.plan_id === plan_id) &&
      plan.steps.some((step) => step.step_id === step_id),
  );
  const plan = having.find((one) => !isOver(one)) ?? having.at(-1);
  if (!plan) return refuse('AGENT_TRANSITION_ILLEGAL', 'This correlation has no such step.');
  return stepInAgentPlan(context, state, plan, step_id);
}

/** The attacker is a caller with an envelope of its own making: every field must be what the ledger says. */
export async function requireOrder(context: AgentContext, order: DispatchEnvelope): Promise<StepInAgentPlan> {
  const current = await requireStep(context, {
    correlation_id: order.correlation_id,
    step_id: order.step_id,
  });
  const planned = envelopeOf(current, context.journey.store.tenant);
  if (order.user_id !== planned.user_id)
    refuse('ACCESS_SCOPE_VIOLATION', 'The envelope is of another user than the one who asked.');
  if (order.idempotency_key !== planned.idempotency_key) refuse('IDEMPOTENCY_VIOLATION');
  if (current.step.confirmation_required && order.confirmation_proof_ref === null)
    refuse('CONFIRMATION_MISSING');
  if (!isSameJson(order, planned)) refuse('AGENT_REFS_MISSING', 'The envelope is not what was planned.');
  return current;
}
