import { PLAN_ROLLBACK } from '../finder/simulation.ts';
import { type AgentPlan, type AgentState, isOver, type AgentStep as StepState } from '../gate/agent-state.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { isUndoDone, requireNotUndone } from '../gate/undoing.ts';
import { undoerOf } from '../journey/undo.ts';
import { Refusal, refuse } from '../refusal.ts';
import { advance } from './advance.ts';
import type { AgentAnswer } from './answer-shape.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { type AgentExecutionPlan, type AgentStep, agentPlans } from './contracts.ts';
import { checkedValues, valuesIn } from './fields.ts';
import { openAgentPlan } from './match.ts';
import { agentPlanOf, type Part, undoStepId } from './plan.ts';
import { definitionOf, snapshotNow } from './snapshot.ts';
import { languageLeft } from './spoken.ts';

interface UndoRequest {
  readonly correlation_id: string;
  readonly user_id: string;
  /** The newest plan that left something behind unless told. */
  readonly plan_id?: string;
}

/**
 * Undoes what the steps of a plan did, the last one first, each through the simulation that it named when it was
 * planned. It is a plan like any other: it is confirmed, judged and recorded in the same way, one step a turn.
 */
export async function undo(context: AgentContext, request: UndoRequest): Promise<AgentAnswer> {
  const { correlation_id, user_id } = request;
  const state = await requireCorrelation(context, correlation_id, user_id);
  const undone = await planToUndo(context, state, request.plan_id);
  const made = agentPlans.open(await context.journey.store.object(undone.plan));
  const snapshot = await snapshotNow(context);
  const named = { simulation: await definitionOf(context, made.definition), digest: made.definition };
  const plan = agentPlanOf({
    correlation_id,
    named,
    parts: await partsToUndo(context, state, undone, made),
    rolls_back: made.plan_id,
    finder_packet_ref: made.finder_packet_ref,
    packet: null,
    policy_snapshot_ref: snapshot.policy,
    catalog_snapshot_ref: snapshot.catalog.digest,
    artifact_fingerprint_bundle_ref: snapshot.bundle,
    now: snapshot.now,
  });
  // The plan names the packet of the one that it undoes. What is stored with an entry can be removed only after it.
  const packet = await unlessErased(context, made.finder_packet_ref);
  const { events, objects } = await openAgentPlan(
    context,
    agentPlans.seal(plan),
    { user_id, language: await languageLeft(context, state) },
    snapshot.now,
  );
  await context.journey.store.commit({ events, objects: [...snapshot.objects, ...packet, ...objects] });
  return advance(context, correlation_id, user_id);
}

/** What was erased is not stored again, and need not be. */
async function unlessErased({ journey }: AgentContext, digest: string): Promise<Uint8Array[]> {
  try {
    return [await journey.store.object(digest)];
  } catch (error) {
    if (error instanceof Refusal && error.facts.removed === 'erased') return [];
    throw error;
  }
}

async function planToUndo(
  context: AgentContext,
  state: AgentState,
  plan_id: string | undefined,
): Promise<AgentPlan> {
  const meant: AgentPlan[] = [];
  for (const plan of state.plans)
    if (isOver(plan) && plan.rolls_back === null && (plan_id ?? plan.plan_id) === plan.plan_id)
      if (await didAnything(context, plan)) meant.push(plan);
  if (meant.length === 0) refuse('ROLLBACK_NOT_DUE', 'There is no such plan that left anything behind.');
  const left = meant.findLast((plan) => undosOf(state, plan).every((one) => one.state !== 'COMPLETED'));
  return left ?? refuse('ROLLBACK_NOT_DUE', 'It was undone before, and is not undone twice.');
}

async function didAnything(context: AgentContext, { steps }: AgentPlan): Promise<boolean> {
  for (const step of steps) if (await runOf(context, step)) return true;
  return false;
}

/**
 * The run that left something behind. A step that failed may have been retried by a human since: the record of its intent
 * says what happened in the end, and the step does not.
 */
async function runOf({ journey }: AgentContext, step: StepState): Promise<Run | null> {
  const intent = step.intent_id === null ? null : await journey.store.find('intent', step.intent_id);
  const run = intent?.runs.at(-1) ?? null;
  return intent && (step.state === 'SUCCEEDED' || hasHappened(intent)) ? run : null;
}

