import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { FIELD_FORM, REASON_FORM } from '../canonical/form.ts';
import { canonicalBytesOfParsed, parseJson } from '../canonical/json.ts';
import { caller_id } from '../event/agent.ts';
import { describeIssue } from '../event/event.ts';
import { capture } from '../event/execution.ts';
import { digest, name, prose, uuid } from '../event/shape.ts';
import { fieldLimits, limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** The contracts of 003 sections 2.2 and 4. Each is stored as an object; the ledger holds its digest. */

const risk = z.enum(['LOW', 'MEDIUM', 'HIGH']);
const scalar = z.union([z.string().max(limits.prose_chars), z.number(), z.boolean()]);
const field = z.strictObject({ field: z.string().regex(FIELD_FORM), value: scalar });
const tenant_id = name;
const reason = z.string().regex(REASON_FORM);
/** What undoes a step: a simulation, or the undo that a plan has of its own. */
const rollback_plan_ref = z.union([z.literal('plan:rollback'), name]).nullable();

const goalRequest = z.strictObject({
  format: z.literal('keyturn-agent-goal/1'),
  correlation_id: caller_id,
  tenant_id,
  user_id: caller_id,
  thread_id: caller_id,
  turn_id: caller_id,
  raw_user_utterance: z.string().max(limits.prose_chars),
  /** What is known about the words before a finder interprets them. The answer is that to the last question. */
  normalized_intent: z.strictObject({
    language: z.string().max(fieldLimits.word_chars),
    utterance_fingerprint: digest,
    answer: z
      .strictObject({
        missing_field: z.string().max(limits.name_chars),
        text: z.string().max(limits.prose_chars),
      })
      .nullable(),
  }),
  /** The packet is an object of its own. */
  sim_finder_packet: digest,
  confirm_state: z.enum(['NOT_APPLICABLE', 'NOT_REQUIRED', 'REQUIRED']),
  /** Of this turn: the same turn, sent again, is answered and not taken again. */
  idempotency_key: digest,
  /** How many questions were asked, as the finder counts them. */
  attempt_counter: z.int().min(0),
});

const step = z.strictObject({
  step_id: digest,
  simulation_id: name,
  simulation_version: z.int().min(1),
  /** The definition that was registered. Another one under this id is another simulation. */
  definition: digest,
  required_fields: z.array(field).max(fieldLimits.listed),
  required_fields_fingerprint: digest,
  policy_snapshot_version: digest,
  artifact_fingerprint_bundle_ref: digest,
  confirmation_required: z.boolean(),
  impactful: z.boolean(),
  access_action: name,
  idempotency_key_recipe: z.string().max(fieldLimits.line_chars),
  /** A retry is a human's, under another correlation. */
  retry_policy: z.literal('human'),
  rollback_plan_ref,
});

const executionPlan = z.strictObject({
  format: z.literal('keyturn-agent-plan/1'),
  /** Of everything here but the time: the same inputs and snapshots always give the same plan. */
  plan_id: digest,
  correlation_id: caller_id,
  /** What the finder named: the simulation, or the template whose steps these are. */
  simulation_id: name,
  simulation_version: z.int().min(1),
  definition: digest,
  rolls_back: digest.nullable(),
  finder_packet_ref: digest,
  ordered_steps: z.array(step).min(1).max(fieldLimits.listed),
  required_confirmations: z.array(digest).max(fieldLimits.listed),
  risk_level: risk,
  access_actions_required: z.array(name).min(1).max(fieldLimits.listed),
  policy_snapshot_ref: digest,
  catalog_snapshot_ref: digest,
  artifact_fingerprint_bundle_ref: digest,
  created_at: z.iso.datetime({ precision: 3 }),
});

/** What the core gives to the executor, and all of it. */
export const dispatchEnvelope = z.strictObject({
  correlation_id: caller_id,
  tenant_id,
  user_id: caller_id,
  step_id: digest,
  simulation_id: name,
  required_fields: z.array(field).max(fieldLimits.listed),
  /** Null where no confirmation is required. */
  confirmation_proof_ref: digest.nullable(),
  access_action: name,
  idempotency_key: digest,
  policy_snapshot_ref: digest,
  artifact_fingerprint_bundle_ref: digest,
  /** Null only where the simulation is not impactful. */
  rollback_plan_ref,
});

const simulationOutcome = z.strictObject({
  intent_id: uuid,
  execution_id: uuid,
  capability_id: uuid,
  /** `happened` is a run in doubt that a human settled. */
  result: z.enum(['success', 'failure', 'partial', 'rolled_back', 'happened', 'did_not_happen']),
  reason_code: reason.nullable(),
  exit_code: z.int().nullable(),
  stdout: capture.nullable(),
  stderr: capture.nullable(),
});

export const executionOutcome = z.strictObject({
  format: z.literal('keyturn-agent-outcome/1'),
  step_id: digest,
  /** Null where nothing ran. */
  simulation_outcome: simulationOutcome.nullable(),
  /** The ledger entry that says how it ended. */
  audit_event_id: digest.nullable(),
  proof_refs: z.array(digest).max(fieldLimits.listed),
  dispatch_decision_hash: digest,
  next_step: digest.nullable(),
  reason_code: reason,
  user_visible_text: prose,
});

/** How an answer was read: the token, the language, the words that count, and the hash of what was said. */
const confirmationProof = z.strictObject({
  format: z.literal('keyturn-confirmation/1'),
  correlation_id: caller_id,
  plan_id: digest,
  step_id: digest,
  user_id: caller_id,
  answer: z.enum(['YES', 'NO', 'AMBIGUOUS']),
  token: z.string().max(fieldLimits.line_chars).nullable(),
  language: z.string().max(fieldLimits.word_chars),
  confirm_lexicon_version_ref: z.string().max(fieldLimits.reference_chars),
  reason,
  /** What was said is an object of its own. */
  text: digest,
});

export type AgentGoalRequest = z.infer<typeof goalRequest>;
export type AgentStep = z.infer<typeof step>;
export type AgentExecutionPlan = z.infer<typeof executionPlan>;
export type DispatchEnvelope = z.infer<typeof dispatchEnvelope>;
export type SimulationOutcome = z.infer<typeof simulationOutcome>;
export type AgentExecutionOutcome = z.infer<typeof executionOutcome>;
export type ConfirmationProof = z.infer<typeof confirmationProof>;
export type FieldValue = z.infer<typeof field>;

export interface Sealed<T> {
  readonly value: T;
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/** A contract: written only when it is whole, read only when it still is. */
function contract<T>(what: string, schema: z.ZodType<T>) {
  const check = (value: unknown): T => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) refuse('SHAPE_INVALID', `The ${what} is not valid: ${describeIssue(parsed.error)}`);
    return parsed.data;
  };
  return {
    check,
    seal(value: T): Sealed<T> {
      const bytes = canonicalBytesOfParsed(check(value));
      return { value, bytes, digest: sha256(bytes) };
    },
    open: (bytes: Uint8Array): T => check(parseJson(bytes, bytes.length)),
  };
}

export const goals = contract('goal request', goalRequest);
export const agentPlans = contract('execution plan', executionPlan);
export const envelopes = contract('dispatch envelope', dispatchEnvelope);
export const outcomes = contract('execution outcome', executionOutcome);
export const confirmations = contract('confirmation proof', confirmationProof);
