import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { DIGEST_FORM, FIELD_FORM, NAME_FORM, REASON_FORM } from '../canonical/form.ts';
import { canonicalBytes, canonicalBytesOfParsed } from '../canonical/json.ts';
import { describeIssue } from '../event/event.ts';
import { agentLimits, fieldLimits, limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/** The four packets of a finder, and nothing else. Every field is there, and no other is. */

export const PACKET_SCHEMA_VERSION = 'keyturn-finder-packet/1';
/** Which recipe of 003 section 9 makes the key of a step: correlation, step, simulation, fields, policy snapshot. */
export const IDEMPOTENCY_RECIPE_REF = 'keyturn-step-idempotency/1';
/** The missing_field of a question about which simulation is meant. No field of a simulation has this name. */
export const WHICH_SIMULATION = 'simulation_id';

const id = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'is not an id of visible characters');
const ref = id;
const name = z.string().regex(NAME_FORM);
const field = z.string().regex(FIELD_FORM);
const digest = z.string().regex(DIGEST_FORM);
const bp = z.int().min(0).max(10_000);
const reason_code = z.string().regex(REASON_FORM);
const prose = z.string().min(1).max(limits.prose_chars);
const scalar = z.union([z.string().max(limits.prose_chars), z.number(), z.boolean()]);

const shared = {
  schema_version: z.literal(PACKET_SCHEMA_VERSION),
  tenant_id: id,
  user_id: id,
  correlation_id: id,
  turn_id: id,
  idempotency_key: id,
  reason_code,
  policy_snapshot_ref: ref,
  catalog_snapshot_ref: ref,
  artifact_fingerprint_bundle_ref: ref,
};

/** Where a value was read, so that a person can see why it is what it is. Places count UTF-16 units. */
const span = z
  .strictObject({
    field,
    /** This goal, the answer to the last question, or an answer before that (which has no place any more). */
    source: z.enum(['utterance', 'answer', 'earlier']),
    start: z.int().min(0),
    end: z.int().min(0),
    text: z.string().max(limits.prose_chars),
    value: scalar,
  })
  .refine(({ start, end }) => start <= end, 'ends before it starts');

const match = z
  .strictObject({
    kind: z.literal('SIMULATION_MATCH'),
    ...shared,
    intent_family: name,
    simulation_id: name,
    candidate_rank: z.literal(1),
    confidence_bp: bp,
    required_fields_present: z.array(field).max(fieldLimits.listed),
    /** Always empty: what misses a field is a question, not a match. */
    required_fields_missing: z.array(field).max(0, 'are missing, so this is no match'),
    evidence_spans: z.array(span).max(fieldLimits.listed),
    risk_tier: z.enum(['LOW', 'MEDIUM', 'HIGH']),
    confirm_required: z.boolean(),
    access_actions_required: z.array(name).min(1).max(fieldLimits.listed),
    idempotency_recipe_ref: ref,
    fallback_if_inactive_or_missing: z.enum(['DEV_INTAKE', 'REFUSE']),
  })
  .refine(hasOneSpanPerField, 'does not show where each field comes from');

function hasOneSpanPerField(packet: {
  readonly required_fields_present: readonly string[];
  readonly evidence_spans: readonly { readonly field: string }[];
}): boolean {
  const present = [...packet.required_fields_present].sort();
  const shown = packet.evidence_spans.map(({ field }) => field).sort();
  return new Set(present).size === present.length && present.join() === shown.join();
}

const clarify = z
  .strictObject({
    kind: z.literal('CLARIFY'),
    ...shared,
    question: prose,
    missing_field: field,
    allowed_answer_formats: z.array(prose).min(2).max(3),
    attempt_index: z.int().min(1),
    max_attempts: z.int().min(1).max(agentLimits.clarify_tries),
    on_exceed: z.literal('REFUSE'),
    candidate_context_ref: digest,
  })
  .refine(({ attempt_index, max_attempts }) => attempt_index <= max_attempts, 'asks more often than it may');

const refusal = z.strictObject({
  kind: z.literal('REFUSE'),
  ...shared,
  message: prose,
  evidence_refs: z.array(ref).max(fieldLimits.listed),
});

const looked = { searched: z.int().min(0), best_simulation_id: name.nullable(), best_confidence_bp: bp };
const activeWithout = z.strictObject({ stage: z.literal('ACTIVE'), found: z.literal(false), ...looked });
const draft = <F extends boolean>(found: F) =>
  z.strictObject({ stage: z.literal('DRAFT'), found: z.literal(found), ...looked });

const missing = z
  .strictObject({
    kind: z.literal('MISSING_SIMULATION'),
    ...shared,
    requested_capability_name_normalized: z.string().min(1).max(agentLimits.wish_chars),
    raw_user_utterance: prose,
    /** WITHDRAWN: what was meant is Deprecated or Disabled. */
    category: z.enum(['NEW_CAPABILITY', 'DRAFT_EXISTS', 'WITHDRAWN']),
    worthiness_score_bp: bp,
    worthiness_parts: z.strictObject({ clarity_bp: bp, novelty_bp: bp, detail_bp: bp }),
    dedupe_fingerprint: digest,
    /** ACTIVE was searched first, then DRAFT; with nothing there either, NONE ends the search. */
    search_proof: z.union([
      z.tuple([activeWithout, draft(false), z.strictObject({ stage: z.literal('NONE') })]),
      z.tuple([activeWithout, draft(true)]),
    ]),
  })
  .refine(
    ({ category, search_proof }) => (category === 'DRAFT_EXISTS') === search_proof[1].found,
    'names a category that its proof does not bear out',
  );

export const packetShape = z.union([match, clarify, refusal, missing]).meta({ id: 'finder-packet' });
const kinds = { SIMULATION_MATCH: match, CLARIFY: clarify, REFUSE: refusal, MISSING_SIMULATION: missing };

export type FinderPacket = z.infer<typeof packetShape>;
export type SimulationMatchPacket = z.infer<typeof match>;
export type ClarifyPacket = z.infer<typeof clarify>;
export type RefusePacket = z.infer<typeof refusal>;
export type MissingSimulationPacket = z.infer<typeof missing>;
export type EvidenceSpan = z.infer<typeof span>;
export type Scalar = z.infer<typeof scalar>;
export type PacketHead = Omit<RefusePacket, 'kind' | 'reason_code' | 'message' | 'evidence_refs'>;

/** Takes the packet of any finder as it is, or refuses it. The attacker is a finder that leaves out what is checked. */
export function parsePacket(value: unknown): FinderPacket {
  requirePlain(value);
  const kind = (value as { kind?: unknown } | null)?.kind;
  if (typeof kind !== 'string' || !Object.hasOwn(kinds, kind))
    refuse('FINDER_PACKET_INVALID', 'A finder packet has one of four kinds, and this has none of them.');
  const parsed = kinds[kind as keyof typeof kinds].safeParse(value);
  if (!parsed.success) refuse('FINDER_PACKET_INVALID', `${kind}: ${describeIssue(parsed.error)}`, { kind });
  return parsed.data;
}

/** The name of a packet in every later record: the SHA-256 of its canonical bytes. */
export function packetRef(packet: FinderPacket): Digest {
  return sha256(canonicalBytesOfParsed(packet));
}

/** A packet that cannot be hashed cannot be referred to. */
function requirePlain(value: unknown): void {
  try {
    canonicalBytes(value);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse('FINDER_PACKET_INVALID', `The packet is not plain JSON: ${error.message}`);
  }
}
