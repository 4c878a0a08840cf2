import * as z from 'zod';
import { REASON_FORM } from '../canonical/form.ts';
import { fieldLimits } from '../limits.ts';
import { action, body, digest, name, prose, reason_code, signed, time, uuid } from './shape.ts';

/**
 * The facts of the agent core: what was asked, what was planned, who agreed, and every step on the way. What a person
 * said, and the values they gave, are objects; a body holds their digests.
 */

/** A correlation, thread, turn or user, as the caller names it. */
export const CALLER_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
export const caller_id = z.string().regex(CALLER_ID);
const bp = z.int().min(0).max(10_000);
/** What a packet of any finder says about itself. Finders have codes of their own. */
const packet_reason = z.string().regex(REASON_FORM);
/** A version of the words that mean yes, such as `confirm-lexicon/2+sha256:…`. */
const version_ref = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.+/:_-]{0,127}$/);
/** The simulation that undoes a step, or `plan:rollback` for a plan's own undo. */
const rollback_ref = z.string().regex(/^[a-z0-9][a-z0-9.:@_-]{0,127}$/);

export const AGENT_PLAN_STATES = [
  'CREATED',
  'WAITING_CONFIRM',
  'WAITING_CLARIFY',
  'READY',
  'IN_PROGRESS',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const;

export const STEP_STATES = [
  'PENDING',
  'WAITING_CONFIRM',
  'WAITING_CLARIFY',
  'READY',
  'EXECUTING',
  'SUCCEEDED',
  'FAILED_RETRYABLE',
  'FAILED_TERMINAL',
  'SKIPPED',
] as const;

/** Why a plan or step moved, when it was not because of a refusal. A refusal has its own code. */
export const MOVE_REASONS = [
  'PLAN_CREATED',
  'CONFIRM_REQUIRED',
  'CONFIRM_ACCEPTED',
  'CONFIRM_DECLINED',
  'CONFIRM_EXPIRED',
  'CLARIFY_REQUIRED',
  'CLARIFY_ANSWERED',
  'CHECKS_PASSED',
  'PLAN_STARTED',
  'STEP_DISPATCHED',
  'STEP_SUCCEEDED',
  'STEP_FAILED',
  'STEP_NOT_NEEDED',
  'TURN_ENDED',
  'APPROVER_AWAITED',
  'PLAN_RESUMED',
  'PLAN_DONE',
  'PLAN_ABORTED',
  'PLAN_WITHDRAWN',
] as const;

const state = z.enum([...new Set([...AGENT_PLAN_STATES, ...STEP_STATES])]);
const move_reason = z.union([z.enum(MOVE_REASONS), reason_code]);

/** What a decision rests on, so that it can be made again (003 section 17.2). */
const refs = z.strictObject({
  finder_packet_ref: digest,
  policy_snapshot_ref: digest,
  catalog_snapshot_ref: digest,
  artifact_fingerprint_bundle_ref: digest,
  access_decision_ref: digest.nullable(),
  confirmation_parse_proof_ref: digest.nullable(),
  rollback_plan_ref: rollback_ref.nullable(),
});

const step = z.strictObject({
  step_id: digest,
  simulation: name,
  version: z.int().min(1),
  confirmation_required: z.boolean(),
  /** An impactful step names what undoes it before it runs. */
  impactful: z.boolean(),
});

const of_step = { plan_id: digest, step_id: digest };

/** Of a simulation: one for a tenant. */
export const SIMULATION_STATUSES = ['Draft', 'Active', 'Deprecated', 'Disabled'] as const;

export type SimulationStatus = (typeof SIMULATION_STATUSES)[number];

export const SLO_FIGURES = [
  'agent_dispatch_p95_ms',
  'agent_dispatch_p99_ms',
  'execution_error_rate',
  'idempotency_duplicate_side_effect_rate',
] as const;

export const agentBodies = {
  /** A human's act: the one status of a simulation for this tenant. */
  'simulation.changed': body(() => ({
    simulation: name,
    version: z.int().min(1),
    status: z.enum(SIMULATION_STATUSES),
    definition: digest,
    /** What was checked before: catalog, lint, effect, and that the rollback reference leads somewhere. */
    proof: digest,
    /** What an activation binds: programs, sandbox, steps and undo, as they were then. Null in every other status. */
    bound: digest.nullable(),
    /**
     * The delegation under which a lexicon YES may dispatch it. It is not called `delegation`: that names what a
     * signature rests on, and this act is signed by a human only.
     */
    own_delegation: uuid.nullable(),
    /** The delegation of the activation before this act, which ends with it, as the human who signs knows it. */
    replaces: uuid.nullable(),
    /** How it stood before this act, as the human who signs knows it; null for the first one. */
    from: z
      .strictObject({
        status: z.enum(SIMULATION_STATUSES),
        bound: digest.nullable(),
        expires_at: time.nullable(),
      })
      .nullable(),
    expires_at: time.nullable(),
    reason: prose,
    ...signed,
  })),

  'agent.received': body(() => ({
    turn_id: caller_id,
    user_id: caller_id,
    thread_id: caller_id,
    packet_kind: z.enum(['SIMULATION_MATCH', 'CLARIFY', 'REFUSE', 'MISSING_SIMULATION']),
    finder_packet: digest,
    goal: digest,
    catalog_snapshot: digest,
    policy_snapshot: digest,
    reason_code: packet_reason,
  })),
  'agent.planned': body(() => ({
    plan_id: digest,
    plan: digest,
    /** The plan of this correlation that this one undoes, step by step, in reverse. */
    rolls_back: digest.nullable(),
    /** What the finder named, where that is a template and each step another simulation. */
    template: z.strictObject({ simulation: name, version: z.int().min(1) }).nullable(),
    steps: z.array(step).min(1).max(fieldLimits.listed),
    risk_level: z.enum(['LOW', 'MEDIUM', 'HIGH']),
    refs,
  })),
  'agent.confirmed': body(() => ({
    ...of_step,
    answer: z.enum(['YES', 'NO', 'AMBIGUOUS']),
    /** Token, language, version of the lexicon, and the hash of what was said. */
    proof: digest,
    /** What was said, sealed; null where it was too long to be kept. */
    text: digest.nullable(),
    confirm_lexicon_version_ref: version_ref,
  })),
  'agent.access': body(() => ({
    ...of_step,
    user_id: caller_id,
    access_action: action,
    decision: digest,
    outcome: z.enum(['ALLOW', 'DENY', 'AP_REQUIRED']),
    /** The intent that waits for an approver. */
    intent_id: uuid.nullable(),
  })),
  /** One transition of a plan, or of one of its steps. */
  'agent.moved': body(() => ({
    plan_id: digest,
    /** Null when the plan itself moves. */
    step_id: digest.nullable(),
    from: state,
    to: state,
    reason_code: move_reason,
    idempotency_key: digest.nullable(),
    intent_id: uuid.nullable(),
    execution_id: uuid.nullable(),
    refs,
    dispatch_decision_hash: digest.nullable(),
    dispatch_ms: z.int().min(0).nullable(),
    outcome: digest.nullable(),
  })),

  /** A user asked for what does not exist. */
  'intake.recorded': body(() => ({
    fingerprint: digest,
    user_id: caller_id,
    packet: digest,
    worthiness_bp: bp,
    category: caller_id,
    /** It exists as a draft: linked, not requested again. */
    linked_draft: name.nullable(),
  })),
  'intake.told': body(() => ({ user_id: caller_id, simulation: name })),

  'slo.waived': body(() => ({
    figures: z.array(z.enum(SLO_FIGURES)).min(1).max(SLO_FIGURES.length),
    until: time,
    reason: prose,
    ...signed,
  })),
} as const;
