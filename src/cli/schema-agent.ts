import { z } from 'zod';
import { code, digest, id, name, time } from './schema-parts.ts';

/** What the commands about goals and simulations answer. */

const word = z.string();
/** A conversation, and what there is to show to its user. */
const shared = { correlation_id: word, reason_code: code, user_visible_text: z.string() };
const step = { plan_id: digest, step_id: digest };

const confirm = z
  .strictObject({
    kind: z.literal('CONFIRM'),
    ...shared,
    ...step,
    language: word,
    affirmative: z.string(),
    negative: z.string(),
  })
  .readonly()
  .meta({ id: 'agent-confirm' });
const paused = z
  .strictObject({ kind: z.literal('PAUSED'), ...shared, ...step })
  .readonly()
  .meta({ id: 'agent-paused' });

const captured = z
  .strictObject({ digest: digest.nullable(), bytes: z.int(), truncated: z.boolean() })
  .readonly();
const outcome = z
  .strictObject({
    format: z.literal('keyturn-agent-outcome/1'),
    step_id: digest,
    simulation_outcome: z
      .strictObject({
        intent_id: id,
        execution_id: id,
        capability_id: id,
        result: z.enum(['success', 'failure', 'partial', 'rolled_back', 'happened', 'did_not_happen']),
        reason_code: code.nullable(),
        exit_code: z.int().nullable(),
        stdout: captured.nullable(),
        stderr: captured.nullable(),
      })
      .readonly()
      .nullable(),
    audit_event_id: digest.nullable(),
    proof_refs: z.array(digest).readonly(),
    dispatch_decision_hash: digest,
    next_step: digest.nullable(),
    reason_code: code,
    user_visible_text: z.string(),
  })
  .readonly()
  .meta({ id: 'agent-outcome' });

const KINDS = ['SIMULATION_MATCH', 'CLARIFY', 'REFUSE', 'MISSING_SIMULATION'] as const;
/** The packet of the finder, whole. */
const packet = z.looseObject({ kind: z.enum(KINDS), idempotency_key: z.string() }).meta({ id: 'packet' });
const news = z.array(z.strictObject({ simulation: name, wish: z.string() }).readonly()).readonly();
const turn = { turn_id: word, packet, news };

/** Every answer of a conversation. `more` is what only a turn has. */
const answers = <M extends z.ZodRawShape>(more: M) =>
  z.union([
    z.strictObject({ ...confirm.unwrap().shape, ...more }),
    z.strictObject({
      kind: z.literal('CLARIFY'),
      ...shared,
      question: z.string(),
      allowed_answer_formats: z.array(z.string()).readonly(),
      attempt_index: z.int(),
      max_attempts: z.int(),
      ...more,
    }),
    z.strictObject({
      kind: z.enum(['REFUSED', 'CANCELLED']),
      ...shared,
      outcome: outcome.optional(),
      outcome_ref: digest.optional(),
      ...more,
    }),
    z.strictObject({ ...paused.unwrap().shape, ...more }),
    z.strictObject({
      kind: z.literal('MISSING_SIMULATION'),
      ...shared,
      intake: z.enum(['RECORDED', 'LINKED_TO_DRAFT', 'RECORDED_BEFORE', 'LIMITED']),
      ...more,
    }),
    z.strictObject({
      kind: z.literal('AWAITS_APPROVER'),
      ...shared,
      ...step,
      intent_id: id,
      hash: digest,
      ...more,
    }),
    z.strictObject({
      kind: z.literal('OUTCOME'),
      ...shared,
      plan_id: digest,
      plan_state: word,
      outcome,
      outcome_ref: digest,
      is_duplicate: z.boolean(),
      next: z.union([confirm, paused]).nullable(),
      ...more,
    }),
  ]);

const turnAnswer = answers(turn).meta({ id: 'agent-turn' });
const agentAnswer = answers({}).meta({ id: 'agent-answer' });

const agentStep = z
  .strictObject({
    step_id: digest,
    simulation: name,
    version: z.int(),
    state: word,
    reason_code: code,
    intent_id: id.nullable(),
    execution_id: id.nullable(),
  })
  .meta({ id: 'agent-step' });
const plan = z
  .strictObject({
    plan_id: digest,
    /** What the finder named; of an undo, what is undone. */
    simulation: z.string(),
    state: word,
    reason_code: code,
    risk_level: z.enum(['LOW', 'MEDIUM', 'HIGH']),
    rolls_back: digest.nullable(),
    created_at: time,
    changed_at: time,
    steps: z.array(agentStep),
  })
  .meta({ id: 'agent-plan' });
