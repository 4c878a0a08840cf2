import { currentCapability } from '../gate/capability.ts';
import type { IntentState } from '../gate/state.ts';
import type { Signer } from '../identity/act.ts';
import { openEnvelope } from '../intent/envelope.ts';
import { requireIntent } from '../journey/context.ts';
import { grant } from '../journey/grant.ts';
import { propose } from '../journey/propose.ts';
import { run } from '../journey/run.ts';
import { openEffect } from '../journey/sealed-effect.ts';
import { draftSubmitted, submit } from '../journey/submit.ts';
import { explain, Refusal, refuse } from '../refusal.ts';
import { requireActivated } from './bound.ts';
import { type AgentContext, requireCoreKey } from './context.ts';
import { type DispatchEnvelope, envelopes, outcomes } from './contracts.ts';
import { draftOf, effectAction, intentIdOf, isApprovedByHuman, requireSameIntent } from './intent.ts';
import type { MoveReason } from './moves.ts';
import type { Dispatched } from './outcome.ts';
import { requireProvenOrder } from './proven.ts';
import { awaitApprover, endLater, endStep, refused, skipDuplicate, startStep } from './record.ts';
import type { Simulation } from './simulation.ts';
import { definitionOf } from './snapshot.ts';
import { requireOrder, requireStep, type Standing } from './standing.ts';
import { type Weighed, weigh } from './weigh.ts';

/** A capability that is used at once need not live long. */
const CAPABILITY_TTL_S = 60;

/**
 * SimulationExecutor: the only way from the agent core to an effect, and the road that everything travels. It believes
 * nothing that the core checked: the simulation, the access, the confirmation and the key are looked at again here.
 */
export async function dispatch(context: AgentContext, given: unknown): Promise<Dispatched> {
  const begun_ms = performance.now();
  const now = context.journey.clock();
  // 1. The bounded envelope, and what the ledger says about its key.
  const order = envelopes.check(given);
  const standing = await requireProvenOrder(context, order);
  const before = await original(context, standing, order);
  if (before) return before;
  if (standing.step_now.state !== 'READY')
    refuse('AGENT_TRANSITION_ILLEGAL', 'The step is not ready.', { state: standing.step_now.state });

  // 2. Registered, active, access, confirmation, approver: all of it again.
  const intent_id = intentIdOf(order.idempotency_key);
  const proposed = await context.journey.store.find('intent', intent_id);
  const approved = await isApprovedByHuman(context.journey, proposed, order.user_id, now);
  const weighed = await weigh(context, {
    ...standing,
    user_id: order.user_id,
    confirmation: standing.step_now.confirmation,
    approved,
    now,
  });
  const { reason_code } = weighed.verdict;
  if (reason_code !== 'STEP_DISPATCHED' && reason_code !== 'ACCESS_AP_REQUIRED')
    return refused(context, standing, weighed, reason_code);

  // 3. The intent, proposed by the agent core and submitted under what a human delegated; and with it the dispatch, which is
  // durable, its key spent, before anything can run.
  const definition = await definitionOf(context, standing.step.definition);
  const signer = requireCoreKey(context);
  const starting = { order, standing, weighed, proposed, definition, intent_id, signer };
  try {
    const at_once = proposed === null && reason_code === 'STEP_DISPATCHED';
    if (!at_once || !(await startAtOnce(context, starting))) {
      const stopped = await startInTurn(context, starting);
      if (stopped) return stopped;
    }
  } catch (error) {
    if (isLost(error)) return overtaken(context, order);
    throw error;
  }
  const intent = await requireIntent(context.journey, intent_id);

  // 4. One capability, one run, one record.
  const ended = await runOnce(context, { standing, definition, intent, signer, begun_ms });
  return endOnce(context, order, weighed, { intent_id, ended });
}

/** Another process was faster. That says nothing about the step itself. */
const LOST: ReadonlySet<string> = new Set([
  'AGENT_TRANSITION_ILLEGAL',
  'CLAIM_TAKEN',
  'INTENT_EXISTS',
  'TRANSITION_ILLEGAL',
]);

function isLost(error: unknown): boolean {
  return error instanceof Refusal && LOST.has(error.code);
}

interface Starting {
  readonly order: DispatchEnvelope;
  readonly standing: Standing;
  readonly weighed: Weighed;
  /** The intent, when somebody came so far before. */
  readonly proposed: IntentState | null;
  readonly definition: Simulation;
  readonly intent_id: string;
  readonly signer: Signer;
}

/**
 * The usual case: nobody proposed it yet, and the delegation approves it. Then all of it is one commit. False where something is
 * in the way and nothing was written: what that is, and that it was, is for the other road to find out and record.
 */
