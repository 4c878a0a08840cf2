import { canonicalText, parseJson } from '../canonical/json.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { correlationOf, movesAgent, nextAgent } from '../gate/agent.ts';
import type { AgentState } from '../gate/agent-state.ts';
import { movesSimulation, nextSimulation, type Simulation as Registered } from '../gate/simulation.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import { openDecision, redecide, sameDecision } from '../policy/replay.ts';
import { Refusal, refuse } from '../refusal.ts';
import { outcomeOf } from './access.ts';
import type { AgentContext } from './context.ts';
import { type AgentExecutionPlan, confirmations, plans } from './contracts.ts';
import { type DispatchDecision, decide, openVerdict } from './decide.ts';
import { readConfirmation } from './lexicon/confirmation.ts';
import { type FinderPacket, packetRef, parsePacket } from './packet.ts';
import { digestOf, idempotencyKey } from './plan.ts';
import { asked, standingOf } from './weigh.ts';

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
    if (!movesAgent(event)) continue;
    const before: AgentState | null = state;
    state = await orDiffers(entry.seq, async () => nextAgent(before, event, entry.at));
    decisions.push(...(await orDiffers(entry.seq, () => replayed(context, event, entry))));
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

async function replayed(context: AgentContext, event: Event, entry: Entry): Promise<ReplayedDecision[]> {
  if (event.kind === 'agent.received') return replayedTurn(context, event, entry);
  if (event.kind === 'agent.planned') await requireSamePlan(context, event, entry);
  if (event.kind !== 'agent.moved') return [];
  const { step_id, to, dispatch_decision_hash } = event.body;
  if (dispatch_decision_hash === null)
    return step_id !== null && to === 'EXECUTING' ? differs(entry.seq, 'The dispatch has no decision.') : [];
  return [await replayedDecision(context, event, entry)];
}

/** Three of the four kinds of packets lead to nothing, always. */
async function replayedTurn(
  context: AgentContext,
  { body }: Event<'agent.received'>,
  { seq }: Entry,
): Promise<ReplayedDecision[]> {
  const packet = await packetOf(context, body.finder_packet);
  if (packet.kind !== body.packet_kind || packetRef(packet) !== body.finder_packet)
    differs(seq, 'The packet is another one.');
  if (packet.kind === 'SIMULATION_MATCH') return [];
  const { reason_code } = packet;
  return [{ seq, plan_id: null, step_id: null, decision: 'NO_DISPATCH', reason_code }];
}

async function packetOf({ journey }: AgentContext, digest: string): Promise<FinderPacket> {
  const bytes = await journey.store.object(digest);
  return parsePacket(parseJson(bytes, bytes.length));
}

/** The plan is what its inputs make of it: its name is the hash of everything in it but the time. */
async function requireSamePlan(
  context: AgentContext,
  { subject, body }: Event<'agent.planned'>,
  { seq }: Entry,
): Promise<void> {
  const plan = await planIn(context, body.plan);
  const { plan_id, created_at: _, ...rest } = plan;
  if (digestOf(rest) !== plan_id || plan_id !== body.plan_id) differs(seq, 'The plan hash is another one.');
  if (plan.correlation_id !== correlationOf(subject)) differs(seq, 'The plan is of another correlation.');
  const packet = await packetOf(context, plan.finder_packet_ref);
  if (packet.kind !== 'SIMULATION_MATCH' || packet.simulation_id !== plan.simulation_id)
    differs(seq, 'The plan is not made from what the finder named.');
}

async function planIn({ journey }: AgentContext, digest: string): Promise<AgentExecutionPlan> {
  return plans.open(await journey.store.object(digest));
}

async function replayedDecision(
  context: AgentContext,
  event: Event<'agent.moved'>,
  entry: Entry,
): Promise<ReplayedDecision> {
  const { body } = event;
  const { store } = context.journey;
  const record = openVerdict(await store.object(body.dispatch_decision_hash!));
  const { decision, reason_code, plan_id, step_id } = record;
  const again = decide(record.facts);
  if (again.decision !== decision || again.reason_code !== reason_code)
    differs(entry.seq, `It was ${decision} (${reason_code}), and is now ${again.decision}.`);
  if (body.to === 'EXECUTING' && decision !== 'DISPATCH')
    differs(entry.seq, 'It was dispatched all the same.');
  if (plan_id !== body.plan_id || canonicalText(record.refs) !== canonicalText(body.refs))
    differs(entry.seq, 'The move rests on other refs than its decision.');
  await requireSameFacts(context, record, event, entry);
  return { seq: entry.seq, plan_id, step_id, decision, reason_code };
}

