import { canonicalText } from '../canonical/json.ts';
import { type Event, isOneOf, parseEvent } from '../event/event.ts';
import { AGENT_KINDS, correlationOf, nextAgent } from '../gate/agent.ts';
import { isDispatch, isEnd } from '../gate/agent-move.ts';
import type { AgentState } from '../gate/agent-state.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { plans } from './contracts.ts';
import { type DispatchDecision, decide, openVerdict } from './decide.ts';
import { intentIdOf } from './intent.ts';
import { packetRef } from './packet.ts';
import { idempotencyKey, refsOf } from './plan.ts';
import { requireExplained, requireSameOutcome } from './replay-end.ts';
import { differs, type Replaying, requireSameFacts } from './replay-facts.ts';
import { packetIn, requireSamePlan } from './replay-plan.ts';

export interface ReplayedDecision {
  readonly seq: number;
  readonly plan_id: string | null;
  readonly step_id: string | null;
  readonly decision: 'DISPATCH' | 'NO_DISPATCH';
  readonly reason_code: string;
}

export interface AgentReplay {
  readonly correlation_id: string;
  readonly decisions: readonly ReplayedDecision[];
}

/**
 * Makes every decision of a correlation again, from the refs that were stored with it. Whatever is missing, cannot be
 * read, or comes out differently fails the replay with one code.
 */
export async function replayAgent(context: AgentContext, correlation_id: string): Promise<AgentReplay> {
  const entries = await context.journey.store.entriesOf(`agent:${correlation_id}`);
  if (entries.length === 0) refuse('AGENT_TRANSITION_ILLEGAL', 'Nothing was asked under this correlation.');
  const decisions: ReplayedDecision[] = [];
  let state: AgentState | null = null;
  for (const { bytes } of entries) {
    const entry = openEntry(bytes);
    const event = parseEvent(entry);
    if (!isOneOf(AGENT_KINDS, event)) continue;
    const before: AgentState | null = state;
    state = await orDiffers(entry.seq, async () => nextAgent(before, event, entry.at));
    decisions.push(...(await orDiffers(entry.seq, () => replayed(context, event, entry, before))));
  }
  return { correlation_id, decisions };
}

/** An object that was erased or a shape that changed says nothing about the past, so it proves nothing. */
async function orDiffers<T>(seq: number, again: () => Promise<T>): Promise<T> {
  try {
    return await again();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'AGENT_REPLAY_DIFFERS') throw error;
    return differs(seq, `${error.code}: ${error.message}`);
  }
}

async function replayed(
  context: AgentContext,
  event: Event,
  entry: Entry,
  before: AgentState | null,
): Promise<ReplayedDecision[]> {
  if (event.kind === 'agent.received') return replayedTurn(context, event, entry);
  if (before === null) return differs(entry.seq, 'Nothing was asked before.');
  if (event.kind === 'agent.planned') await requireSamePlan(context, event, entry, before);
  return event.kind === 'agent.moved' ? replayedMove(context, event, entry, before) : [];
}

/** Three of the four kinds of packets lead to nothing, always. */
async function replayedTurn(
  context: AgentContext,
  { subject, body }: Event<'agent.received'>,
  { seq }: Entry,
): Promise<ReplayedDecision[]> {
  const packet = await packetIn(context, body.finder_packet);
  const told = [packet.kind, packetRef(packet), packet.correlation_id, packet.turn_id, packet.user_id];
  const snapshots = [packet.catalog_snapshot_ref, packet.policy_snapshot_ref];
  const noted = [body.packet_kind, body.finder_packet, correlationOf(subject), body.turn_id, body.user_id];
  const meant = [...noted, body.catalog_snapshot, body.policy_snapshot];
  if (canonicalText([...told, ...snapshots]) !== canonicalText(meant))
    differs(seq, 'The packet is another one.');
  if (packet.kind === 'SIMULATION_MATCH') return [];
  const { reason_code } = packet;
  return [{ seq, plan_id: null, step_id: null, decision: 'NO_DISPATCH', reason_code }];
}

