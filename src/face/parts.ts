import * as z from 'zod';
import { isDigest } from '../canonical/digest.ts';
import { DIGEST_FORM, FINGERPRINT_FORM, UUID_FORM } from '../canonical/form.ts';
import type { JsonObject } from '../canonical/json.ts';
import { isUuid } from '../canonical/uuid.ts';
import { fieldLimits, limits } from '../limits.ts';
import type { ReasonCode } from '../refusal.ts';
import { STATUS_WORDS, STATUSES } from './statuses.ts';

/** What the requests and answers of several verbs are made of. */

export const id = z.string().regex(UUID_FORM).meta({ id: 'id' });
/** An id and a hash in a request: what is none is refused as such. */
export const askedId = z.string().refine(isUuid, { params: { code: 'ID_MALFORMED' } });
export const askedHash = z.string().refine(isDigest, { params: { code: 'HASH_MALFORMED' } });
export const digest = z.string().regex(DIGEST_FORM).meta({ id: 'digest' });
export const time = z.iso.datetime({ precision: 3 }).meta({ id: 'time' });
export const fingerprint = z.string().regex(FINGERPRINT_FORM).meta({ id: 'fingerprint' });
export const name = z.string();
/** `keyturn explain` lists them. */
export const code = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]+$/)
  .meta({ id: 'code' });
/** One of those that refuse. */
export const reasonCode = code as z.ZodType<string> as z.ZodType<ReasonCode>;
export const kind = z.enum(['human', 'agent']);
/** An Ed25519 key in base64, or the SPKI of a passkey. */
export const publicKey = z.string();
/** What a list is searched for: a part of a text, in any case. */
export const searched = z.string().min(1).max(fieldLimits.line_chars).optional();
/** How many rows a page of a list has unless told, and at most; and where it goes on. */
export const page = {
  /** At this time or later; before this time. */
  since: time.optional(),
  until: time.optional(),
  limit: z.int().min(1).max(limits.page_rows).default(limits.page_rows_default),
  /** `next` of the page before, with the same filters. */
  cursor: z.string().optional(),
};
export const pageEnd = {
  /** Null where there are no more. A page can be shorter than asked for, also empty, and yet go on: only so much is looked at for one. */
  next: z.string().nullable(),
  /** How many rows were looked at for this page, whether they fit or not. */
  looked: z.int(),
};
/** What the proposer says that it is for; null where it was erased, or its stored bytes are damaged. */
export const goal = z.string().nullable();
/** What a signed act says of itself. */
export const why = { by: name, reason: z.string() };

export const freeze = z
  .strictObject({
    scope: z.enum(['system', 'tenant', 'agent', 'tool']),
    name: z.string(),
    at: time,
    ...why,
  })
  .meta({ id: 'freeze' });

/** Calls of so many of its tools pass without an approval. */
export const shadowedServer = z
  .strictObject({ server: z.string(), tools: z.int() })
  .meta({ id: 'shadowed-server' });

export const executor = z.strictObject({
  host: z.string(),
  boot_id: z.string(),
  pid: z.int(),
  started: z.string(),
  machine: digest.optional(),
  instance: id.optional(),
});

export const status = z.enum(STATUSES);

export const statusWord = z.enum(STATUS_WORDS).meta({ id: 'status-word' });

/** Whom the policies ask to look at what waits; `null`: all who could approve it, and always to an agent. It gives no right to approve. */
export const reviewers = z.array(name).readonly().nullable();

/** Which executors an order waits for, by name or label. What none takes in time lapses. */
export const awaited = z
  .strictObject({
    executor: z.string(),
    enrolled: z.int(),
    /** How many of them said lately that they run. */
    running: z.int(),
    /** Whether the host that answers is one of them. */
    is_here: z.boolean(),
  })
  .readonly()
  .meta({ id: 'waits-for' });

/** A capability as the ledger tells it. */
export const recorded = z
  .strictObject({
    capability_id: id,
    attempt: z.int(),
    action: z.string(),
    effect_digest: digest,
    /** What the order lets it reach; `null` for just what the effect needs. */
    bounds: digest.nullable(),
    audience: z.string(),
    holder: z.string().nullable(),
    by: name,
    key: z.string(),
    delegation: id.nullable(),
    ordered_at: time,
    /** Whose approvals stand behind the order. */
    approvers: z.array(z.strictObject({ name, roles: z.array(z.string()).readonly() }).readonly()).readonly(),
    /** Until when it may be issued. */
    lapses_at: time,
    expires_at: time,
    /** What was issued; `null` while it is only ordered. */
    issued: z
      .strictObject({
        at: time,
        token: digest,
        control_key: publicKey,
        break_glass: z.boolean(),
        /** Whom the decision to issue it counted, with the roles that they had. */
        approvers: z
          .array(z.strictObject({ name, roles: z.array(z.string()).readonly() }).readonly())
          .readonly(),
      })
      .nullable(),
    status: z.enum(['ordered', 'issued', 'denied', 'spent', 'revoked']),
  })
  .meta({ id: 'capability' });

const account = z
  .strictObject({ host: z.string(), machine: digest.nullable(), uid: z.int(), user: z.string() })
  .readonly();

