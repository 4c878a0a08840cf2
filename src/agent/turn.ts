import { randomBytes } from 'node:crypto';
import { canonicalBytesOfParsed } from '../canonical/json.ts';
import { type SealedBytes, sealBytes } from '../canonical/sealed.ts';
import type { Event } from '../event/event.ts';
import { type Catalog, entryOf } from '../finder/catalog.ts';
import { languageOf } from '../finder/language.ts';
import {
  type EvidenceSpan,
  type FinderPacket,
  IDEMPOTENCY_RECIPE_REF,
  PACKET_SCHEMA_VERSION,
  packetRef,
  parsePacket,
  type SimulationMatchPacket,
} from '../finder/packet.ts';
import { heldProposal } from '../finder/proposal.ts';
import { thresholds } from '../finder/rank.ts';
import {
  type CandidateContext,
  type ClarifyAnswer,
  type FinderRequest,
  type GoldMapping,
  utteranceFingerprint,
} from '../finder/request.ts';
import { needsConfirmation } from '../finder/simulation.ts';
import { refuse } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { type AgentGoalRequest, goals, type Sealed } from './contracts.ts';
import { digestOf } from './plan.ts';
import type { Snapshot } from './snapshot.ts';

/** One turn of a user: what was said, in which conversation. */
export interface Said {
  readonly correlation_id: string;
  readonly thread_id: string;
  readonly turn_id: string;
  readonly user_id: string;
  readonly utterance: string;
  readonly language: string | undefined;
  /** Of the turn before. */
  readonly language_before?: string | undefined;
  readonly gold: readonly GoldMapping[] | undefined;
  /** The answer to the last question, and the turn that asked it. */
  readonly clarify: ClarifyAnswer | undefined;
  readonly answers: string | undefined;
  /** The packet of another finder, which is taken as it is. */
  readonly packet: unknown;
  /** The question that this answers was asked by another finder. */
  readonly is_foreign_question?: boolean;
  /** What a language model of the caller found. */
  readonly proposal?: unknown;
}

/** A turn with the one packet that it led to, ready to be recorded. */
export interface HeardTurn {
  readonly said: Said;
  readonly packet: FinderPacket;
  readonly packet_ref: string;
  readonly goal: Sealed<AgentGoalRequest>;
  readonly received: Event<'agent.received'>;
  readonly objects: readonly Uint8Array[];
}

/** Asks the finder once, and takes its packet as it is: nothing here ranks, and nothing here is added to it. */
export function hear(context: AgentContext, said: Said, snapshot: Snapshot): HeardTurn {
  const { tenant } = context.journey.store;
  const request = requestOf(said, tenant, snapshot);
  const found = find(context, said, request);
  const packet = parsePacket(found.packet);
  requireOurs(packet, request);
  const packet_ref = packetRef(packet);
  const language =
    found.language ?? languageOf(said.utterance, said.language, undefined, said.language_before);
  const confirm_state = confirmState(packet, request.catalog, isForeign(context, said));
  const goal = goals.seal(goalOf(said, tenant, request, { packet, packet_ref }, { language, confirm_state }));
  return {
    said,
    packet,
    packet_ref,
    goal,
    received: receivedEvent(said, packet, packet_ref, goal.digest, snapshot),
    objects: [
      ...snapshot.objects,
      canonicalBytesOfParsed(packet),
      goal.bytes,
      ...(found.context ? [canonicalBytesOfParsed(found.context)] : []),
    ],
  };
}

export type KeyedTurn = Pick<Said, 'correlation_id' | 'turn_id' | 'user_id' | 'utterance'> & {
  readonly clarify?: Pick<ClarifyAnswer, 'answer'> | undefined;
};

/** Of one turn: a caller that sends the same turn twice means it once. */
export function turnKey({ correlation_id, turn_id, user_id, utterance, clarify }: KeyedTurn): string {
  return digestOf([correlation_id, turn_id, user_id, utterance, clarify?.answer ?? null]);
}

function requestOf(said: Said, tenant_id: string, { catalog, policy, bundle }: Snapshot): FinderRequest {
  const { user_id, correlation_id, turn_id, utterance, language, language_before, gold, clarify } = said;
  return {
    schema_version: PACKET_SCHEMA_VERSION,
    tenant_id,
    user_id,
    correlation_id,
    turn_id,
    idempotency_key: turnKey(said),
    utterance,
    ...(language !== undefined && { language }),
    ...(language_before !== undefined && { language_before }),
    catalog,
    ...(gold && { gold }),
    policy_snapshot_ref: policy,
    artifact_fingerprint_bundle_ref: bundle,
    ...(clarify && { clarify }),
  };
}

interface Found {
  readonly packet: unknown;
  /** What a question of the default finder leaves open, to be handed back with the answer. */
  readonly context: CandidateContext | null;
  /** What the default finder took the language for. */
  readonly language?: string;
}

function find({ finder }: AgentContext, { packet, proposal }: Said, request: FinderRequest): Found {
  if (proposal !== undefined) return heldProposal(request, proposal);
  if (packet !== undefined) return { packet, context: null };
  return 'examine' in finder ? finder.examine(request) : { packet: finder.find(request), context: null };
}