async function startAtOnce(context: AgentContext, starting: Starting): Promise<boolean> {
  const { standing, weighed, order, definition, intent_id, signer } = starting;
  const { journey } = context;
  try {
    const draft = draftOf(journey, standing, definition, intent_id);
    const delegation = await delegationOf(context, definition.id);
    const on_behalf_of = standing.state.user_id;
    const drafted = await draftSubmitted(journey, draft, { signer, delegation, on_behalf_of });
    await requireActivated(context, definition.id, drafted.effect);
    if (drafted.state.status !== 'approved') return false;
    await startStep(context, standing, weighed, { ...order, intent_id }, drafted);
    return true;
  } catch (error) {
    // A store that failed is not asked for something else.
    const is_no = error instanceof Refusal && explain(error.code).category !== 'FILE_SYSTEM_ERROR';
    if (is_no && !isLost(error)) return false;
    throw error;
  }
}

/** One commit after the other. What a refusal ends is recorded; null when the step is dispatched. */
async function startInTurn(context: AgentContext, starting: Starting): Promise<Dispatched | null> {
  const { standing, weighed, order, proposed, intent_id, signer } = starting;
  try {
    const intent = await intentOf(context, starting);
    if (weighed.verdict.reason_code === 'ACCESS_AP_REQUIRED') {
      if (proposed === null) await offered(context, standing, intent, signer);
      return await awaitApprover(context, standing, weighed, intent);
    }
    await submitted(context, standing, intent, signer);
  } catch (error) {
    if (!(error instanceof Refusal) || isLost(error)) throw error;
    const { differs } = error.details;
    return refused(context, standing, weighed, error.code, typeof differs === 'string' ? [differs] : []);
  }
  await startStep(context, standing, weighed, { ...order, intent_id }, null);
  return null;
}

async function intentOf(
  context: AgentContext,
  { standing, proposed, definition, intent_id, signer }: Starting,
): Promise<IntentState> {
  const { journey } = context;
  const draft = draftOf(journey, standing, definition, intent_id);
  if (proposed === null) await propose(journey, draft, signer, standing.state.user_id);
  else await requireSameIntent(journey, proposed, draft, standing.state.user_id);
  const intent = await requireIntent(journey, intent_id);
  if (intent.status === 'rejected') refuse('INTENT_REJECTED');
  if (Date.parse(intent.expires_at) <= journey.clock().getTime()) refuse('INTENT_EXPIRED');
  const { effect } = openEnvelope(await journey.store.object(intent.hash));
  const sealed = await journey.store.object(effect.digest);
  await requireActivated(context, definition.id, openEffect(sealed));
  return intent;
}

/** Submitted for a human to approve. A delegation that stands for an approval itself must not be used for that. */
async function offered(
  context: AgentContext,
  { step }: Standing,
  { intent_id, hash }: IntentState,
  signer: Signer,
): Promise<void> {
  const delegation = await delegationOf(context, step.simulation_id);
  const held = await context.journey.store.find('delegation', delegation);
  if (held?.approves === false) await submit(context.journey, { intent_id, hash, signer, delegation });
}

/** Under the standing delegation this is the approval. Where it is not, a human has approved. */
async function submitted(
  context: AgentContext,
  { step }: Standing,
  intent: IntentState,
  signer: Signer,
): Promise<void> {
  if (intent.status !== 'proposed') return;
  const delegation = await delegationOf(context, step.simulation_id);
  const { intent_id, hash } = intent;
  await submit(context.journey, { intent_id, hash, signer, delegation });
  const after = await requireIntent(context.journey, intent_id);
  if (after.status !== 'approved') refuse('APPROVAL_MISSING');
}

async function delegationOf({ journey }: AgentContext, simulation_id: string): Promise<string> {
  const known = await journey.store.find('simulation', simulation_id);
  return known?.standing_delegation ?? refuse('SIMULATION_NOT_ACTIVE', 'Nobody delegated this simulation.');
}

interface Running {
  readonly standing: Standing;
  readonly definition: Simulation;
  readonly intent: IntentState;
  readonly signer: Signer;
  readonly begun_ms: number;
}

interface RunEnd {
  /** How long the dispatch took, without the time of the effect itself. */
  readonly dispatch_ms: number | null;
  /** Why it did not end well, where the record of the run does not say. */
  readonly why: MoveReason | undefined;
}

/** A step that takes too long is stopped; what it did until then is in the record of the run. */
async function runOnce(context: AgentContext, running: Running): Promise<RunEnd> {
  const { standing, definition, intent, begun_ms } = running;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), definition.timeout_ms);
  try {
    await granted(context, running);
    const report = await run(context.journey, {
      intent_id: intent.intent_id,
      hash: intent.hash,
      confirm: async () => !late.signal.aborted && (await isConsented(context, standing)),
      abort: late.signal,
    });
    const ran_ms = Date.parse(report.finished_at) - Date.parse(report.started_at);
    const dispatch_ms = Math.max(0, Math.round(performance.now() - begun_ms - ran_ms));
    return { dispatch_ms, why: late.signal.aborted ? 'STEP_TIMED_OUT' : undefined };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'RECORDING_FAILED') throw error;
    return { dispatch_ms: null, why: late.signal.aborted ? 'STEP_TIMED_OUT' : error.code };
  } finally {
    clearTimeout(timer);
  }
}

