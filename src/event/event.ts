import { z } from 'zod';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { agentBodies, caller_id } from './agent.ts';
import {
  action,
  attempt,
  decision,
  digest,
  key,
  name,
  prose,
  reason_code,
  roles,
  signed,
  time,
  title,
  uuid,
} from './shape.ts';

/**
 * The closed union of facts. An event says that something happened; it never says what a secret was: bodies hold
 * digests of arguments, outputs and envelopes, whose bytes are erasable objects in the store.
 */

/** What one stream printed. The object is sealed, so no two runs share one; of nothing there is none. */
export const capture = z
  .strictObject({ digest: digest.nullable(), bytes: z.int().min(0), truncated: z.boolean() })
  .refine(({ digest, bytes }) => (digest === null) === (bytes === 0), 'names an object of nothing');

/** The process that took a claim: enough to tell later whether it is still alive. */
const executor = z.strictObject({
  host: z.string().min(1).max(255),
  boot_id: z.string().min(1).max(64),
  pid: z.int().min(1),
  started: z.string().min(1).max(64),
  /** Of the machine, hashed; absent in older entries and where a machine has none. */
  machine: digest.optional(),
  /** Of one opened project in that process. */
  instance: uuid.optional(),
});

/** Where in the ledger the act stands. It is signed, so the same act counts nowhere else. */
const place = z.int().min(1);

/** The account of the operating system that acted, as its host says. No proof: it tells two people on one machine apart. */
const account = z
  .strictObject({
    host: z.string().min(1).max(255),
    machine: digest.nullable(),
    uid: z.int().min(-1),
    user: z.string().min(1).max(255),
  })
  .nullable();

/** What a freeze stops: everything here, one tenant, one proposer, or one tool. */
const target = {
  scope: z.enum(['system', 'tenant', 'agent', 'tool']),
  name: z.string().max(128),
};