function hasHappened({ runs, status }: IntentState): boolean {
  return runs.at(-1)?.result === 'success' || status === 'happened';
}

/** The plans to undo this one that came before, whatever became of them. */
function undosOf({ plans: all }: AgentState, { plan_id }: AgentPlan): AgentPlan[] {
  return all.filter(({ rolls_back }) => rolls_back === plan_id);
}

async function partsToUndo(
  context: AgentContext,
  state: AgentState,
  undone: AgentPlan,
  { ordered_steps }: AgentExecutionPlan,
): Promise<Part[]> {
  const { correlation_id } = state;
  const { plan_id } = undone;
  const attempt = undosOf(state, undone).length;
  const parts: Part[] = [];
  for (const step_now of undone.steps.toReversed()) {
    const { step_id, intent_id } = step_now;
    const run = await runOf(context, step_now);
    if (run === null) continue;
    // A human took it back already.
    if ((await context.journey.store.find('intent', intent_id!))?.status === 'undone') continue;
    if (await wasUndoneByCall(context, intent_id!)) continue;
    if (await wasUndone(context, state, undone, step_id)) continue;
    const step = ordered_steps.find((one) => one.step_id === step_id)!;
    // What changes nothing leaves nothing to undo.
    if (step.rollback_plan_ref === null && !step.impactful) continue;
    const part = await undoingPart(context, step, run.execution_id);
    parts.push({ ...part, step_id: undoStepId({ correlation_id, plan_id, step_id, attempt }) });
  }
  return parts.length > 0 ? parts : refuse('ROLLBACK_NOT_DUE', 'Everything was taken back already.');
}

/** Whether the call that its tool declared undid it. While one of these waits or runs, the conversation does not undo it beside. */
async function wasUndoneByCall({ journey }: AgentContext, intent_id: string): Promise<boolean> {
  const undoer = await undoerOf(journey, intent_id);
  if (undoer !== null && isUndoDone(undoer)) return true;
  requireNotUndone(undoer);
  return false;
}

/**
 * Whether an earlier attempt undid this step: it succeeded then, or a human ran its intent again afterwards. Of an undo
 * that stopped half way, only the rest is done.
 */
async function wasUndone(
  { journey }: AgentContext,
  state: AgentState,
  undone: AgentPlan,
  step_id: string,
): Promise<boolean> {
  const { correlation_id } = state;
  const { plan_id } = undone;
  for (const [attempt, { steps }] of undosOf(state, undone).entries()) {
    const name = undoStepId({ correlation_id, plan_id, step_id, attempt });
    const tried = steps.find((step) => step.step_id === name);
    if (tried?.state === 'SUCCEEDED') return true;
    // Also the intent that only waited for an approver when the attempt was called off.
    const intent_id = tried?.intent_id ?? tried?.access?.intent_id ?? null;
    const intent = intent_id === null ? null : await journey.store.find('intent', intent_id);
    if (intent?.status === 'claimed') refuse('RUN_IN_DOUBT', undefined, { intent_id: intent.intent_id });
    if (intent && hasHappened(intent)) return true;
  }
  return false;
}

async function undoingPart(context: AgentContext, step: AgentStep, execution_id: string): Promise<Part> {
  const { rollback_plan_ref: ref, simulation_id } = step;
  if (ref === null) return refuse('ROLLBACK_NOT_DUE', `Nothing undoes "${simulation_id}".`);
  if (ref === PLAN_ROLLBACK)
    return refuse('ROLLBACK_NOT_DUE', `A human undoes it with \`keyturn rollback ${execution_id}\`.`, {
      execution_id,
    });
  const known =
    (await context.journey.store.find('simulation', ref)) ??
    refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: ref });
  const simulation = await definitionOf(context, known.definition);
  const given = valuesIn(step.required_fields);
  const values = Object.fromEntries(
    Object.keys(simulation.fields).flatMap((name) => (name in given ? [[name, given[name]!]] : [])),
  );
  return {
    definition: { simulation, digest: known.definition },
    values: checkedValues(simulation, values),
  };
}