/** A run as the ledger tells it. */
export const runRecord = z
  .strictObject({
    execution_id: id,
    capability_id: id,
    tool: name,
    attempt: z.int(),
    claimed_at: time,
    executor,
    executor_key: z.string(),
    finished_at: time.nullable(),
    result: z.enum(['success', 'failure', 'partial', 'rolled_back']).nullable(),
    exit_code: z.int().nullable(),
    reports: z.string().nullable(),
    manifest: digest.nullable(),
    journal: digest.nullable(),
    /** When its backups were given up; `null` while they are kept. */
    expired_at: time.nullable(),
    /** The human who stopped it; `null` while it was not stopped. */
    stopped: z.strictObject({ by: name, at: time }).readonly().nullable(),
  })
  .meta({ id: 'run' });

const choice = z.strictObject({
  tool: name,
  effect_digest: digest,
  /** What a freeze of a tool can name to stop it: all tools that would run, and a plan by its id. */
  tools: z.array(name).readonly(),
});

export const intent = z
  .strictObject({
    intent_id: id,
    status,
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    effect: z.enum(['tool', 'plan', 'mcp']),
    tool: name,
    approvals_needed: z.int(),
    proposer: name,
    proposer_kind: kind,
    /** The proposer signed the hash; otherwise the name is only a claim. */
    proposer_verified: z.boolean(),
    /** The account that proposed it, as its host said. */
    account: account.nullable(),
    /** The user for whom the agent core proposed it. */
    on_behalf_of: z.string().nullable(),
    actions: z.array(z.string()).readonly(),
    /** What the intent names: first what it asks for, then what a human may turn to after a failure. */
    choices: z.array(choice.readonly()).readonly(),
    replaces: id.nullable(),
    /** The intent whose run this one undoes, by the call that its tool declared. */
    undoes: id.nullable(),
    /** What a human proposed in its place, which ended it. */
    replaced_by: id.nullable(),
    /** The digest of the receipt that its proposer has. */
    receipt: digest,
    proposed_at: time,
    expires_at: time,
    approvals: z
      .array(
        z
          .strictObject({
            by: name,
            key: z.string(),
            signed_at: time,
            expires_at: time,
            assurance: z.enum(['delegation', 'key_file', 'synced_passkey', 'device_bound_passkey']),
            account: account.nullable(),
            delegation: id.nullable(),
          })
          .readonly(),
      )
      .readonly(),
    capabilities: z.array(recorded.readonly()).readonly(),
    /** The humans who confirmed a break-glass for the present attempt. */
    break_glass: z.array(z.strictObject({ by: name, key: z.string(), at: time }).readonly()).readonly(),
    /** Who submitted it under a delegation. */
    delegates: z.array(name).readonly(),
    attempt: z.int(),
    runs: z.array(runRecord.readonly()).readonly(),
    rollback: z
      .strictObject({
        round: z.int(),
        from: status,
        by: name,
        claimed_at: time,
        executor,
        executor_key: z.string(),
        result: z.enum(['complete', 'partial', 'stuck']).nullable(),
      })
      .readonly()
      .nullable(),
    /** The status as it is now: the clock counts, and who may sign. */
    status_word: statusWord,
    /** The humans whose approvals count now. None once it was decided on, expired or ran. */
    approvers: z.array(name).readonly(),
    /** How many more humans must approve it; 0 where it waits for no approval. */
    missing: z.int(),
    /** Until when what was ordered can be used; null where nothing is ordered that can be used. */
    ordered_until: time.nullable(),
    reviewers,
  })
  .meta({ id: 'intent' });

/** The intent that undoes a run, by the call that its tool declared. */
export const undoneBy = z
  .strictObject({
    intent_id: id,
    /** It ran. Otherwise it waits, runs, or is in doubt. */
    is_done: z.boolean(),
  })
  .meta({ id: 'undone-by' });

export const approval = z
  .strictObject({
    intent_id: id,
    hash: digest,
    by: name,
    expires_at: time,
    /** How many more humans must approve it. */
    missing: z.int(),
  })
  .meta({ id: 'approval' });
export const rejection = z
  .strictObject({ intent_id: id, hash: digest, by: name, reason: z.string() })
  .meta({ id: 'rejection' });

export const parameter = z
  .looseObject({
    type: z.enum(['string', 'integer', 'number', 'boolean', 'path', 'list']),
    required: z.boolean(),
    default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    enum: z.array(z.union([z.string(), z.number()])).optional(),
  })
  .meta({ id: 'parameter' });

export const tool = z
  .strictObject({
    name,
    /** What a delegation or a grant names. */
    action: z.string(),
    /** Of its entry in the registry, as a grant binds it. */
    pin: digest,
    summary: z.string(),
    executable: z.string(),
    sandbox: z.union([z.literal('none'), z.looseObject({})]),
    undo: z.enum(['exact', 'compensating', 'none']),
    timeout_s: z.int(),
    parameters: z.record(z.string(), parameter),
  })
  .meta({ id: 'tool' });

/** Why bytes are not there: an entry says that they were removed, they are lost, or the file came without. */
export const absence = z.union([
  z.enum(['erased', 'missing', 'left out']),
  z
    .strictObject({
      expired: z
        .strictObject({
          at: time,
          by: name,
          archive: z.strictObject({ file: z.string(), sha256: digest }).readonly().optional(),
        })
        .readonly(),
    })
    .readonly(),
]);

/** What a run printed, as text; or why that is not there. */
export const output = z
  .union([
    z.strictObject({ stdout: z.string(), stderr: z.string() }).readonly(),
    z.strictObject({ absent: absence }).readonly(),
  ])
  .meta({ id: 'output' });

/** Any JSON by name. Zod's own type of it has arrays that can be changed, and nothing of ours has. */
export const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;