const bodies = {
  'system.initialised': z.strictObject({ project_id: uuid, ledger_key: key, version: z.string().max(32) }),

  'key.enrolled': z.strictObject({
    principal: z.enum(['human', 'agent']),
    public_key: key.nullable(),
    roles,
    ...signed,
  }),
  'key.revoked': z.strictObject({ reason: prose, ...signed }),
  'role.assigned': z.strictObject({ roles, reason: prose, ...signed }),

  /** The key that signs capabilities from now on. Older ones still verify what they signed. */
  'control_key.added': z.strictObject({ public_key: key, reason: prose, ...signed }),
  'policy.activated': z.strictObject({
    snapshot: digest,
    /** What was active until then, as the human who signs it knows it; null for the first one. */
    replaces: digest.nullable(),
    policies: z.int().min(0).max(limits.policies),
    reason: prose,
    ...signed,
  }),
  'system.frozen': z.strictObject({ ...target, reason: prose, ...signed }),
  'system.unfrozen': z.strictObject({ ...target, reason: prose, ...signed }),

  /** The ledger is accepted as it is, although a kept head says otherwise: a backup was restored, or the head was lost. */
  'head.accepted': z.strictObject({
    seq: place,
    /** How many entries the longest kept head knew; null when none could be read. */
    kept_size: z.int().min(0).nullable(),
    reason: prose,
    ...signed,
  }),

  /** A human says which time it is. It alone may be earlier than the entry before it; `now` is its own time. */
  'clock.accepted': z.strictObject({ seq: place, now: time, reason: prose, ...signed }),

  'delegation.granted': z.strictObject({
    delegate: name,
    delegate_key: key,
    /** Exact actions, or beginnings that end with `*`. */
    actions: z.array(action).min(1).max(64),
    /** Whether what is submitted under it counts as approved by the human at the root of the chain. */
    approves: z.boolean(),
    expires_at: time,
    /** The delegation that this one passes on; none when a human gives it. */
    delegation: uuid.nullable(),
    reason: prose,
    ...signed,
  }),
  'delegation.revoked': z.strictObject({ reason: prose, ...signed }),

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
    /** The proposer's own signature over the hash; without it the name is only a claim. */
    proposer_signature: z.base64().length(88).nullable(),
    /** The key that made that signature. Whether it is the proposer's, the fold asks. */
    proposer_key: key.nullable(),
    account,
    /** The user who asked the agent core for it: whoever asks does not approve, whoever proposes for them. */
    on_behalf_of: caller_id.nullable(),
    actions: z.array(action).min(1).max(64),
    /** Other tools that a human may turn to after a failure, because the intent names them. */
    alternates: z.array(z.strictObject({ tool: title, effect_digest: digest })).max(8),
    /** The intent that this one is a changed form of. */
    replaces: uuid.nullable(),
    /** What its plan takes from files, as it was when it was proposed. */
    contents: z.array(digest).max(100),
    expires_at: time,
  }),
  'intent.refused': z.strictObject({ reason_code, decision: decision.nullable() }),
  'intent.submitted': z.strictObject({ hash: digest, by: name, decision }),
  /** The submission by somebody to whom a human delegated it. */
  'intent.delegated': z.strictObject({
    hash: digest,
    effect_digest: digest,
    delegation: uuid,
    /** The human at the root, when the delegation stands for an approval. */
    approver: z.strictObject({ by: name, key }).nullable(),
    expires_at: time,
    decision,
    ...signed,
  }),

  'approval.granted': z.strictObject({
    hash: digest,
    effect_digest: digest,
    expires_at: time,
    account,
    decision,
    ...signed,
  }),
  'approval.denied': z.strictObject({ hash: digest, reason: prose, ...signed }),

  'capability.issued': z.strictObject({
    capability_id: uuid,
    attempt,
    hash: digest,
    effect_digest: digest,
    action,
    /** The token itself is an object. */
    token: digest,
    audience: z.string().min(1).max(256),
    holder: key.nullable(),
    control_key: key,
    expires_at: time,
    policy: digest,
    decision,
    /**
     * The how-manieth capability for this proposer, where a policy reads that count: judged on an older count, the decision is
     * stale. Null where no policy that judges a grant reads it.
     */
    ordinal: z.int().min(1).nullable(),
    /** The humans whose approvals the decision counted, with the roles that they had. */
    approvers: z.array(z.strictObject({ name, roles })).min(1).max(64),
    /** Issued although it is frozen or a policy forbids it: two humans broke the glass. */
    glass: z.boolean(),
    delegation: uuid.nullable(),
    ...signed,
  }),
  'capability.denied': z.strictObject({
    hash: digest,
    by: name,
    reason_code,
    decision: decision.nullable(),
  }),
  'capability.revoked': z.strictObject({ capability_id: uuid, reason: prose, ...signed }),
  'glass.broken': z.strictObject({ attempt, hash: digest, decision, reason: prose, ...signed }),

  'execution.claimed': z.strictObject({
    execution_id: uuid,
    capability_id: uuid,
    /** What was presented: the token, or a chain that narrows it. */
    presented: digest,
    policy: digest,
    decision,
    attempt,
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    tool: title,
    /** Where a plan keeps its backups and reports, relative to the project: known before anything is changed. */
    reports: z.string().min(1).max(512).nullable(),
    executor,
  }),
  /** Everything that a plan will change was backed up. From here on it may be changed. */
  'execution.checkpointed': z.strictObject({
    execution_id: uuid,
    /** Of the rollback manifest, without what its later status says. */
    manifest: digest,
  }),
  /** A plan wrote down what it is about to do, where no path will show it. It does that only after this is recorded. */
  'execution.announced': z.strictObject({
    execution_id: uuid,
    /** Of the journal of the run, up to here. */
    journal: digest,
  }),
  'execution.refused': z.strictObject({
    hash: digest,
    capability_id: uuid.nullable(),
    reason_code,
    decision: decision.nullable(),
  }),
  /** Something that had to hold while it ran no longer did. What is outstanding for the intent is revoked with it. */
  'violation.detected': z.strictObject({
    execution_id: uuid,
    reason_code,
    decision: decision.nullable(),
    revoked: z.array(uuid).max(limits.outstanding_capabilities),
  }),
  'execution.finished': z.strictObject({
    execution_id: uuid,
    capability_id: uuid,
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
  'retry.authorised': z.strictObject({
    attempt,
    after: uuid,
    hash: digest,
    /** The same effect again, or that of an alternate that the intent names. */
    effect_digest: digest,
    tool: title,
    reason: prose,
    ...signed,
  }),

  'rollback.claimed': z.strictObject({
    execution_id: uuid,
    /** Counted from 1: a rollback that is stuck can be tried again. */
    round: z.int().min(1),
    /** The checkpoints to restore; none stands for all of them. */
    checkpoints: z.array(z.string().min(1).max(128)).max(1000),
    /** Paths that this human leaves as they are. */
    except: z.array(z.string().min(1).max(4096)).max(1000),
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

  /** Written before the first backup of a run goes: from here on its rollback is refused. */
  'backups.expired': z.strictObject({
    execution_id: uuid,
    /** What the human saw that it frees. */
    bytes: z.int().min(0),
    /** It could still be rolled back, and the human who signs gives that up. */
    gives_up_undo: z.boolean(),
    reason: prose,
    ...signed,
  }),

  'object.erased': z.strictObject({ reason: prose, ...signed }),
  /** Old bytes that a gc removed. Unlike erased ones, they are stored again when they are needed again. */
  'object.expired': z.strictObject({ bytes: z.int().min(0), reason: prose, ...signed }),

  ...agentBodies,
} as const;

export type EventKind = keyof typeof bodies;
export type Body<K extends EventKind> = z.infer<(typeof bodies)[K]>;

/**
 * `subject` is what the fact is about: an intent id, a principal's name, an object digest, `agent:<correlation id>`,
 * `simulation:<id>`, `intake:<fingerprint>`, or `system`.
 */
export type Event<K extends EventKind = EventKind> = {
  [P in K]: { readonly kind: P; readonly subject: string; readonly body: Body<P> };
}[K];

/** The events that somebody signs: a human, or a delegate where the event names a delegation. */
export type SignedKind = { [K in EventKind]: Body<K> extends { signature: string } ? K : never }[EventKind];

export function isSigned(event: Event): event is Event<SignedKind> {
  return 'signature' in event.body;
}

/** Whether the event is of one of these kinds. */
export function isOneOf<K extends EventKind>(
  kinds: readonly K[],
  event: Event,
): event is Extract<Event, { kind: K }> {
  return (kinds as readonly EventKind[]).includes(event.kind);
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
