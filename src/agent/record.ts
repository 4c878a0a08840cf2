import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { Dispatch } from '../gate/agent-state.ts';
import type { IntentState } from '../gate/state.ts';
import type { DraftedIntent } from '../journey/submit.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { differsIn } from './decide.ts';
import { closing, type MoveReason, planMoved, stepMoved } from './moves.ts';
import { type Dispatched, nextStep, type StepEnd, stepEnd } from './outcome.ts';
import { type Refs, refsOf } from './plan.ts';
import type { Standing } from './standing.ts';
import { accessEvent, type Weighed } from './weigh.ts';

/** What the executor writes down, one commit each. None of these touches anything but the ledger. */

/**
 * READY -> EXECUTING, which spends the idempotency key, with the decision about access that it rests on; and, where that is
 * not written yet, the intent that is dispatched.
 */
export async function startStep(
  { journey }: AgentContext,
  { state, plan, plan_now, step }: Standing,
  weighed: Weighed,
  { intent_id, idempotency_key }: { readonly intent_id: string; readonly idempotency_key: Digest },
  intent: DraftedIntent | null,
): Promise<void> {
  const { access, refs, digest } = weighed;
  const about = { plan, step, user_id: state.user_id };
  const reason = plan_now.state === 'PAUSED' ? 'PLAN_RESUMED' : 'PLAN_STARTED';
  const is_started = plan_now.state === 'IN_PROGRESS';
  await journey.store.commit({
    events: [
      ...(intent?.events ?? []),
      accessEvent(about, weighed, access.outcome === 'AP_REQUIRED' ? intent_id : null),
      ...(is_started ? [] : [planMoved(plan, [plan_now.state, 'IN_PROGRESS'], reason, refs)]),
      stepMoved(plan, step, ['READY', 'EXECUTING'], 'STEP_DISPATCHED', refs, {
        idempotency_key,
        intent_id,
        dispatch_decision_hash: digest,
      }),
    ],
    objects: [...(intent?.objects ?? []), ...weighed.objects],
  });
}

/** No dispatch: the step fails for good, and with it the plan. */
export async function refused(
  context: AgentContext,
  standing: Standing,
  weighed: Weighed,
  code: ReasonCode,
  differs: readonly string[] = differsIn(weighed.record.facts),
): Promise<Dispatched> {
  const { state, plan, plan_now, step, step_now } = standing;
  const { refs, digest } = weighed;
  const { outcome } = await stepEnd(context, standing, { refs, hash: digest }, null, code, differs);
  await context.journey.store.commit({
    events: [
      accessEvent({ plan, step, user_id: state.user_id }, weighed, null),
      stepMoved(plan, step, [step_now.state, 'FAILED_TERMINAL'], code, refs, {
        dispatch_decision_hash: digest,
        outcome: outcome.digest,
      }),
      ...closing(plan, plan_now, step.step_id, ['FAILED', 'PLAN_ABORTED']),
    ],
    objects: [...weighed.objects, outcome.bytes],
  });
  return { kind: 'OUTCOME', outcome: outcome.value, outcome_ref: outcome.digest, is_duplicate: false };
}

/** The intent waits for a human. It is written down once, however often somebody looks. */
export async function awaitApprover(
  { journey }: AgentContext,
  { state, plan, plan_now, step, step_now }: Standing,
  weighed: Weighed,
  { intent_id, hash }: IntentState,
): Promise<Dispatched> {
  const { refs, digest } = weighed;
  const waits = plan_now.state === 'PAUSED' && step_now.access?.intent_id === intent_id;
  if (!waits) {
    const decided = { dispatch_decision_hash: digest, intent_id };
    await journey.store.commit({
      events: [
        accessEvent({ plan, step, user_id: state.user_id }, weighed, intent_id),
        planMoved(plan, [plan_now.state, 'PAUSED'], 'APPROVER_AWAITED', refs, decided),
      ],
      objects: weighed.objects,
    });
  }
  return { kind: 'AWAITS_APPROVER', intent_id, hash };
}

export interface SeenEnd {
  readonly why: MoveReason | undefined;
  readonly dispatch_ms: number | null;
}

/** EXECUTING -> its end, and what follows for the plan, in one commit. */
export async function endStep(
  context: AgentContext,
  standing: Standing,
  decision: { readonly refs: Refs; readonly hash: Digest },
  intent: IntentState,
  { why, dispatch_ms }: SeenEnd,
): Promise<Dispatched> {
  const { plan, step, step_now } = standing;
  const end = await stepEnd(context, standing, decision, intent, why);
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
      ...afterwards(standing, end),
    ],
    objects: [outcome.bytes],
  });
  return { kind: 'OUTCOME', outcome: outcome.value, outcome_ref: outcome.digest, is_duplicate: false };
}

/** One step a turn: after a success the plan is done, or waits until somebody has looked at its next step. */
function afterwards(standing: Standing, { to }: StepEnd): Event[] {
  const { plan, plan_now, step } = standing;
  if (to !== 'SUCCEEDED') return closing(plan, plan_now, step.step_id, ['FAILED', 'PLAN_ABORTED']);
  const next_id = nextStep(standing);
  const next = plan.ordered_steps.find(({ step_id }) => step_id === next_id);
  const refs = refsOf(plan, next ?? null);
  return next
    ? [planMoved(plan, ['IN_PROGRESS', 'PAUSED'], 'TURN_ENDED', refs)]
    : [planMoved(plan, ['IN_PROGRESS', 'COMPLETED'], 'PLAN_DONE', refs)];
}

/** The end of a step that another process dispatched, from the records of that dispatch and of its run. */
export async function endLater(
  context: AgentContext,
  standing: Standing,
  intent: IntentState,
  why: MoveReason | undefined,
): Promise<Dispatched> {
  const { plan_id, step_id } = { ...standing.plan, ...standing.step };
  const rows = await context.journey.store.agentLedger({ plan_id, limit: LEDGER_ROWS });
  const row =
    rows.find((one) => one.step_id === step_id && one.to_state === 'EXECUTING') ??
    refuse('AGENT_TRANSITION_ILLEGAL', 'The step was not dispatched.');
  const refs: Refs = {
    finder_packet_ref: row.finder_packet_ref,
    policy_snapshot_ref: row.policy_snapshot_ref,
    catalog_snapshot_ref: row.catalog_snapshot_ref,
    artifact_fingerprint_bundle_ref: row.artifact_fingerprint_bundle_ref,
    access_decision_ref: row.access_decision_ref,
    confirmation_parse_proof_ref: row.confirmation_parse_proof_ref,
    rollback_plan_ref: row.rollback_plan_ref,
  };
  const decision = { refs, hash: row.dispatch_decision_hash! };
  return endStep(context, standing, decision, intent, { why, dispatch_ms: null });
}

/** A plan has at most 64 steps of a few moves each. */
export const LEDGER_ROWS = 1000;

/** The same step, planned again under the same key: it was done, or is being done, and this plan is not needed. */
export async function skipDuplicate(
  { journey }: AgentContext,
  { plan, plan_now, step }: Standing,
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
