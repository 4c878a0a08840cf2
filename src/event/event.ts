import * as z from 'zod';
import { fieldLimits, limits, planLimits, policyLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { agentBodies, caller_id } from './agent.ts';
import { executionBodies } from './execution.ts';
import { type Fits, fitsOf } from './fits.ts';
import { mcpBodies } from './mcp.ts';
import {
  type ActSignature,
  action,
  attempt,
  beside_control,
  body,
  by_control,
  client,
  credential,
  decision,
  digest,
  grantBounds,
  key,
  name,
  proof,
  prose,
  public_key,
  reason_code,
  receipt,
  roles,
  signed,
  time,
  title,
  uuid,
} from './shape.ts';
import { SUBJECT_FORMS } from './subject.ts';

/**
 * The closed union of facts. An event says that something happened; it never says what a secret was: bodies hold
 * digests of arguments, outputs and envelopes, whose bytes are erasable objects in the store.
 */

/** Where in the ledger the act stands. It is signed, so the same act counts nowhere else. */
const place = z.int().min(1);

/** The account of the operating system that acted, as its host says. No proof: it tells two people on one machine apart. */
const account = z
  .strictObject({
    host: z.string().min(1).max(fieldLimits.host_chars),
    machine: digest.nullable(),
    uid: z.int().min(-1),
    user: z.string().min(1).max(fieldLimits.host_chars),
  })
  .nullable();

/** What a freeze stops: everything here, one tenant, one proposer, or one tool. */
const target = {
  scope: z.enum(['system', 'tenant', 'agent', 'tool']),
  name: z.string().max(fieldLimits.reference_chars),
};

/** By the key that becomes known, over the same statement: it shows that the key is held by whom it is enrolled for. */
const own = proof;

const approvers = z.array(z.strictObject({ name, roles })).min(1).max(fieldLimits.listed);

const bodies = {
  'system.initialised': body(() => ({
    project_id: uuid,
    ledger_key: key,
    version: z.string().max(fieldLimits.version_chars),
  })),

  'key.enrolled': body(() => ({
    principal: z.enum(['human', 'agent']),
    /** The first one. An agent may have none, and never has another. */
    credential: credential.nullable(),
    own: own.nullable(),
    roles,
    ...signed,
  })),
  /** Of the whole person, with all credentials. */
  'key.revoked': body(() => ({ reason: prose, ...signed })),
  'credential.added': body(() => ({ credential, own, reason: prose, ...signed })),
  'credential.revoked': body(() => ({ public_key, reason: prose, ...signed })),
  /** A secret by which a service identifies an agent. Only its digest is kept. */
  'token.added': body(() => ({ token_id: uuid, digest, reason: prose, ...signed })),
  'token.revoked': body(() => ({ token_id: uuid, reason: prose, ...signed })),
  'role.assigned': body(() => ({
    roles,
    /** What they were until then, as the human who signs it knows it. */
    replaces: roles,
    reason: prose,
    ...signed,
  })),

  /** A host issues capabilities with this key. The key that it replaces issues no more; what that one issued still holds. */
  'control_key.added': body(() => ({
    public_key: key,
    replaces: key.nullable(),
    reason: prose,
    ...signed,
  })),
  /** It issues nothing, and what it issued and was not claimed yet is not run. */
  'control_key.revoked': body(() => ({ public_key: key, reason: prose, ...signed })),
  /** A host may run what is ordered for an executor of this name, or with one of these labels. */
  'executor.added': body(() => ({
    public_key: key,
    name,
    labels: z.array(name).max(limits.executor_labels),
    /** What it was called until then, as the human who signs it knows it; null for another host. */
    replaces: z.strictObject({ name, labels: z.array(name).max(limits.executor_labels) }).nullable(),
    reason: prose,
    ...signed,
  })),
  'executor.revoked': body(() => ({ public_key: key, reason: prose, ...signed })),
  'policy.activated': body(() => ({
    snapshot: digest,
    /** What was active until then, as the human who signs it knows it; null for the first one. */
    replaces: digest.nullable(),
    policies: z.int().min(0).max(policyLimits.policies),
    reason: prose,
    ...signed,
  })),
  'system.frozen': body(() => ({ ...target, reason: prose, ...signed })),
  'system.unfrozen': body(() => ({
    ...target,
    /** The freeze that the human saw: who made it, and when it was written. */
    lifts: z.strictObject({ by: name, at: time }),
    reason: prose,
    ...signed,
  })),

  /** The ledger is accepted as it is, although a kept head says otherwise: a backup was restored, or the head was lost. */
  'head.accepted': body(() => ({
    seq: place,
    /** How many entries the longest kept head knew; null when none could be read. */
    kept_size: z.int().min(0).nullable(),
    /** Entries that were kept are not there, or nothing could be compared: what they recorded is forgotten. */
    forgets: z.boolean(),
    reason: prose,
    ...signed,
  })),

  /** A human says which time it is. It alone may be earlier than the entry before it; `now` is its own time. */
  'clock.accepted': body(() => ({ seq: place, now: time, reason: prose, ...signed })),

  ...mcpBodies,

  /** The policies let the client of an agent run a tool of its own: Keyturn neither ran it nor knows what it did. */
  'call.passed': body(() => ({ by: name, client, tool: title, call: digest, decision })),
  /** They did not, or it was frozen. */
  'call.blocked': body(() => ({
    by: name,
    client,
    tool: title,
    call: digest,
    reason_code,
    decision: decision.nullable(),
  })),

  'delegation.granted': body(() => ({
    delegate: name,
    delegate_key: public_key,
    /** Exact actions, or beginnings that end with `*`. */
    actions: z.array(action).min(1).max(fieldLimits.listed),
    /** Whether what is submitted under it counts as approved by the human at the root of the chain. */
    approves: z.boolean(),
    /** How often it may be used, and with which arguments; null for a delegation without such bounds. */
    grant: grantBounds.nullable(),
    expires_at: time,
    /** The delegation that this one passes on; none when a human gives it. */
    delegation: uuid.nullable(),
    reason: prose,
    ...signed,
  })),
  'delegation.revoked': body(() => ({ reason: prose, ...signed })),

  'intent.proposed': body(() => ({
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    effect: z.enum(['tool', 'plan', 'mcp']),
    /** The tool, the id of the plan, or the server and its tool. */
    tool: title,
    /** What a freeze of a tool can name to stop it: all tools that would run, those of a pipeline's steps too, and a plan by its id. */
    tools: z
      .array(title)
      .min(1)
      .max(limits.tools + 1),
    /** How many humans must sign. A plan that touches protected files needs two. */
    approvals_needed: z.int().min(1).max(policyLimits.seats),
    proposer: name,
    proposer_kind: z.enum(['human', 'agent']),
    /** The proposer's own signature over the hash; without it the name is only a claim. */
    proposer_signature: proof.nullable(),
    /** The key that made that signature. Whether it is the proposer's, the fold asks. */
    proposer_key: public_key.nullable(),
    account,
    /** The user who asked the agent core for it: the one who asks does not approve, nor does the one who proposes for them. */
    on_behalf_of: caller_id.nullable(),
    actions: z.array(action).min(1).max(fieldLimits.listed),
    /** Other tools that a human may turn to after a failure, because the intent names them. */
    alternates: z.array(z.strictObject({ tool: title, effect_digest: digest })).max(fieldLimits.alternates),
    /** The intent that this one is a changed form of. */
    replaces: uuid.nullable(),
    /** The intent whose run this one undoes, by the call that its tool declared. */
    undoes: uuid.nullable(),
    /** What its plan takes from files, as it was when it was proposed. */
    contents: z.array(digest).max(planLimits.files),
    /** The digest of the receipt that the proposer was given. Who has the receipt may withdraw the intent. */
    receipt: digest,
    expires_at: time,
  })),
  /** By its proposer, who proves to be that with the receipt of the proposal or with a signature, for good. */
  'intent.withdrawn': body(() => ({
    hash: digest,
    by: name,
    reason: prose,
    receipt: receipt.nullable(),
    proposer_signature: proof.nullable(),
    proposer_key: public_key.nullable(),
  })),
  /** A human changed it before it was approved: what they propose in its place is another intent, in their own name. */
  'intent.replaced': body(() => ({
    hash: digest,
    replacement: uuid,
    replacement_hash: digest,
    ...signed,
  })),
  'intent.refused': body(() => ({ reason_code, decision: decision.nullable() })),
  'intent.submitted': body(() => ({ hash: digest, by: name, decision, ...beside_control })),
  /** The submission by an agent to which a human delegated it. */
  'intent.delegated': body(() => ({
    hash: digest,
    effect_digest: digest,
    delegation: uuid,
    /** The human at the root, when the delegation stands for an approval. */
    approver: z.strictObject({ by: name, key: public_key }).nullable(),
    expires_at: time,
    decision,
    ...beside_control,
    ...signed,
  })),

  'approval.granted': body(() => ({
    hash: digest,
    effect_digest: digest,
    expires_at: time,
    account,
    decision,
    ...beside_control,
    ...signed,
  })),
  'approval.denied': body(() => ({ hash: digest, reason: prose, ...signed })),

  /** A human, or a delegate, orders one run of one attempt, within bounds. The capability for it has the same id. */
  'order.given': body(() => ({
    order_id: uuid,
    attempt,
    hash: digest,
    effect_digest: digest,
    action,
    /** What it may reach and under which conditions, as an object; null for just what the effect needs, under none. */
    bounds: digest.nullable(),
    audience: z.string().min(1).max(fieldLimits.subject_chars),
    holder: key.nullable(),
    /** When what is issued under it ends. */
    expires_at: time,
    /** Until when a capability may be issued under it. */
    lapses_at: time,
    /** The same signature approves the intent until then; null where it only orders. */
    approves_until: time.nullable(),
    delegation: uuid.nullable(),
    account,
    /** The humans whose approvals stand behind it, with the roles that they have. */
    approvers,
    /** That this human may approve; null where it only orders. The fold refuses an order that has one of the two alone. */
    decision: decision.nullable(),
    ...beside_control,
    ...signed,
  })),
  /** The control plane issues what was ordered. Its key signs it. */
  'capability.issued': body(() => ({
    /** That of its order. */
    capability_id: uuid,
    attempt,
    hash: digest,
    effect_digest: digest,
    action,
    /** The token itself is an object. */
    token: digest,
    expires_at: time,
    policy: digest,
    decision,
    /**
     * The how-manieth capability for this proposer, where a policy reads that count: judged on an older count, the decision is
     * stale. Null where no policy that judges a grant reads it.
     */
    ordinal: z.int().min(1).nullable(),
    /** The humans whose approvals the decision counted, with the roles that they had. */
    approvers,
    /** Issued although it is frozen or a policy forbids it: two humans confirmed a break-glass. */
    break_glass: z.boolean(),
    ...by_control,
  })),
  'capability.denied': body(() => ({
    hash: digest,
    by: name,
    reason_code,
    decision: decision.nullable(),
  })),
  /** The policies do not let it be issued, and the order ends with that. */
  'order.denied': body(() => ({
    order_id: uuid,
    hash: digest,
    reason_code,
    decision: decision.nullable(),
  })),
  'capability.revoked': body(() => ({ capability_id: uuid, reason: prose, ...signed })),
  'break_glass.used': body(() => ({
    attempt,
    hash: digest,
    decision,
    reason: prose,
    ...beside_control,
    ...signed,
  })),

  ...executionBodies,

  /** Written before the first backup of a run goes: from here on its rollback is refused. */
  'backups.expired': body(() => ({
    execution_id: uuid,
    /** What the human saw that it frees. */
    bytes: z.int().min(0),
    /** It could still be rolled back, and the human who signs gives that up. */
    gives_up_undo: z.boolean(),
    reason: prose,
    ...signed,
  })),

  /** Entries from `from` up to `to`, without it, are in a file with the objects that they name. They stay in the ledger, too. */
  'ledger.archived': body(() => ({
    from: z.int().min(0),
    to: z.int().min(1),
    /** Its name, without its folder. */
    file: z.string().min(1).max(fieldLimits.host_chars),
    sha256: digest,
    bytes: z.int().min(1),
    reason: prose,
    ...signed,
  })),

  'object.erased': body(() => ({
    /** What the human saw that is lost with it: the intents and conversations that need it, and what each could no longer do. */
    needed_by: z
      .array(
        z.strictObject({
          subject: z.string().min(1).max(fieldLimits.subject_chars),
          /** To be approved, run, retried or answered. */
          stops: z.boolean(),
          /** The execution or the conversation that could no longer be undone; null where none could. */
          undo: z.string().min(1).max(fieldLimits.subject_chars).nullable(),
        }),
      )
      .max(fieldLimits.listed),
    reason: prose,
    ...signed,
  })),
  /** Old bytes that a gc removed. Unlike erased ones, they are stored again when they are needed again. */
  'object.expired': body(() => ({ bytes: z.int().min(0), reason: prose, ...signed })),

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

/** The events that carry a signature: a human, or a delegate where the event names a delegation. */
export type SignedKind = {
  [K in EventKind]: Body<K> extends Pick<ActSignature, 'signature'> ? K : never;
}[EventKind];

export function isSigned(event: Event): event is Event<SignedKind> {
  return 'signature' in event.body;
}

/** The name whose key signed it; null where no key of a person or an agent did. */
export function signedBy({ body }: { readonly body: object }): string | null {
  const { by, signature, proposer, proposer_signature } = body as Readonly<Record<string, unknown>>;
  const name = signature !== undefined || proposer_signature ? (by ?? proposer) : null;
  return typeof name === 'string' ? name : null;
}

/** What the control plane decided, of its own or beside an act. One signature of its key covers all of them in a commit. */
const CONTROLLED = [
  'intent.submitted',
  'intent.delegated',
  'approval.granted',
  'order.given',
  'break_glass.used',
] as const;

export type ControlledKind = (typeof CONTROLLED)[number];

export type ControlProof = z.infer<z.ZodObject<typeof beside_control>>;

/** An event that the control plane has yet to sign, if it is one of its kinds. */
export type Drafted<K extends EventKind = EventKind> = {
  [P in K]: P extends ControlledKind
    ? { readonly kind: P; readonly subject: string; readonly body: Omit<Body<P>, keyof ControlProof> }
    : Event<P>;
}[K];

export function isControlled({ kind }: { readonly kind: EventKind }): boolean {
  return (CONTROLLED as readonly EventKind[]).includes(kind);
}

const CONTROL_PROOF = ['control_key', 'control_signature', 'control_covers'] as const;

/** The members of an act that its human neither saw nor signed. */
const BESIDE: { readonly [K in SignedKind]?: readonly (keyof Body<K>)[] } = {
  'key.enrolled': ['own'],
  'credential.added': ['own'],
  'approval.granted': ['account', 'decision', ...CONTROL_PROOF],
  'order.given': ['account', 'approvers', 'decision', ...CONTROL_PROOF],
  'intent.delegated': ['decision', ...CONTROL_PROOF],
  'break_glass.used': ['decision', ...CONTROL_PROOF],
  'rollback.claimed': ['executor', 'executor_key', 'executor_signature'],
};

export function besideOf(kind: SignedKind): readonly string[] {
  return BESIDE[kind] ?? [];
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
  const parsed = schemaOf(value.kind).safeParse(value.body);
  if (!parsed.success) refuse('SHAPE_INVALID', `${value.kind}: ${describeIssue(parsed.error)}`);
  requireSubject(value.kind as EventKind, value.subject);
  return { kind: value.kind, subject: value.subject, body: parsed.data } as Event;
}

/** The first word of a kind. */
type Topic = EventKind extends `${infer Word}.${string}` ? Word : never;

const SUBJECTS: Readonly<Record<Topic, RegExp>> = SUBJECT_FORMS;

/** Refuses an event about something that its kind is never about. */
function requireSubject(kind: EventKind, subject: string): void {
  const topic = kind.slice(0, kind.indexOf('.')) as Topic;
  if (!SUBJECTS[topic].test(subject)) refuse('SHAPE_INVALID', `${kind}: the subject is no such thing.`);
}

function schemaOf(kind: string): (typeof bodies)[EventKind] {
  return Object.hasOwn(bodies, kind)
    ? bodies[kind as EventKind]
    : refuse('SHAPE_INVALID', `There is no event kind "${kind}".`);
}

const FITS = Object.fromEntries(
  Object.entries(bodies).map(([kind, schema]) => [kind, fitsOf(schema)]),
) as Readonly<Record<EventKind, Fits>>;

/** The same of an entry that was read back: its body came from JSON.parse, so it is taken as it is, and no copy of it is made. */
export function eventIn(entry: { kind: string; subject: string; body: unknown }): Event {
  const { kind, subject, body } = entry;
  const fits = Object.hasOwn(FITS, kind) && FITS[kind as EventKind](body);
  if (!fits) return parseEvent(entry);
  requireSubject(kind as EventKind, subject);
  return { kind, subject, body } as Event;
}

/** The first thing wrong with a value, with its place. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0]!;
  const place = issue.path.length ? `${issue.path.map(String).join('.')}: ` : '';
  return `${place}${issue.message}`;
}