async function replayedMove(
  context: AgentContext,
  event: Event<'agent.moved'>,
  entry: Entry,
  before: AgentState,
): Promise<ReplayedDecision[]> {
  const { body } = event;
  const { dispatch_decision_hash: hash, outcome } = body;
  if (hash === null && isDispatch(body)) differs(entry.seq, 'The dispatch has no decision.');
  if (hash === null && isFailure(event) && !isEnd(body)) differs(entry.seq, 'The failure has no decision.');
  if (outcome !== null) await requireSameOutcome(context, event, entry, outcome);
  return hash === null ? [] : [await replayedDecision(context, event, entry, before)];
}

function isFailure({ body: { step_id, to } }: Event<'agent.moved'>): boolean {
  return step_id !== null && (to === 'FAILED_TERMINAL' || to === 'FAILED_RETRYABLE');
}

async function replayedDecision(
  context: AgentContext,
  event: Event<'agent.moved'>,
  entry: Entry,
  before: AgentState,
): Promise<ReplayedDecision> {
  const record = openVerdict(await context.journey.store.object(event.body.dispatch_decision_hash!));
  const { decision, reason_code, plan_id, step_id } = record;
  const again = decide(record.facts);
  if (again.decision !== decision || again.reason_code !== reason_code)
    differs(entry.seq, `It was ${decision} (${reason_code}), and is now ${again.decision}.`);
  const replaying = await replayingOf(context, record, entry, before);
  requireItsOwn(event, replaying);
  await requireSameFacts(context, replaying);
  await requireFollows(context, event, replaying);
  return { seq: entry.seq, plan_id, step_id, decision, reason_code };
}

async function replayingOf(
  { journey }: AgentContext,
  record: DispatchDecision,
  entry: Entry,
  state: AgentState,
): Promise<Replaying> {
  const { plan_id, step_id } = record;
  const plan_now =
    state.plans.find((one) => one.plan_id === plan_id) ?? differs(entry.seq, 'There was no such plan.');
  const plan = plans.open(await journey.store.object(plan_now.plan));
  const step = plan.ordered_steps.find((one) => one.step_id === step_id);
  const step_now = plan_now.steps.find((one) => one.step_id === step_id);
  if (!step || !step_now) return differs(entry.seq, 'The plan has no such step.');
  return { record, entry, state, plan, step, step_now };
}

/** The decision is about this very move, and names what the plan names. Only the policies may be newer than the plan. */
function requireItsOwn({ body }: Event<'agent.moved'>, replaying: Replaying): void {
  const { record, entry, state, plan, step } = replaying;
  const { refs } = record;
  const is_about = record.plan_id === body.plan_id && [null, record.step_id].includes(body.step_id);
  if (!is_about || record.correlation_id !== state.correlation_id)
    differs(entry.seq, 'The decision is about another step.');
  const { policy_snapshot_ref, access_decision_ref, confirmation_parse_proof_ref } = refs;
  const newer = { policy_snapshot_ref, access_decision_ref, confirmation_parse_proof_ref };
  const planned = canonicalText({ ...refsOf(plan, step), ...newer });
  if (canonicalText(refs) !== canonicalText(body.refs) || canonicalText(refs) !== planned)
    differs(entry.seq, 'The move rests on other refs than its decision or its plan.');
  if (idempotencyKey(plan.correlation_id, step) !== record.idempotency_key)
    differs(entry.seq, 'The idempotency key is another one.');
  if (body.idempotency_key !== null && body.idempotency_key !== record.idempotency_key)
    differs(entry.seq, 'The key that was spent is another one.');
  if (body.intent_id !== null && body.intent_id !== intentIdOf(record.idempotency_key))
    differs(entry.seq, 'The intent is not the one of this step.');
}

/** What was done follows from what was decided. */
async function requireFollows(
  context: AgentContext,
  event: Event<'agent.moved'>,
  replaying: Replaying,
): Promise<void> {
  const { body } = event;
  const { entry, record } = replaying;
  if (isDispatch(body) && record.decision !== 'DISPATCH')
    differs(entry.seq, 'It was dispatched all the same.');
  if (body.to === 'PAUSED' && record.reason_code !== 'ACCESS_AP_REQUIRED')
    differs(entry.seq, 'It waits for an approver whom nobody needs.');
  if (isFailure(event) && body.reason_code !== record.reason_code)
    await requireExplained(context, event, replaying);
}