/** The attacker passes a packet that was made for another user, for another turn, or from another catalog. */
function requireOurs(packet: FinderPacket, request: FinderRequest): void {
  const same =
    packet.tenant_id === request.tenant_id &&
    packet.user_id === request.user_id &&
    packet.correlation_id === request.correlation_id &&
    packet.turn_id === request.turn_id;
  if (!same) refuse('FINDER_PACKET_INVALID', 'The packet belongs to another turn.');
  const fresh =
    packet.policy_snapshot_ref === request.policy_snapshot_ref &&
    packet.catalog_snapshot_ref === request.catalog.digest &&
    packet.artifact_fingerprint_bundle_ref === request.artifact_fingerprint_bundle_ref;
  if (!fresh) refuse('FINDER_PACKET_INVALID', 'The packet was made from other snapshots than those of now.');
  if (packet.kind === 'SIMULATION_MATCH') requireHonest(packet, request);
}

/** The attacker is a finder that is sure of what the user did not say, or whose packet was made for other words. */
function requireHonest(packet: SimulationMatchPacket, request: FinderRequest): void {
  if (packet.idempotency_key !== request.idempotency_key)
    refuse('FINDER_PACKET_INVALID', 'The packet was made for other words.');
  if (packet.idempotency_recipe_ref !== IDEMPOTENCY_RECIPE_REF)
    refuse('FINDER_PACKET_INVALID', `There is no recipe "${packet.idempotency_recipe_ref}".`);
  // After a question it is the answer that decides, however unsure the finder was before.
  if (request.clarify === undefined && packet.confidence_bp < thresholds.match_bp)
    refuse('FINDER_PACKET_INVALID', 'The finder is not sure enough for a match. It has to ask.');
  const lie = packet.evidence_spans.find((span) => !isSaid(span, request));
  if (lie) refuse('FINDER_PACKET_INVALID', `The user did not say what the packet shows for "${lie.field}".`);
}

function isSaid({ source, start, end, text, field, value }: EvidenceSpan, request: FinderRequest): boolean {
  const { utterance, clarify } = request;
  if (source === 'utterance') return text !== '' && utterance.slice(start, end) === text;
  if (clarify === undefined) return false;
  if (source === 'answer') return text !== '' && clarify.answer.slice(start, end) === text;
  const before = clarify.fields_so_far;
  return !Object.hasOwn(before, field) || before[field] === value;
}

function goalOf(
  said: Said,
  tenant_id: string,
  { idempotency_key }: FinderRequest,
  { packet, packet_ref }: Pick<HeardTurn, 'packet' | 'packet_ref'>,
  { language, confirm_state }: Pick<AgentGoalRequest, 'confirm_state'> & { readonly language: string },
): AgentGoalRequest {
  const { correlation_id, user_id, thread_id, turn_id, utterance, clarify } = said;
  return {
    format: 'keyturn-agent-goal/1',
    correlation_id,
    tenant_id,
    user_id,
    thread_id,
    turn_id,
    raw_user_utterance: utterance,
    normalized_intent: {
      language,
      utterance_fingerprint: utteranceFingerprint(utterance),
      answer: clarify ? { missing_field: clarify.missing_field, text: clarify.answer } : null,
    },
    sim_finder_packet: packet_ref,
    confirm_state,
    idempotency_key,
    attempt_counter: packet.kind === 'CLARIFY' ? packet.attempt_index : (clarify?.attempt_index ?? 0),
  };
}

/**
 * Whether anything but the rules of this project led to the packet. The attacker is a finder that names a simulation which the user
 * did not ask for, or writes the question to which the user then says an innocent word.
 */
function isForeign({ finder }: AgentContext, { packet, proposal, is_foreign_question }: Said): boolean {
  const is_given = packet !== undefined || proposal !== undefined;
  return is_given || is_foreign_question === true || !('examine' in finder);
}

/**
 * As the plan will have it for its first step: a finder can ask for a yes, and cannot waive one. What another finder found
 * always asks for one, and so does what comes of a question of its.
 */
function confirmState(
  packet: FinderPacket,
  catalog: Catalog,
  is_foreign: boolean,
): AgentGoalRequest['confirm_state'] {
  if (packet.kind === 'CLARIFY' && is_foreign) return 'REQUIRED';
  if (packet.kind !== 'SIMULATION_MATCH') return 'NOT_APPLICABLE';
  const named = entryOf(catalog, packet.simulation_id)?.simulation;
  const first = named?.steps?.[0];
  const meant = [named, first && entryOf(catalog, first.simulation)?.simulation];
  const is_required =
    is_foreign || packet.confirm_required || meant.some((one) => one && needsConfirmation(one));
  return is_required ? 'REQUIRED' : 'NOT_REQUIRED';
}

function receivedEvent(
  { correlation_id, turn_id, user_id, thread_id }: Said,
  { kind, reason_code }: FinderPacket,
  finder_packet: string,
  goal: string,
  { catalog, policy }: Snapshot,
): Event<'agent.received'> {
  return {
    kind: 'agent.received',
    subject: `agent:${correlation_id}`,
    body: {
      turn_id,
      user_id,
      thread_id,
      packet_kind: kind,
      finder_packet,
      goal,
      catalog_snapshot: catalog.digest,
      policy_snapshot: policy,
      reason_code,
    },
  };
}

/** What a user said, as an object of its own: two users who say yes have two objects. */
export function sealText(text: string): SealedBytes {
  return sealBytes(Buffer.from(text, 'utf8'), randomBytes(16).toString('base64'));
}
