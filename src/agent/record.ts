import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { dispatchOf } from '../gate/agent-move.ts';
import type { Dispatch } from '../gate/agent-state.ts';
import type { IntentState } from '../gate/state.ts';
import { requireIntent } from '../journey/context.ts';
import type { DraftedTurn } from '../journey/delegate-turn.ts';
import { refuse } from '../refusal.ts';
import type { Dispatched } from './answer-shape.ts';
import type { AgentContext } from './context.ts';
import { failed } from './match.ts';
import { agentPlanMoved, closing, type MoveReason, stepMoved } from './moves.ts';
import { nextStep, type StepEnd, stepEnd } from './outcome.ts';
import { type Refs, refsOf } from './plan.ts';
import { languageLeft } from './spoken.ts';
import type { StepInAgentPlan } from './step-in-plan.ts';
import { accessEvent, type Weighed } from './weigh.ts';

/** What the executor writes down, one commit each. None of these touches anything but the ledger. */

/**
 * READY -> EXECUTING, which spends the idempotency key, with the decision about access that it rests on, and with what of the
 * intent and its order is not written yet.
 */
export async function startStep(
  { journey }: AgentContext,
  { state, plan, plan_now, step }: StepInAgentPlan,
  weighed: Weighed,
  turned: DraftedTurn,
): Promise<void> {
  const { access, refs, digest, record } = weighed;
  const { intent_id } = turned;
  const about = { plan, step, user_id: state.user_id };
  const reason = plan_now.state === 'PAUSED' ? 'PLAN_RESUMED' : 'PLAN_STARTED';
  const is_started = plan_now.state === 'IN_PROGRESS';
  await journey.store.commit({
    events: [
      ...turned.events,
      accessEvent(about, weighed, access.outcome === 'AP_REQUIRED' ? intent_id : null),
      ...(is_started ? [] : [agentPlanMoved(plan, [plan_now.state, 'IN_PROGRESS'], reason, refs)]),
      stepMoved(plan, step, ['READY', 'EXECUTING'], 'STEP_DISPATCHED', refs, {
        idempotency_key: record.idempotency_key,
        intent_id,
        dispatch_decision_hash: digest,
      }),
    ],
    objects: [...turned.objects, ...weighed.objects],
    quota: journey.proposals,
  });
}

/** No dispatch: the step fails for good, and with it the plan. */
export async function stepRefused(
  context: AgentContext,
  { state, plan, plan_now, step, step_now }: StepInAgentPlan,
  weighed: Weighed,
  turned: DraftedTurn | null,
): Promise<Dispatched> {
  const { differs } = turned?.refusal?.facts ?? {};
  const language = await languageLeft(context, state);
  const failing = { plan, plan_now, step, user_id: state.user_id, language, from: step_now.state };
  const named = typeof differs === 'string' ? [differs] : undefined;
  const { events, objects, outcome } = await failed(context, failing, weighed, named);
  await context.journey.store.commit({
    events: [...(turned?.events ?? []), ...events],
    objects: [...(turned?.objects ?? []), ...objects],
  });
  return { kind: 'OUTCOME', outcome: outcome.value, outcome_ref: outcome.digest, is_duplicate: false };
}

/** The intent waits for a human. It is recorded once, however often the conversation is looked at. */
export async function awaitApprover(
  { journey }: AgentContext,
  { state, plan, plan_now, step, step_now }: StepInAgentPlan,
  weighed: Weighed,
  { intent_id, events, objects }: DraftedTurn,
): Promise<Dispatched> {
  const { refs, digest } = weighed;
  const waits = plan_now.state === 'PAUSED' && step_now.access?.intent_id === intent_id;
  if (!waits) {
    const decided = { dispatch_decision_hash: digest, intent_id };
    await journey.store.commit({
      events: [
        ...events,
        accessEvent({ plan, step, user_id: state.user_id }, weighed, intent_id),
        agentPlanMoved(plan, [plan_now.state, 'PAUSED'], 'APPROVER_AWAITED', refs, decided),
      ],
      objects: [...objects, ...weighed.objects],
      quota: journey.proposals,
    });
  }
  const { hash } = await requireIntent(journey, intent_id);
  return { kind: 'AWAITS_APPROVER', intent_id, hash };
}

export interface SeenEnd {
  readonly why: MoveReason | undefined;
  readonly dispatch_ms: number | null;
}

/** EXECUTING -> its end, and what follows for the plan, in one commit. */
export async function endStep(
  context: AgentContext,
  current: StepInAgentPlan,
  decision: { readonly refs: Refs; readonly hash: Digest },
  intent: IntentState,
  { why, dispatch_ms }: SeenEnd,
): Promise<Dispatched> {
  const { plan, step, step_now } = current;
  const language = await languageLeft(context, current.state);
  const end = await stepEnd(context, current, decision, intent, language, why);
  const { to, reason_code, execution_id, outcome } = end;
  const { idempotency_key, intent_id } = step_now;
  await context.journey.store.commit({
    events: [
      stepMoved(plan, step, ['EXECUTING', to], reason_code, decision.refs, {
        idempotency_key,
        intent_id,
        execution_id,
        dispatch_ms,
        outcome: outcome.digest,
      }),
      ...afterwards(current, end),
    ],
    objects: [outcome.bytes],
  });
  return { kind: 'OUTCOME', outcome: outcome.value, outcome_ref: outcome.digest, is_duplicate: false };
}

/** One step a turn: after a success the plan is done, or pauses before its next step. */
function afterwards(current: StepInAgentPlan, { to }: StepEnd): Event[] {
  const { plan, plan_now, step } = current;
  if (to !== 'SUCCEEDED') return closing(plan, plan_now, step.step_id, ['FAILED', 'PLAN_ABORTED']);
  const next_id = nextStep(current);
  const next = plan.ordered_steps.find(({ step_id }) => step_id === next_id);
  const refs = refsOf(plan, next ?? null);
  return next
    ? [agentPlanMoved(plan, ['IN_PROGRESS', 'PAUSED'], 'TURN_ENDED', refs)]
    : [agentPlanMoved(plan, ['IN_PROGRESS', 'COMPLETED'], 'PLAN_DONE', refs)];
}

/** The end of a step that another process dispatched, from the records of that dispatch and of its run. */
export async function endLater(
  context: AgentContext,
  current: StepInAgentPlan,
  intent: IntentState,
  why: MoveReason | undefined,
): Promise<Dispatched> {
  const { store, read_entry } = context.journey;
  const { plan, step } = current;
  const entries = await store.entriesOf(`agent:${plan.correlation_id}`);
  const told = entries.map(({ bytes }) => read_entry(bytes).event);
  const { refs, dispatch_decision_hash: hash } =
    dispatchOf(told, { ...plan, ...step }) ??
    refuse('AGENT_TRANSITION_ILLEGAL', 'The step was not dispatched.');
  return endStep(context, current, { refs, hash: hash! }, intent, { why, dispatch_ms: null });
}

/** The same step, planned again under the same key: it was done, or is being done, and this plan is not needed. */
export async function skipDuplicate(
  { journey }: AgentContext,
  { plan, plan_now, step }: StepInAgentPlan,
  { idempotency_key, intent_id }: Dispatch,
): Promise<void> {
  const refs = refsOf(plan, step);
  await journey.store.commit({
    events: [
      stepMoved(plan, step, ['READY', 'SKIPPED'], 'IDEMPOTENCY_VIOLATION', refs, {
        idempotency_key,
        intent_id,
      }),
      ...closing(plan, plan_now, step.step_id, ['CANCELLED', 'IDEMPOTENCY_VIOLATION']),
    ],
  });
}
