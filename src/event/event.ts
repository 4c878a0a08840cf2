import { z } from 'zod';
import { limits } from '../limits.ts';
import { type ReasonCode, reasonCodes, refuse } from '../refusal.ts';

/**
 * The closed union of facts. An event says that something happened; it never says what a secret was: bodies hold
 * digests of arguments, outputs and envelopes, whose bytes are erasable objects in the store.
 */

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const time = z.iso.datetime({ precision: 3 });
const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);
const title = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
const key = z.base64().length(44);
const prose = z.string().min(1).max(limits.prose_chars);
const attempt = z.int().min(1);
const reason_code = z.enum(reasonCodes as [ReasonCode, ...ReasonCode[]]);

/** What every act of a human carries: who, with which key, when, and the signature over the whole event. */
const signed = { by: name, key, signed_at: time, signature: z.base64().length(88) };

const capture = z.strictObject({ digest, bytes: z.int().min(0), truncated: z.boolean() });

/** The process that took a claim: enough to tell later whether it is still alive. */
const executor = z.strictObject({
  host: z.string().min(1).max(255),
  boot_id: z.string().min(1).max(64),
  pid: z.int().min(1),
  started: z.string().min(1).max(64),
});

const bodies = {
  'system.initialised': z.strictObject({ project_id: uuid, ledger_key: key, version: z.string().max(32) }),

  'key.enrolled': z.strictObject({
    principal: z.enum(['human', 'agent']),
    public_key: key.nullable(),
    ...signed,
  }),
  'key.revoked': z.strictObject({ reason: prose, ...signed }),

  'intent.proposed': z.strictObject({
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    effect: z.enum(['tool', 'plan']),
    /** The tool, or the id of the plan. */
    tool: title,
    /** How many humans must sign. A plan that touches protected files needs two. */
    approvals_needed: z.int().min(1).max(9),
    proposer: name,
    proposer_kind: z.enum(['human', 'agent']),
    expires_at: time,
  }),
  'intent.refused': z.strictObject({ reason_code }),
  'intent.submitted': z.strictObject({ hash: digest, by: name }),

  'approval.granted': z.strictObject({ hash: digest, effect_digest: digest, expires_at: time, ...signed }),
  'approval.denied': z.strictObject({ hash: digest, reason: prose, ...signed }),

  'execution.claimed': z.strictObject({
    execution_id: uuid,
    attempt,
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    tool: title,
    /** Where a plan keeps its backups and reports, relative to the project: known before anything is changed. */
    reports: z.string().min(1).max(512).nullable(),
    executor,
  }),
  'execution.refused': z.strictObject({ hash: digest, reason_code }),
  'execution.finished': z.strictObject({
    execution_id: uuid,
    attempt,
    tool: title,
    result: z.enum(['success', 'failure', 'partial', 'rolled_back']),
    reason_code: reason_code.nullable(),
    exit_code: z.int().nullable(),
    signal: z.string().max(16).nullable(),
    started_at: time,
    finished_at: time,
    stdout: capture,
    stderr: capture,
    /** The reports of a plan, by name. */
    reports: z.record(z.string().regex(/^[a-z_]{1,40}$/), digest),
  }),
  'execution.resolved': z.strictObject({
    execution_id: uuid,
    attempt,
    outcome: z.enum(['happened', 'did_not_happen']),
    reason: prose,
    ...signed,
  }),
  'retry.authorised': z.strictObject({ attempt, after: uuid, hash: digest, reason: prose, ...signed }),

  'rollback.claimed': z.strictObject({
    execution_id: uuid,
    /** Counted from 1: a rollback that is stuck can be tried again. */
    round: z.int().min(1),
    /** The checkpoints to restore; none stands for all of them. */
    checkpoints: z.array(z.string().min(1).max(128)).max(1000),
    executor,
    reason: prose,
    ...signed,
  }),
  'rollback.finished': z.strictObject({
    execution_id: uuid,
    round: z.int().min(1),
    /** `partial`: only the checkpoints that were asked for. `stuck`: some path could not be restored. */
    result: z.enum(['complete', 'partial', 'stuck']),
    report: digest,
  }),

  'object.erased': z.strictObject({ reason: prose, ...signed }),
} as const;

export type EventKind = keyof typeof bodies;
export type Body<K extends EventKind> = z.infer<(typeof bodies)[K]>;

/** `subject` is what the fact is about: an intent id, a principal's name, an object digest, or `system`. */
export type Event<K extends EventKind = EventKind> = {
  [P in K]: { readonly kind: P; readonly subject: string; readonly body: Body<P> };
}[K];

/** The events that a human signs. */
export type SignedKind = { [K in EventKind]: Body<K> extends { signature: string } ? K : never }[EventKind];

export function isSigned(event: Event): event is Event<SignedKind> {
  return 'signature' in event.body;
}

/** Refuses an event whose body is not exactly of its kind. Called on every append and on every rebuild. */
export function parseEvent(value: { kind: string; subject: string; body: unknown }): Event {
  const schema = Object.hasOwn(bodies, value.kind) ? bodies[value.kind as EventKind] : undefined;
  if (!schema) refuse('SHAPE_INVALID', `There is no event kind "${value.kind}".`);
  const parsed = schema.safeParse(value.body);
  if (!parsed.success) refuse('SHAPE_INVALID', `${value.kind}: ${describeIssue(parsed.error)}`);
  return { kind: value.kind, subject: value.subject, body: parsed.data } as Event;
}

/** The first thing wrong with a value, with its place. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0]!;
  const place = issue.path.length ? `${issue.path.map(String).join('.')}: ` : '';
  return `${place}${issue.message}`;
}
