import { randomUUID } from 'node:crypto';
import { parseJson } from '../canonical/json.ts';
import type { Catalog } from '../finder/catalog.ts';
import {
  type ClarifyPacket,
  type FinderPacket,
  type MissingSimulationPacket,
  parsePacket,
} from '../finder/packet.ts';
import type { GoldMapping } from '../finder/request.ts';
import { type AgentState, liveAgentPlan } from '../gate/agent-state.ts';
import { agentLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { advance, answerNow } from './advance.ts';
import { refusedAnswer } from './answer.ts';
import type { AgentAnswer, AgentTurn, Clarify, IntakeAnswer } from './answer-shape.ts';
import { type AgentContext, requireCorrelation, requireUser } from './context.ts';
import { goals } from './contracts.ts';
import { intakeOf, tellNews } from './intake.ts';
import { agentPlanOfMatch } from './match.ts';
import { clarifyOf, foreignAnswer } from './question.ts';
import { type Snapshot, snapshotNow } from './snapshot.ts';
import { languageLeft, sayingsIn } from './spoken.ts';
import { type HeardTurn, hear, type Said, turnKey } from './turn.ts';

export interface AskRequest {
  readonly user_id: string;
  readonly utterance: string;
  /** A new one unless told. Under one correlation the same step with the same values runs once. */
  readonly correlation_id?: string;
  readonly thread_id?: string;
  readonly turn_id?: string;
  readonly language?: string;
  readonly gold?: readonly GoldMapping[];
  /** The packet of another finder. Whatever it says, a match asks for a yes. */
  readonly packet?: unknown;
  /** What a language model of the caller makes of the goal: a simulation, and where its values stand. It is checked, and always asks for a yes. */
  readonly proposal?: unknown;
  /** The model itself. It is asked once, and may answer with null: then the rules find alone. A replay never asks it. */
  readonly model?: ModelFinder;
}

export type ModelFinder = (goal: {
  readonly utterance: string;
  readonly catalog: Catalog;
}) => Promise<unknown>;

async function proposedBy(
  context: AgentContext,
  { model, proposal, utterance }: AskRequest,
): Promise<unknown> {
  if (model === undefined) return proposal;
  const { catalog } = await snapshotNow(context);
  return (await model({ utterance, catalog })) ?? undefined;
}

/** A goal. The finder answers with one packet, and what happens then depends on its kind and on nothing else. */
export async function ask(context: AgentContext, request: AskRequest): Promise<AgentTurn> {
  const { user_id, utterance, correlation_id = randomUUID(), thread_id = correlation_id } = request;
  await requireUser(context, user_id);
  const state = await context.journey.store.find('agent', correlation_id);
  const turn_id = request.turn_id ?? `turn-${(state?.turns ?? 0) + 1}`;
  const { language, gold, packet } = request;
  const proposal = await proposedBy(context, request);
  const said = { correlation_id, thread_id, turn_id, user_id, utterance, language, gold, packet, proposal };
  const language_before = state === null ? undefined : await languageLeft(context, state);
  return take(context, state, { clarify: undefined, answers: undefined, ...said, language_before });
}

export interface AnswerRequest {
  readonly correlation_id: string;
  readonly user_id: string;
  readonly text: string;
  readonly turn_id?: string;
  /** The turn that asked the question. An answer that comes twice must not fill in the field of the next question. */
  readonly question_turn_id?: string;
  readonly packet?: unknown;
}

/** The answer to the one question that was asked. The goal stays what it was. */
export async function answer(context: AgentContext, request: AnswerRequest): Promise<AgentTurn> {
  const { correlation_id, user_id, text } = request;
  const state = await requireCorrelation(context, correlation_id, user_id);
  const turn_id = request.turn_id ?? `turn-${state.turns + 1}`;
  const goal = goals.open(await context.journey.store.object(state.turn.goal));
  // The same answer, sent again after it was taken.
  const same = goal.normalized_intent.answer?.text === text;
  if (same && (state.turn.turn_id === turn_id || (await isAnswered(context, state, request))))
    return answeredBefore(context, state);
  requireQuestion(state, request);
  const question = (await packetOf(context, state)) as ClarifyPacket;
  const clarify =
    request.packet === undefined ? await clarifyOf(context, question, text) : foreignAnswer(question, text);
  const { thread_id, raw_user_utterance: utterance, normalized_intent, confirm_state } = goal;
  const said = { correlation_id, thread_id, turn_id, user_id, utterance, packet: request.packet };
  const { language } = normalized_intent;
  const answers = state.turn.turn_id;
  const is_foreign_question = confirm_state === 'REQUIRED';
  return take(context, state, { ...said, language, gold: undefined, clarify, answers, is_foreign_question });
}

/** The question that this answer names is the one before the newest turn. */
async function isAnswered(
  { journey }: AgentContext,
  { correlation_id }: AgentState,
  { question_turn_id }: AnswerRequest,
): Promise<boolean> {
  if (question_turn_id === undefined) return false;
  const turns = (await journey.store.entriesOf(`agent:${correlation_id}`))
    .map(({ bytes }) => journey.read_entry(bytes).event)
    .filter((event) => event.kind === 'agent.received');
  return turns.at(-2)?.body.turn_id === question_turn_id;
}

function requireQuestion(state: AgentState, { question_turn_id }: AnswerRequest): void {
  const { packet_kind, turn_id } = state.turn;
  if (packet_kind !== 'CLARIFY' && liveAgentPlan(state)?.state === 'WAITING_CONFIRM')
    refuse('CONFIRMATION_MISSING', 'No question is open. The prompt waits for a yes or a no.');
  if (packet_kind !== 'CLARIFY')
    refuse('AGENT_TRANSITION_ILLEGAL', 'No question is open in this conversation.');
  if (question_turn_id !== undefined && question_turn_id !== turn_id)
    refuse('AGENT_TRANSITION_ILLEGAL', 'Another question is open than the one that this answers.');
}

/** One cycle: one packet, recorded, and the behaviour of 003 section 2.2 for its kind. */
async function take(context: AgentContext, state: AgentState | null, said: Said): Promise<AgentTurn> {
  if (state?.turn.turn_id === said.turn_id) return sameTurn(context, state, said);
  const snapshot = await snapshotNow(context);
  const heard = hear(context, said, snapshot);
  const answered = await behave(context, heard, snapshot);
  context.memory.stored.add(snapshot.catalog.digest).add(snapshot.bundle);
  const news = await tellNews(context, said.user_id, snapshot);
  return { ...answered, turn_id: said.turn_id, packet: heard.packet, news };
}

function behave(context: AgentContext, heard: HeardTurn, snapshot: Snapshot): Promise<AgentAnswer> {
  const { packet } = heard;
  switch (packet.kind) {
    case 'SIMULATION_MATCH':
      return match(context, heard, snapshot);
    case 'CLARIFY':
      return relay(context, heard, packet);
    case 'REFUSE':
      return refusal(context, heard, packet.reason_code, packet.message);
    case 'MISSING_SIMULATION':
      return missing(context, heard, packet, snapshot);
  }
}

/** A plan, the precheck, and then: wait for a yes, go on, or stop. */
async function match(context: AgentContext, heard: HeardTurn, snapshot: Snapshot): Promise<AgentAnswer> {
  const planned = await agentPlanOfMatch(context, heard, snapshot);
  if ('refused' in planned)
    return refusal(context, heard, planned.refused, 'The finder named a simulation that is not registered.');
  await record(context, heard, planned.events, planned.objects);
  return advance(context, heard.said.correlation_id, heard.said.user_id);
}

async function relay(context: AgentContext, heard: HeardTurn, packet: ClarifyPacket): Promise<Clarify> {
  await record(context, heard);
  return clarifyAnswer(packet);
}

async function refusal(
  context: AgentContext,
  heard: HeardTurn,
  reason_code: string,
  user_visible_text: string,
): Promise<AgentAnswer> {
  await record(context, heard);
  return { kind: 'REFUSED', correlation_id: heard.said.correlation_id, reason_code, user_visible_text };
}

/** Nothing is dispatched, and the executor is not called: the wish is noted, and that is all. */
async function missing(
  context: AgentContext,
  heard: HeardTurn,
  packet: MissingSimulationPacket,
  { now }: Snapshot,
): Promise<AgentAnswer> {
  for (let attempt = 0; attempt < agentLimits.intake_tries; attempt += 1) {
    const {
      answer: intake,
      events,
      claims,
    } = intakeOf(packet, await context.journey.store.all('intake'), now);
    try {
      await record(context, heard, events, [], claims);
      return missingAnswer(packet, intake, heard.goal.value.normalized_intent.language);
    } catch (error) {
      // Another wish was recorded a moment ago: count again.
      const raced = error instanceof Refusal && String(error.facts.claim ?? '').startsWith('intake:');
      if (!raced) throw error;
    }
  }
  return refuse('STORE_BUSY', 'Too many requests are being noted at once. Ask again.');
}

function missingAnswer(
  { correlation_id, reason_code }: MissingSimulationPacket,
  intake: IntakeAnswer,
  language: string | undefined,
): AgentAnswer {
  const is_limited = intake === 'LIMITED';
  const { missing, limited } = sayingsIn(language);
  return {
    kind: 'MISSING_SIMULATION',
    correlation_id,
    reason_code: is_limited ? 'INTAKE_LIMITED' : reason_code,
    user_visible_text: is_limited ? limited : missing,
    intake,
  };
}

async function record(
  { journey }: AgentContext,
  { said, received, objects }: HeardTurn,
  events: Parameters<AgentContext['journey']['store']['commit']>[0]['events'] = [],
  more: readonly Uint8Array[] = [],
  claims: readonly string[] = [],
): Promise<void> {
  const { correlation_id, turn_id, answers } = said;
  // Of two answers to one question the first counts.
  const answered = answers === undefined ? [] : [`answer:${correlation_id}:${answers}`];
  await journey.store.commit({
    claims: [`turn:${correlation_id}:${turn_id}`, ...answered, ...claims],
    events: [received, ...events],
    objects: [...objects, ...more],
  });
}

/** The same turn, sent again, is answered from the ledger. Other words under its name are refused. */
async function sameTurn(context: AgentContext, state: AgentState, said: Said): Promise<AgentTurn> {
  const goal = goals.open(await context.journey.store.object(state.turn.goal));
  if (goal.idempotency_key !== turnKey(said))
    refuse('IDEMPOTENCY_VIOLATION', 'This turn was received before, with other words.');
  return answeredBefore(context, state);
}

async function answeredBefore(context: AgentContext, state: AgentState): Promise<AgentTurn> {
  const packet = await packetOf(context, state);
  const { turn_id } = state.turn;
  return { ...(await answerOf(context, state, packet)), turn_id, packet, news: [] };
}

async function answerOf(
  context: AgentContext,
  state: AgentState,
  packet: FinderPacket,
): Promise<AgentAnswer> {
  const { correlation_id } = state;
  const { reason_code } = packet;
  if (packet.kind === 'CLARIFY') return clarifyAnswer(packet);
  const language = await languageLeft(context, state);
  if (packet.kind === 'MISSING_SIMULATION') {
    const { dedupe_fingerprint, user_id } = packet;
    const known = (await context.journey.store.all('intake')).find(
      ({ fingerprint }) => fingerprint === dedupe_fingerprint,
    );
    const taken = known?.users.some((one) => one.user_id === user_id);
    return missingAnswer(packet, taken ? 'RECORDED_BEFORE' : 'LIMITED', language);
  }
  if (packet.kind === 'REFUSE')
    return { kind: 'REFUSED', correlation_id, reason_code, user_visible_text: packet.message };
  // A plan of an earlier turn is no answer to this one.
  const is_planned = state.plans.some(({ finder_packet }) => finder_packet === state.turn.finder_packet);
  return is_planned
    ? answerNow(context, state)
    : refusedAnswer(correlation_id, 'SIMULATION_NOT_REGISTERED', language);
}

function clarifyAnswer(packet: ClarifyPacket): Clarify {
  const { correlation_id, reason_code, question, allowed_answer_formats, attempt_index, max_attempts } =
    packet;
  return {
    kind: 'CLARIFY',
    correlation_id,
    reason_code,
    user_visible_text: question,
    question,
    allowed_answer_formats,
    attempt_index,
    max_attempts,
  };
}

async function packetOf({ journey }: AgentContext, { turn }: AgentState): Promise<FinderPacket> {
  const bytes = await journey.store.object(turn.finder_packet);
  return parsePacket(parseJson(bytes, bytes.length));
}