/** Each fact again, from what it was read from. */
async function requireSameFacts(
  context: AgentContext,
  record: DispatchDecision,
  { subject }: Event<'agent.moved'>,
  entry: Entry,
): Promise<void> {
  const state = await stateBefore(context, subject, entry.seq);
  const planned = state?.plans.find((one) => one.plan_id === record.plan_id);
  const plan = await planIn(context, planned?.plan ?? differs(entry.seq, 'There was no such plan.'));
  const step = plan.ordered_steps.find((one) => one.step_id === record.step_id);
  if (!step) return differs(entry.seq, 'The plan has no such step.');
  if (idempotencyKey(plan.correlation_id, step) !== record.idempotency_key)
    differs(entry.seq, 'The idempotency key is another one.');
  const simulations = [];
  for (const one of asked(plan, step))
    simulations.push({
      ...one,
      standing: standingOf(await knownThen(context, one.simulation_id, entry), one, entry.at),
    });
  if (canonicalText(simulations) !== canonicalText(record.facts.simulations))
    differs(entry.seq, 'The simulations stood differently.');
  await requireSameAccess(context, record, entry);
  await requireSameConfirmation(context, record, entry);
}

async function stateBefore(
  { journey }: AgentContext,
  subject: string,
  seq: number,
): Promise<AgentState | null> {
  let state: AgentState | null = null;
  for (const sealed of await journey.store.entriesOf(subject)) {
    const entry = openEntry(sealed.bytes);
    const event = parseEvent(entry);
    if (entry.seq < seq && movesAgent(event)) state = nextAgent(state, event, entry.at);
  }
  return state;
}

/** A simulation as the ledger knew it just before this entry. */
async function knownThen({ journey }: AgentContext, id: string, { seq }: Entry): Promise<Registered | null> {
  let known: Registered | null = null;
  for (const sealed of await journey.store.entriesOf(`simulation:${id}`)) {
    const entry = openEntry(sealed.bytes);
    const event = parseEvent(entry);
    if (entry.seq < seq && movesSimulation(event)) known = nextSimulation(known, event, entry.at);
  }
  return known;
}

async function requireSameAccess(
  { journey }: AgentContext,
  { refs, facts }: DispatchDecision,
  { seq }: Entry,
): Promise<void> {
  const ref = refs.access_decision_ref ?? differs(seq, 'It names no decision about access.');
  const record = openDecision(await journey.store.object(ref));
  const engine = await journey.rules(record.snapshot);
  const again = redecide(record, engine);
  if (record.snapshot !== refs.policy_snapshot_ref || !sameDecision(record.decision, again))
    differs(seq, 'The policies say something else about access.');
  if (outcomeOf(engine, record.request, again) !== facts.access)
    differs(seq, 'Access comes out differently.');
}

/** The words themselves may have been erased; the token was a whole answer, so it is read in their place. */
async function requireSameConfirmation(
  { journey }: AgentContext,
  { refs, facts, plan_id, step_id }: DispatchDecision,
  { seq }: Entry,
): Promise<void> {
  const ref = refs.confirmation_parse_proof_ref;
  if (ref === null) {
    if (facts.confirmation !== null) differs(seq, 'It names no confirmation.');
    return;
  }
  const proof = confirmations.open(await journey.store.object(ref));
  const same = proof.plan_id === plan_id && proof.step_id === step_id && proof.answer === facts.confirmation;
  const again = readConfirmation(proof.token ?? '', proof.language);
  if (!same || again.lexicon_version_ref !== proof.lexicon_version_ref || again.answer !== proof.answer)
    differs(seq, 'The confirmation is read differently.');
}

function differs(seq: number, message: string): never {
  return refuse('AGENT_REPLAY_DIFFERS', `Entry ${seq}: ${message}`, { seq });
}
