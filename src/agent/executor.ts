import type { Simulation } from '../finder/simulation.ts';
import { BLOCKS } from '../gate/next.ts';
import type { IntentState } from '../gate/state.ts';
import { hasExpired, isDue } from '../gate/status-word.ts';
import { isDecision, requireIntent } from '../journey/context.ts';
import { type DraftedTurn, draftTurn } from '../journey/delegate-turn.ts';
import { look, run } from '../journey/run.ts';
import { coreLife } from '../journey/terms.ts';
import { agentLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Dispatched } from './answer-shape.ts';
import { requireActivated } from './bound.ts';
import { type AgentContext, requireCoreKey } from './context.ts';
import { type DispatchEnvelope, envelopes, outcomes } from './contracts.ts';
import { draftOf, effectAction, intentIdOf, requireSameIntent } from './intent.ts';
import type { MoveReason } from './moves.ts';
import { requireProvenOrder } from './proven.ts';
import { awaitApprover, endLater, endStep, skipDuplicate, startStep, stepRefused } from './record.ts';
import { definitionOf } from './snapshot.ts';
import { requireOrder, requireStep, type StepInAgentPlan } from './step-in-plan.ts';
import { obstructed, type Weighed, weigh } from './weigh.ts';

/**
 * SimulationExecutor: the only way from the agent core to an effect. It believes nothing that the core checked: the simulation, the
 * access, the confirmation and the key are looked at again here.
 */
export async function dispatch(context: AgentContext, given: unknown): Promise<Dispatched> {
  const begun_ms = performance.now();
  const order = envelopes.check(given);
  const started = await startOnce(context, order, agentLimits.start_tries);
  if ('kind' in started) return started;
  const ended = await runOnce(context, started, begun_ms);
  return endOnce(context, order, started, ended);
}

interface Started {
  readonly current: StepInAgentPlan;
  readonly definition: Simulation;
  readonly weighed: Weighed;
  readonly intent_id: string;
  /** What the agent core ordered; null where a human had. */
  readonly ordered: DraftedTurn['seen'];
}

/** Up to the dispatch, which is durable, its key spent, before anything can run; or to the answer where nothing is to run. */
async function startOnce(
  context: AgentContext,
  order: DispatchEnvelope,
  looks: number,
): Promise<Dispatched | Started> {
  // 1. What the ledger says about the envelope and its key.
  const current = await requireProvenOrder(context, order);
  const before = await original(context, current, order);
  if (before) return before;
  const { step, step_now } = current;
  if (step_now.state !== 'READY')
    refuse('AGENT_TRANSITION_ILLEGAL', 'The step is not ready.', { state: step_now.state });

  // 2. Registered, active, access, confirmation, approver: all of it again. Then the intent, where it may come to that.
  const definition = await definitionOf(context, step.definition);
  const seen = await weigh(context, {
    ...current,
    user_id: order.user_id,
    confirmation: step_now.confirmation,
    now: context.journey.clock(),
  });
  try {
    const turned = await turnOf(context, current, definition, seen);
    const obstacle = turned?.awaits ? 'ACCESS_AP_REQUIRED' : turned?.refusal?.code;
    const weighed = obstacle ? obstructed(seen, obstacle) : seen;
    // 3. One commit, whatever was decided.
    if (turned === null || turned.refusal) return await stepRefused(context, current, weighed, turned);
    if (!isDispatched(weighed)) return await awaitApprover(context, current, weighed, turned);
    await startStep(context, current, weighed, turned);
    return { current, definition, weighed, intent_id: turned.intent_id, ordered: turned.seen };
  } catch (error) {
    // What it was decided from is not so any more.
    if (isDecision(error) && looks > 1) return startOnce(context, order, looks - 1);
    throw error;
  }
}

function isDispatched({ decided }: Weighed): boolean {
  return decided.reason_code === 'STEP_DISPATCHED';
}

/**
 * The intent of the step, proposed by the agent core, submitted under what a human delegated, and its run ordered; or submitted
 * for an approver. Null where something else stands in the way.
 */
async function turnOf(
  context: AgentContext,
  current: StepInAgentPlan,
  definition: Simulation,
  weighed: Weighed,
): Promise<DraftedTurn | null> {
  const is_ordered = isDispatched(weighed);
  if (!is_ordered && weighed.decided.reason_code !== 'ACCESS_AP_REQUIRED') return null;
  const { journey } = context;
  const { user_id } = current.state;
  const known = await journey.store.find('simulation', definition.id);
  const draft = draftOf(journey, current, definition, intentIdOf(weighed.record.idempotency_key));
  return draftTurn(journey, draft, {
    signer: requireCoreKey(context),
    delegation: known?.own_delegation ?? refuse('SIMULATION_NOT_ACTIVE'),
    on_behalf_of: user_id,
    is_ordered,
    requireMeant: async (intent, { envelope, effect }) => {
      requireSameIntent(intent, envelope, draft, user_id);
      await requireActivated(context, definition.id, effect);
    },
    action: effectAction(journey, definition),
    ttl_s: coreLife(journey),
  });
}

