import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Catalog } from './catalog.ts';
import { folded } from './fold.ts';
import type { FinderPacket, PACKET_SCHEMA_VERSION, PacketHead, Scalar } from './packet.ts';

/** What a finder may know. There is no clock and no randomness: the same request always gets the same packet. */
export interface FinderRequest {
  readonly schema_version: typeof PACKET_SCHEMA_VERSION;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly correlation_id: string;
  readonly turn_id: string;
  readonly idempotency_key: string;
  /** The goal. While a question is being answered it stays the same, and the answer is in `clarify`. */
  readonly utterance: string;
  /** Of the conversation; guessed from the goal when it is not given. It decides in which language to ask back. */
  readonly language?: string;
  /** That of the turn before in the same conversation. It is kept while the words do not clearly change it. */
  readonly language_before?: string;
  readonly catalog: Catalog;
  readonly gold?: readonly GoldMapping[];
  readonly policy_snapshot_ref: string;
  readonly artifact_fingerprint_bundle_ref: string;
  readonly clarify?: ClarifyAnswer;
}

/** What an utterance meant before. It breaks ties between equal scores and does nothing else. */
export interface GoldMapping {
  readonly utterance_fingerprint: Digest;
  readonly simulation_id: string;
}

/** The answer to the last CLARIFY, with what that packet left open. */
export interface ClarifyAnswer {
  /** Of the question that is being answered. */
  readonly attempt_index: number;
  readonly candidate_context_ref: Digest;
  /** The first of the candidates. Absent where another finder asked, which alone knows them. */
  readonly simulation_id?: string;
  readonly fields_so_far: Readonly<Record<string, Scalar>>;
  readonly missing_field: string;
  readonly answer: string;
}

/** The port. What another finder returns passes `parsePacket` and is then taken as it is. */
export interface Finder {
  find(request: FinderRequest): FinderPacket;
}

/** What a question is about. A CLARIFY names it by its digest, so that an answer cannot be given to another question. */
export interface CandidateContext {
  readonly catalog_snapshot_ref: Digest;
  readonly utterance_digest: Digest;
  readonly simulation_ids: readonly string[];
  readonly fields: Readonly<Record<string, Scalar>>;
  readonly missing_field: string;
}

export function contextRef(context: CandidateContext): Digest {
  return sha256(canonicalBytes(context));
}

/** Two utterances with this fingerprint say the same, whatever their case, accents and spaces. */
export function utteranceFingerprint(utterance: string): Digest {
  return sha256(
    folded(utterance)
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
      .trim(),
  );
}

export function headOf(request: FinderRequest): PacketHead {
  return {
    schema_version: request.schema_version,
    tenant_id: request.tenant_id,
    user_id: request.user_id,
    correlation_id: request.correlation_id,
    turn_id: request.turn_id,
    idempotency_key: request.idempotency_key,
    policy_snapshot_ref: request.policy_snapshot_ref,
    catalog_snapshot_ref: request.catalog.digest,
    artifact_fingerprint_bundle_ref: request.artifact_fingerprint_bundle_ref,
  };
}
