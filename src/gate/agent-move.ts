import type { Body, Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import {
  AGENT_PLAN_MOVES,
  type AgentPlan,
  type AgentPlanStatus,
  type AgentStep,
  currentStep,
  isOpen,
  isOver,
  STEP_MOVES,
  type StepStatus,
} from './agent-state.ts';

type Move = Body<'agent.moved'>;

/** Moves the plan itself, or one of its steps. */
export function moved(plan: AgentPlan, move: Move, at: string): AgentPlan {
  if (move.refs.finder_packet_ref !== plan.finder_packet)
    refuse('AGENT_REFS_MISSING', 'The move does not name the packet that the plan was made from.');
  const { step_id } = move;
  if (step_id === null) return planMoved(plan, move, at);
  const step = plan.steps.find((known) => known.step_id === step_id);
  if (!step) refuse('AGENT_TRANSITION_ILLEGAL', 'The plan has no such step.');
  const after = stepMoved(plan, step, move, at);
  return { ...plan, steps: plan.steps.map((known) => (known === step ? after : known)) };
}

function planMoved(plan: AgentPlan, move: Move, at: string): AgentPlan {
  requireLegal(AGENT_PLAN_MOVES, plan.state, move);
  const state = move.to as AgentPlanStatus;
  const after = { ...plan, state, reason_code: move.reason_code, changed_at: at };
  if (plan.steps.some((step) => step.state === 'EXECUTING'))
    refuse('AGENT_TRANSITION_ILLEGAL', 'A step of the plan is executing.');
  if (isOver(after)) requireEnd(after);
  return after;
}

/** No step is left hanging in a plan that is over, and the plan says what its steps say. */
function requireEnd({ state, steps }: AgentPlan): void {
  if (steps.some(isOpen)) refuse('AGENT_TRANSITION_ILLEGAL', 'A step of the plan is still open.');
  const has_failed = steps.some((step) => step.state.startsWith('FAILED'));
  const has_succeeded = steps.some((step) => step.state === 'SUCCEEDED');
  if (state === 'COMPLETED' && (has_failed || !has_succeeded))
    refuse('AGENT_TRANSITION_ILLEGAL', 'Not every step of the plan succeeded.');
  if (state === 'FAILED' && !has_failed) refuse('AGENT_TRANSITION_ILLEGAL', 'No step of the plan failed.');
}

function stepMoved(plan: AgentPlan, step: AgentStep, move: Move, at: string): AgentStep {
  requireLegal(STEP_MOVES, step.state, move);
  const state = move.to as StepStatus;
  // Steps run one after the other. Only skipping a step needs no turn.
  if (state !== 'SKIPPED' && currentStep(plan) !== step)
    refuse('AGENT_TRANSITION_ILLEGAL', 'It is not the turn of this step.');
  if (state === 'READY') requireConsent(step, move);
  const { reason_code, outcome } = move;
  const after = { ...step, state, reason_code, changed_at: at, outcome: outcome ?? step.outcome };
  if (state === 'EXECUTING') return dispatched(plan, after, move);
  return step.state === 'EXECUTING' ? ended(after, move) : after;
}

function requireLegal<S extends string>(
  moves: Readonly<Record<S, readonly S[]>>,
  state: S,
  { from, to }: Move,
): void {
  if (from !== state)
    refuse('AGENT_TRANSITION_ILLEGAL', `It is ${state} and no longer ${from}.`, { state, from, to });
  if (!moves[state].includes(to as S))
    refuse('AGENT_TRANSITION_ILLEGAL', `Nothing leads from ${from} to ${to}.`, { state, from, to });
}

/** No confirmation, no dispatch: an explicit yes, and the proof of it. A no counts also without a question. */
function requireConsent({ confirmation_required, confirmation }: AgentStep, { refs }: Move): void {
  if (!confirmation_required && confirmation?.answer !== 'NO') return;
  if (confirmation?.answer !== 'YES') refuse('CONFIRMATION_MISSING');
  if (refs.confirmation_parse_proof_ref !== confirmation.proof)
    refuse('AGENT_REFS_MISSING', 'The move does not name the proof of the confirmation.');
}

/** The move that leads to an effect. Everything that it rests on is named, and is what the ledger knows. */
function dispatched(plan: AgentPlan, step: AgentStep, move: Move): AgentStep {
  const { idempotency_key, intent_id, execution_id, dispatch_decision_hash, refs } = move;
  if (plan.state !== 'IN_PROGRESS') refuse('AGENT_TRANSITION_ILLEGAL', 'The plan is not in progress.');
  requireConsent(step, move);
  requireAccess(step, move);
  if (idempotency_key === null || intent_id === null || dispatch_decision_hash === null)
    refuse('AGENT_REFS_MISSING', 'A dispatch names its idempotency key, its intent and its decision.');
  if (step.impactful && refs.rollback_plan_ref === null)
    refuse('AGENT_REFS_MISSING', 'An impactful step names what undoes it.');
  return { ...step, idempotency_key, intent_id, execution_id };
}

function requireAccess({ access }: AgentStep, { intent_id, refs }: Move): void {
  if (access === null || refs.access_decision_ref !== access.decision)
    refuse('AGENT_REFS_MISSING', 'The dispatch does not name the decision about access.');
  if (access.outcome === 'DENY') refuse('ACCESS_SCOPE_VIOLATION');
  // The approver's signature is on one intent. No other may take its place.
  if (access.outcome === 'AP_REQUIRED' && (access.intent_id === null || access.intent_id !== intent_id))
    refuse('ACCESS_AP_REQUIRED');
}

/** The end of what was dispatched, under the same key and intent, with its outcome. */
function ended(step: AgentStep, { idempotency_key, intent_id, execution_id, outcome }: Move): AgentStep {
  if (idempotency_key !== step.idempotency_key || intent_id !== step.intent_id)
    refuse('AGENT_REFS_MISSING', 'The outcome is not of what was dispatched.');
  if (outcome === null || (step.state === 'SUCCEEDED' && execution_id === null))
    refuse('AGENT_REFS_MISSING', 'An outcome is stored, and a success names its execution.');
  if (step.execution_id !== null && step.execution_id !== execution_id)
    refuse('AGENT_REFS_MISSING', 'The outcome is of another execution.');
  return { ...step, execution_id, outcome };
}

/** Whether this move leads to an effect: the one that spends an idempotency key. */
export function isDispatch({ step_id, to }: Move): boolean {
  return step_id !== null && to === 'EXECUTING';
}

/** Whether this move says what came of a dispatch. */
export function isEnd({ step_id, from }: Move): boolean {
  return step_id !== null && from === 'EXECUTING';
}

/** The move that dispatched this step, among what was told of its correlation. */
export function dispatchOf(
  told: readonly Event[],
  { plan_id, step_id }: Pick<Move, 'plan_id' | 'step_id'>,
): Move | null {
  for (const { kind, body } of told)
    if (kind === 'agent.moved' && isDispatch(body) && body.plan_id === plan_id && body.step_id === step_id)
      return body;
  return null;
}
