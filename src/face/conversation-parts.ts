import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { AGENT_PLAN_STATES, STEP_STATES } from '../event/agent.ts';
import { code, digest, goal, id, name, time } from './parts.ts';
import { CONVERSATION_STATUSES } from './statuses.ts';

/** What a conversation is, as the ledger tells it. */

export const conversationState = z.enum(CONVERSATION_STATUSES);

const step = once(() =>
  z
    .strictObject({
      step_id: digest,
      simulation: name,
      version: z.int(),
      confirmation_required: z.boolean(),
      impactful: z.boolean(),
      state: z.enum(STEP_STATES),
      reason_code: code,
      changed_at: time,
      /** The newest answer to its prompt. */
      confirmation: z
        .strictObject({ answer: z.enum(['YES', 'NO', 'AMBIGUOUS']), proof: digest, at: time })
        .readonly()
        .nullable(),
      /** The newest decision of the policies; the intent where an approver is awaited. */
      access: z
        .strictObject({
          outcome: z.enum(['ALLOW', 'DENY', 'AP_REQUIRED']),
          decision: digest,
          intent_id: id.nullable(),
          at: time,
        })
        .readonly()
        .nullable(),
      /** From the dispatch on. */
      idempotency_key: digest.nullable(),
      intent_id: id.nullable(),
      execution_id: id.nullable(),
      outcome: digest.nullable(),
    })
    .readonly()
    .meta({ id: 'agent-step' }),
);

const plan = once(() =>
  z
    .strictObject({
      plan_id: digest,
      /** The plan itself, an object. */
      plan: digest,
      /** What the finder named; of an undo, what is undone. */
      simulation: name,
      /** The plan that this one undoes. */
      rolls_back: digest.nullable(),
      template: z.strictObject({ simulation: name, version: z.int() }).readonly().nullable(),
      finder_packet: digest,
      risk_level: z.enum(['LOW', 'MEDIUM', 'HIGH']),
      state: z.enum(AGENT_PLAN_STATES),
      reason_code: code,
      created_at: time,
      changed_at: time,
      /** In the order in which they run. */
      steps: z.array(step()).readonly(),
    })
    .readonly()
    .meta({ id: 'agent-plan' }),
);

const shape = once(() => ({
  correlation_id: z.string(),
  user_id: z.string(),
  thread_id: z.string(),
  status: conversationState,
  /** What the newest turn is about, in the words of the user. */
  goal,
  begun_at: time,
  changed_at: time,
  turns: z.int(),
  /** The newest one. */
  turn: z
    .strictObject({
      turn_id: z.string(),
      packet_kind: z.enum(['SIMULATION_MATCH', 'CLARIFY', 'REFUSE', 'MISSING_SIMULATION']),
      finder_packet: digest,
      goal: digest,
      catalog_snapshot: digest,
      policy_snapshot: digest,
      reason_code: code,
      at: time,
    })
    .readonly(),
  /** Oldest first. At most one of them is not at its end. */
  plans: z.array(plan()).readonly(),
}));

export const conversation = once(() => z.strictObject(shape()).meta({ id: 'conversation' }));

/** What goes on with a conversation. */
const next = once(() =>
  z
    .discriminatedUnion('act', [
      z.strictObject({ act: z.literal('answer'), /** Which question. */ turn_id: z.string() }).readonly(),
      z.strictObject({ act: z.literal('confirm'), plan_id: digest, step_id: digest }).readonly(),
      /** A human approves this intent; then the conversation is resumed. */
      z.strictObject({ act: z.literal('approve'), intent_id: id }).readonly(),
      z.strictObject({ act: z.literal('resume') }).readonly(),
    ])
    .meta({ id: 'agent-next' }),
);

const said = z
  .strictObject({
    seq: z.int(),
    at: time,
    kind: z.enum(['GOAL', 'ANSWER', 'CONFIRMATION', 'QUESTION', 'REFUSAL']),
    /** Null when it was erased. */
    text: z.string().nullable(),
    /** How the answer to a prompt was read. */
    read_as: z.enum(['YES', 'NO', 'AMBIGUOUS']).nullable(),
  })
  .readonly();

/** A row of `agent_execution_ledger`. */
const move = once(() =>
  z
    .strictObject({
      tenant_id: z.string(),
      correlation_id: z.string(),
      plan_id: digest,
      /** Empty where the plan itself moves. */
      step_id: z.union([digest, z.literal('')]),
      seq: z.int(),
      part: z.int(),
      /** Empty where the plan or step comes into being. */
      from_state: z.string(),
      to_state: z.string(),
      reason_code: code,
      idempotency_key: digest.nullable(),
      intent_id: id.nullable(),
      execution_id: id.nullable(),
      finder_packet_ref: digest,
      policy_snapshot_ref: digest,
      catalog_snapshot_ref: digest,
      artifact_fingerprint_bundle_ref: digest,
      access_decision_ref: digest.nullable(),
      confirmation_parse_proof_ref: digest.nullable(),
      rollback_plan_ref: z.string().nullable(),
      dispatch_decision_hash: digest.nullable(),
      dispatch_ms: z.int().nullable(),
      outcome_ref: digest.nullable(),
      created_at: time,
    })
    .readonly()
    .meta({ id: 'agent-move' }),
);

/** One conversation with everything that was said and done. */
export const conversationTold = once(() =>
  z.strictObject({
    ...shape(),
    /** Null when it does not wait. */
    next: next().nullable(),
    /** What was said, oldest first. */
    talk: z.array(said).readonly(),
    /** Every move, oldest first, 1,000 of them at most. */
    moves: z.array(move()).readonly(),
  }),
);

const figure = z.enum([
  'agent_dispatch_p95_ms',
  'agent_dispatch_p99_ms',
  'execution_error_rate',
  'idempotency_duplicate_side_effect_rate',
]);
export const figures = z.array(figure);

export const sloReport = once(() =>
  z
    .strictObject({
      since: time,
      dispatches: z.int(),
      figures: z
        .array(
          z
            .strictObject({
              figure,
              /** Null where nothing was measured, which is no pass. A breach stays what it was until something newer is measured. */
              value: z.number().nullable(),
              target: z.number(),
              is_breached: z.boolean(),
              /** A human accepts the breach until then. */
              waived_until: time.nullable(),
            })
            .readonly(),
        )
        .readonly(),
      /** A figure is breached and not waived, or was not measured. */
      is_blocked: z.boolean(),
    })
    .meta({ id: 'slo' }),
);