const conversation = z
  .strictObject({
    correlation_id: word,
    user_id: word,
    thread_id: word,
    turns: z.int(),
    packet_kind: z.enum(KINDS),
    /** Where it stands, in one word. */
    state: word,
    /** The command that goes on with it; `null` when it waits for nobody. */
    next: z.string().nullable(),
    /** What was said, oldest first; `null` where conversations are listed. */
    talk: z
      .array(
        z.strictObject({
          seq: z.int(),
          at: time,
          kind: z.enum(['GOAL', 'ANSWER', 'CONFIRMATION', 'QUESTION', 'REFUSAL']),
          /** `null` when it was erased. */
          text: z.string().nullable(),
          /** How the answer to a prompt was read. */
          read_as: z.enum(['YES', 'NO', 'AMBIGUOUS']).nullable(),
        }),
      )
      .nullable(),
    plans: z.array(plan),
    /** Every move, oldest first. */
    moves: z.array(
      z.strictObject({
        seq: z.int(),
        at: time,
        plan_id: digest,
        step_id: digest.nullable(),
        from: z.string().nullable(),
        to: word,
        reason_code: code,
      }),
    ),
  })
  .meta({ id: 'conversation' });

const figure = z.enum([
  'agent_dispatch_p95_ms',
  'agent_dispatch_p99_ms',
  'execution_error_rate',
  'idempotency_duplicate_side_effect_rate',
]);

const simulationStatus = z.enum(['Draft', 'Active', 'Deprecated', 'Disabled']);
const changed = z
  .strictObject({
    simulation: name,
    version: z.int(),
    status: simulationStatus,
    definition: digest,
    proof: digest,
    /** What the activation binds: programs, sandbox, steps and undo. `null` in every other status. */
    bound: digest.nullable(),
    /** What the agent core acts under; `null` where nothing is delegated. */
    standing_delegation: id.nullable(),
    expires_at: time.nullable(),
    by: name,
    reason: z.string(),
  })
  .meta({ id: 'simulation-changed' });

const listed = z
  .strictObject({
    id: name,
    version: z.int(),
    status: simulationStatus,
    summary: z.string(),
    risk: z.enum(['LOW', 'MEDIUM', 'HIGH']),
    /** The version that the ledger has; `null` when it was never registered. */
    registered_version: z.int().nullable(),
    expires_at: time.nullable(),
    /** The file is not what was registered, or is gone. */
    has_changed: z.boolean(),
  })
  .meta({ id: 'simulation' });

export const agentResults = {
  'agent ask': turnAnswer,
  'agent answer': turnAnswer,
  'agent confirm': agentAnswer,
  'agent resume': agentAnswer,
  'agent undo': agentAnswer,
  'agent status': z.strictObject({ conversations: z.array(conversation) }),
  'agent slo': z.strictObject({
    since: time,
    dispatches: z.int(),
    figures: z
      .array(
        z
          .strictObject({
            figure,
            value: z.number().nullable(),
            target: z.number(),
            is_breached: z.boolean(),
            waived_until: time.nullable(),
          })
          .readonly(),
      )
      .readonly(),
    is_blocked: z.boolean(),
  }),
  'agent waive': z.strictObject({
    figures: z.array(figure),
    until: time,
    by: name,
    reason: z.string(),
  }),
  'agent replay': z.strictObject({
    correlation_id: word,
    decisions: z
      .array(
        z
          .strictObject({
            seq: z.int(),
            plan_id: digest.nullable(),
            step_id: digest.nullable(),
            decision: z.enum(['DISPATCH', 'NO_DISPATCH']),
            reason_code: code,
          })
          .readonly(),
      )
      .readonly(),
  }),
  'simulation register': changed,
  'simulation activate': changed,
  'simulation deprecate': changed,
  'simulation disable': changed,
  'simulation show': z.strictObject({
    ...listed.shape,
    /** Of the definition: what `--digest` of the other commands takes. */
    digest,
    /** What the activation binds; `null` where it is not active. */
    bound: digest.nullable(),
    /** In what it is not what was activated. While there is anything here, it does not run. */
    differs: z.array(z.string()),
    /** The file, with everything that it leaves to its default. */
    definition: z.looseObject({ id: name, version: z.int() }),
  }),
  'simulation list': z.strictObject({ simulations: z.array(listed) }),
  'intake list': z.strictObject({
    wishes: z.array(
      z.strictObject({
        fingerprint: digest,
        wish: z.string().nullable(),
        status: z.enum(['open', 'told']),
        category: word,
        worthiness_bp: z.int(),
        users: z.int(),
        count: z.int(),
        first_at: time,
        last_at: time,
        linked_draft: name.nullable(),
      }),
    ),
  }),
} as const;