/** A human who approved may have granted as well. Otherwise the delegation covers the grant. */
async function granted(context: AgentContext, { definition, intent, signer }: Running): Promise<void> {
  const { journey } = context;
  try {
    currentCapability(intent, journey.clock());
    return;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  await grant(journey, {
    intent_id: intent.intent_id,
    hash: intent.hash,
    signer,
    delegation: await delegationOf(context, definition.id),
    action: effectAction(journey, definition),
    ttl_s: Math.min(CAPABILITY_TTL_S, journey.capability_ttl_s),
  });
}

/** The y of a run is the recorded yes of the user, read from the ledger once more. */
async function isConsented({ journey }: AgentContext, { plan, step }: Standing): Promise<boolean> {
  const state = await journey.store.find('agent', plan.correlation_id);
  const plan_now = state?.plans.find(({ plan_id }) => plan_id === plan.plan_id);
  const step_now = plan_now?.steps.find(({ step_id }) => step_id === step.step_id);
  if (step_now?.state !== 'EXECUTING') return false;
  return !step.confirmation_required || step_now.confirmation?.answer === 'YES';
}

interface Ending {
  readonly intent_id: string;
  readonly ended: RunEnd;
}

async function endOnce(
  context: AgentContext,
  order: DispatchEnvelope,
  weighed: Weighed,
  { intent_id, ended }: Ending,
): Promise<Dispatched> {
  const standing = await requireOrder(context, order);
  const intent = await requireIntent(context.journey, intent_id);
  if (intent.status === 'claimed') return inDoubt(intent);
  try {
    const decision = { refs: weighed.refs, hash: weighed.digest };
    return await endStep(context, standing, decision, intent, ended);
  } catch (error) {
    if (isLost(error)) return overtaken(context, order);
    throw error;
  }
}

/** What the one who was faster did is the answer. While they are still at it, this one fails closed. */
async function overtaken(context: AgentContext, order: DispatchEnvelope): Promise<Dispatched> {
  const first = await original(context, await requireOrder(context, order), order);
  return first ?? refuse('AGENT_TRANSITION_ILLEGAL', 'Another process is at this step.');
}

/** What came of the first dispatch under this key. Nothing is done a second time, whoever asks. */
async function original(
  context: AgentContext,
  standing: Standing,
  { idempotency_key, correlation_id }: DispatchEnvelope,
): Promise<Dispatched | null> {
  const { store } = context.journey;
  const first = await store.find('dispatch', idempotency_key);
  if (first === null) return null;
  if (first.correlation_id !== correlation_id) return refuse('IDEMPOTENCY_VIOLATION');
  if (first.plan_id !== standing.plan.plan_id && standing.step_now.state === 'READY')
    await skipDuplicate(context, standing, first);
  if (first.outcome !== null) {
    const outcome = outcomes.open(await store.object(first.outcome));
    return { kind: 'OUTCOME', outcome, outcome_ref: first.outcome, is_duplicate: true };
  }
  return settle(context, correlation_id, first.plan_id, first.step_id);
}

/**
 * A step that was dispatched and whose end nobody recorded: the process died, or is still at it. If the run is over, its
 * record says how. If it is not, this is in doubt, and a human finds out: nothing is guessed and nothing runs again.
 */
export async function settle(
  context: AgentContext,
  correlation_id: string,
  plan_id: string,
  step_id: string,
): Promise<Dispatched> {
  const standing = await requireStep(context, { correlation_id, plan_id, step_id });
  const { intent_id } = standing.step_now;
  const intent = await requireIntent(context.journey, intent_id ?? refuse('AGENT_TRANSITION_ILLEGAL'));
  const is_over = Date.parse(intent.expires_at) <= context.journey.clock().getTime();
  if (intent.runs.length === 0) {
    // Nothing ran, and nothing can any more.
    if (intent.status === 'rejected') return endLater(context, standing, intent, 'INTENT_REJECTED');
    return is_over ? endLater(context, standing, intent, 'INTENT_EXPIRED') : inDoubt(intent);
  }
  return intent.status === 'claimed' ? inDoubt(intent) : endLater(context, standing, intent, undefined);
}

function inDoubt({ intent_id, runs }: IntentState): never {
  const execution_id = runs.at(-1)?.execution_id;
  const named = execution_id === undefined ? `of the intent ${intent_id}` : execution_id;
  return refuse('RUN_IN_DOUBT', `The execution ${named} began, and its end is not recorded.`, {
    intent_id,
    ...(execution_id !== undefined && { execution_id }),
  });
}
