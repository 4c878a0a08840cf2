import { isDeepStrictEqual } from 'node:util';
import type { Digest } from '../canonical/digest.ts';
import { canonicalText } from '../canonical/json.ts';
import type { Body, Event } from '../event/event.ts';
import { packetRef } from '../finder/packet.ts';
import { MODEL_PROPOSED } from '../finder/proposal.ts';
import type { ReadEntry } from '../fold/ledger.ts';
import { correlationOf } from '../gate/agent.ts';
import { dispatchOf, isDispatch, isEnd } from '../gate/agent-move.ts';
import type { AgentState } from '../gate/agent-state.ts';
import type { Entry } from '../ledger/entry.ts';
import { Refusal, refuse } from '../refusal.ts';
import { AGENT_CORE, type AgentContext } from './context.ts';
import { outcomes } from './contracts.ts';
import { type DispatchDecision, openDispatchDecision } from './decide.ts';
import { intentIdOf } from './intent.ts';
import { accessOf, judgedThen, madeAt, type Replaying, requireSameConfirmation } from './replay-facts.ts';
import { differs, foldedFrom, momentsOf, type Past, pastEntries } from './replay-past.ts';
import { packetIn, requireSameAgentPlan, requireSameProposal } from './replay-plan.ts';
import { stepInAgentPlan } from './step-in-plan.ts';

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
 * Makes every decision of a correlation again, from the ledger as it was and the refs that were stored with it. Whatever is
 * missing, cannot be read, or comes out differently fails the replay with one code.
 */