interface RunEnd {
  /** How long the dispatch took, without the time of the effect itself. */
  readonly dispatch_ms: number | null;
  /** Why it did not end well, where the record of the run does not say. */
  readonly why: MoveReason | undefined;
}

/** A step that takes too long is stopped; what it did until then is in the record of the run. */
async function runOnce(
  context: AgentContext,
  { definition, intent_id, ordered }: Started,
  begun_ms: number,
): Promise<RunEnd> {
  const { hash } = await requireIntent(context.journey, intent_id);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), definition.timeout_ms);
  const since_ms = performance.now();
  // A timer waits until the process has nothing else to do.
  const isInTime = () => !late.signal.aborted && performance.now() - since_ms < definition.timeout_ms;
  try {
    const seen = ordered ?? (await look(context.journey, { intent_id, hash })).seen;
    // The yes of the user is proven once more there: no step is EXECUTING without it (`prove-agent.ts`).
    const asked = { intent_id, hash, seen, abort: late.signal, isWanted: isInTime };
    const report = await run(context.journey, asked);
    const ran_ms = Date.parse(report.finished_at) - Date.parse(report.started_at);
    const dispatch_ms = Math.max(0, Math.round(performance.now() - begun_ms - ran_ms));
    return { dispatch_ms, why: late.signal.aborted ? 'STEP_TIMED_OUT' : undefined };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'RECORDING_FAILED') throw error;
    return { dispatch_ms: null, why: isInTime() ? error.code : 'STEP_TIMED_OUT' };
  } finally {
    clearTimeout(timer);
  }
}

async function endOnce(
  context: AgentContext,
  order: DispatchEnvelope,
  { weighed, intent_id }: Started,
  ended: RunEnd,
): Promise<Dispatched> {
  const current = await requireOrder(context, order);
  const intent = await requireIntent(context.journey, intent_id);
  if (intent.status === 'claimed') return inDoubt(intent);
  try {
    return await endStep(context, current, { refs: weighed.refs, hash: weighed.digest }, intent, ended);
  } catch (error) {
    // Another process may have recorded the end: then that is the answer.
    const first = isDecision(error)
      ? await original(context, await requireOrder(context, order), order)
      : null;
    if (first) return first;
    throw error;
  }
}

/** What came of the first dispatch under this key. Nothing is done a second time, for any caller. */
async function original(
  context: AgentContext,
  current: StepInAgentPlan,
  { idempotency_key, correlation_id }: DispatchEnvelope,
): Promise<Dispatched | null> {
  const { store } = context.journey;
  const first = await store.find('dispatch', idempotency_key);
  if (first === null) return null;
  if (first.correlation_id !== correlation_id) return refuse('IDEMPOTENCY_VIOLATION');
  if (first.plan_id !== current.plan.plan_id && current.step_now.state === 'READY')
    await skipDuplicate(context, current, first);
  if (first.outcome !== null) {
    const outcome = outcomes.open(await store.object(first.outcome));
    return { kind: 'OUTCOME', outcome, outcome_ref: first.outcome, is_duplicate: true };
  }
  return settle(context, correlation_id, first.plan_id, first.step_id);
}

/**
 * A step that was dispatched and whose end is not recorded: the process died, or is still at it. If the run is over, its
 * record says how. If it is not, this is in doubt, and a human finds out: nothing is guessed and nothing runs again.
 */
export async function settle(
  context: AgentContext,
  correlation_id: string,
  plan_id: string,
  step_id: string,
): Promise<Dispatched> {
  const current = await requireStep(context, { correlation_id, plan_id, step_id });
  const { intent_id } = current.step_now;
  const intent = await requireIntent(context.journey, intent_id ?? refuse('AGENT_TRANSITION_ILLEGAL'));
  if (intent.runs.length === 0) {
    // Nothing ran, and nothing can any more.
    if (!isDue(intent)) return endLater(context, current, intent, BLOCKS[intent.status]!);
    return hasExpired(intent, context.journey.clock())
      ? endLater(context, current, intent, 'INTENT_EXPIRED')
      : inDoubt(intent);
  }
  return intent.status === 'claimed' ? inDoubt(intent) : endLater(context, current, intent, undefined);
}

function inDoubt({ intent_id, runs }: IntentState): never {
  const execution_id = runs.at(-1)?.execution_id;
  const named = execution_id === undefined ? `of the intent ${intent_id}` : execution_id;
  return refuse('RUN_IN_DOUBT', `The execution ${named} began, and its end is not recorded.`, {
    intent_id,
    ...(execution_id !== undefined && { execution_id }),
  });
}