export async function replayAgent(context: AgentContext, correlation_id: string): Promise<AgentReplay> {
  const { journey } = context;
  const subject = `agent:${correlation_id}`;
  const [first] = await journey.store.entriesOf(subject);
  if (!first) return refuse('AGENT_TRANSITION_ILLEGAL', 'Nothing was asked under this correlation.');
  const entries = await orDiffers(first.seq, () => pastEntries(journey, subject));
  const past = { entries, folded: foldedFrom(journey, []) };
  const decisions: ReplayedDecision[] = [];
  for (const read of entries)
    await orDiffers(read.entry.seq, async () => {
      if (read.entry.subject === subject) decisions.push(...(await replayed({ context, past, ...read })));
      past.folded.takeRead(read);
    });
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

interface Replayable extends ReadEntry {
  readonly context: AgentContext;
  readonly past: Past;
}

async function replayed(about: Replayable): Promise<ReplayedDecision[]> {
  const { context, event, entry, past } = about;
  if (event.kind === 'agent.received') return replayedTurn(context, event, entry);
  const before = past.folded.state('agent', correlationOf(entry.subject));
  if (before === null) return differs(entry.seq, 'Nothing was asked before.');
  if (event.kind === 'agent.planned') await requireSameAgentPlan(context, event, entry, past);
  return event.kind === 'agent.moved' ? replayedMove(about, event.body, before) : [];
}

/** Three of the four kinds of packets lead to nothing, always. */
async function replayedTurn(
  context: AgentContext,
  event: Event<'agent.received'>,
  { seq }: Entry,
): Promise<ReplayedDecision[]> {
  const { subject, body } = event;
  const packet = await packetIn(context, body.finder_packet);
  const told = [packet.kind, packetRef(packet), packet.correlation_id, packet.turn_id, packet.user_id];
  const snapshots = [packet.catalog_snapshot_ref, packet.policy_snapshot_ref];
  const noted = [body.packet_kind, body.finder_packet, correlationOf(subject), body.turn_id, body.user_id];
  const meant = [...noted, body.catalog_snapshot, body.policy_snapshot];
  if (canonicalText([...told, ...snapshots]) !== canonicalText(meant))
    differs(seq, 'The packet is another one.');
  if (packet.kind === 'SIMULATION_MATCH') {
    if (packet.reason_code === MODEL_PROPOSED) await requireSameProposal(context, event, packet);
    return [];
  }
  const { reason_code } = packet;
  return [{ seq, plan_id: null, step_id: null, decision: 'NO_DISPATCH', reason_code }];
}

type Move = Body<'agent.moved'>;

async function replayedMove(about: Replayable, body: Move, before: AgentState): Promise<ReplayedDecision[]> {
  const { dispatch_decision_hash: hash, outcome } = body;
  if (outcome !== null) await requireSameOutcome(about, body, outcome);
  if (hash !== null) return [await replayedDecision(about, body, before, hash)];
  if (isDispatch(body) || (isFailure(body) && !isEnd(body)))
    differs(about.entry.seq, 'Nothing was decided about it.');
  return [];
}

function isFailure({ step_id, to }: Move): boolean {
  return step_id !== null && (to === 'FAILED_TERMINAL' || to === 'FAILED_RETRYABLE');
}

/** The outcome that a move names is about this step, its decision and its run, and gives the same reason. */
async function requireSameOutcome(
  { context, past, entry }: Replayable,
  body: Move,
  digest: Digest,
): Promise<void> {
  const outcome = outcomes.open(await context.journey.store.object(digest));
  const events = past.entries.map(({ event }) => event);
  const dispatch = isEnd(body) ? dispatchOf(events, body) : body;
  const ran = outcome.simulation_outcome?.execution_id ?? null;
  const told = [outcome.step_id, outcome.reason_code, outcome.dispatch_decision_hash, ran];
  const decided = dispatch?.dispatch_decision_hash ?? null;
  const meant = [body.step_id, body.reason_code, decided, body.execution_id];
  if (canonicalText(told) !== canonicalText(meant))
    differs(entry.seq, 'The outcome is about something else.');
}

async function replayedDecision(
  { context, past, entry }: Replayable,
  body: Move,
  state: AgentState,
  hash: Digest,
): Promise<ReplayedDecision> {
  const { seq } = entry;
  const record = openDispatchDecision(await context.journey.store.object(hash));
  const { plan_id, step_id, decision, reason_code } = record;
  const plan_now = state.plans.find((one) => one.plan_id === body.plan_id);
  if (!plan_now) return differs(seq, 'There was no such plan.');
  const current = await stepInAgentPlan(context, state, plan_now, body.step_id ?? step_id);
  await requireSameConfirmation(context, current, entry);
  const access = await accessOf(context, record, entry);
  const refusals = refusalsOf(past, intentIdOf(record.idempotency_key), seq);
  await requireSameDecision(context, past, { ...current, record, entry, access, refusals });
  requireFollows(body, record, entry);
  return { seq, plan_id, step_id, decision, reason_code };
}

function refusalsOf({ entries }: Past, intent_id: string, seq: number): string[] {
  return entries.flatMap(({ entry, event }) => {
    if (entry.seq >= seq || entry.subject !== intent_id) return [];
    if (event.kind === 'intent.refused') return [event.body.reason_code];
    // No order while approvals are missing.
    return event.kind === 'capability.denied' && event.body.by === AGENT_CORE ? ['ACCESS_AP_REQUIRED'] : [];
  });
}

async function requireSameDecision(context: AgentContext, past: Past, replaying: Replaying): Promise<void> {
  const { record, entry, access } = replaying;
  const told = canonicalText(record);
  let again = record;
  for (const then of momentsOf(context.journey, past, entry, madeAt(access))) {
    again = (await judgedThen(context, replaying, then)).record;
    if (canonicalText(again) === told) return;
  }
  const parts = Object.entries({ ...record, ...record.refs, ...record.facts });
  const found: Record<string, unknown> = { ...again, ...again.refs, ...again.facts };
  const other = parts.filter(([name, value]) => !isDeepStrictEqual(found[name], value));
  differs(entry.seq, `It says something else than the ledger: ${other.map(([name]) => name).join(', ')}.`);
}

/** What was done follows from what was decided, and is about the intent of this step. */
function requireFollows(body: Move, record: DispatchDecision, { seq }: Entry): void {
  const { idempotency_key, reason_code } = record;
  const is_own =
    [null, idempotency_key].includes(body.idempotency_key) &&
    [null, intentIdOf(idempotency_key)].includes(body.intent_id) &&
    canonicalText(body.refs) === canonicalText(record.refs);
  if (!is_own) differs(seq, 'The move is about something else than its decision.');
  if (isDispatch(body) && record.decision !== 'DISPATCH') differs(seq, 'It was dispatched all the same.');
  if (body.to === 'PAUSED' && reason_code !== 'ACCESS_AP_REQUIRED')
    differs(seq, 'It waits for an approver although no rule asks for one.');
  if (isFailure(body) && body.reason_code !== reason_code)
    differs(seq, 'It failed for another reason than the decision gives.');
}
