import { z } from 'zod';
import { STATUSES } from './statuses.ts';

/** What several answers of `--json` are made of. */

export const id = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .meta({ id: 'id' });
export const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'digest' });
export const time = z.iso.datetime({ precision: 3 }).meta({ id: 'time' });
export const fingerprint = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .meta({ id: 'fingerprint' });
export const name = z.string();
/** `keyturn explain` lists them. */
export const code = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]+$/)
  .meta({ id: 'code' });
export const kind = z.enum(['human', 'agent']);

export const executor = z.strictObject({
  host: z.string(),
  boot_id: z.string(),
  pid: z.int(),
  started: z.string(),
  machine: digest.optional(),
  instance: id.optional(),
});

export const status = z.enum(STATUSES);

/** A capability as the ledger tells it. */
export const recorded = z
  .strictObject({
    capability_id: id,
    attempt: z.int(),
    action: z.string(),
    effect_digest: digest,
    token: digest,
    holder: z.string().nullable(),
    by: name,
    key: z.string(),
    delegation: id.nullable(),
    issued_at: time,
    expires_at: time,
    glass: z.boolean(),
    /** Whom the decision to grant it counted, with the roles that they had. */
    approvers: z.array(z.strictObject({ name, roles: z.array(z.string()).readonly() }).readonly()).readonly(),
    status: z.enum(['issued', 'spent', 'revoked']),
  })
  .meta({ id: 'capability' });

const account = z
  .strictObject({ host: z.string(), machine: digest.nullable(), uid: z.int(), user: z.string() })
  .readonly();

export const intent = z
  .strictObject({
    intent_id: id,
    status,
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    effect: z.enum(['tool', 'plan']),
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
    choices: z.array(z.strictObject({ tool: name, effect_digest: digest }).readonly()).readonly(),
    replaces: id.nullable(),
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
            assurance: z.enum(['passphrase', 'delegation']),
            account: account.nullable(),
            delegation: id.nullable(),
          })
          .readonly(),
      )
      .readonly(),
    capabilities: z.array(recorded.readonly()).readonly(),
    /** The humans who broke the glass for the present attempt. */
    glass: z.array(z.strictObject({ by: name, key: z.string(), at: time }).readonly()).readonly(),
    /** Who submitted it under a delegation. */
    delegates: z.array(name).readonly(),
    attempt: z.int(),
    runs: z
      .array(
        z
          .strictObject({
            execution_id: id,
            capability_id: id,
            tool: name,
            attempt: z.int(),
            claimed_at: time,
            executor,
            finished_at: time.nullable(),
            result: z.enum(['success', 'failure', 'partial', 'rolled_back']).nullable(),
            exit_code: z.int().nullable(),
            reports: z.string().nullable(),
            manifest: digest.nullable(),
            journal: digest.nullable(),
            /** When its backups were given up; `null` while they are kept. */
            expired_at: time.nullable(),
          })
          .readonly(),
      )
      .readonly(),
    rollback: z
      .strictObject({
        round: z.int(),
        from: status,
        by: name,
        claimed_at: time,
        executor,
        result: z.enum(['complete', 'partial', 'stuck']).nullable(),
      })
      .readonly()
      .nullable(),
    /** The status as it is now: the clock counts. */
    standing: z.enum([
      'waiting',
      'expired',
      'rejected',
      'approved',
      'approval expired',
      'IN DOUBT',
      'succeeded',
      'failed',
      'happened',
      'rolled back',
      'undone',
      'STUCK',
    ]),
  })
  .meta({ id: 'intent' });

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
    summary: z.string(),
    executable: z.string(),
    sandbox: z.union([z.literal('none'), z.looseObject({})]),
    undo: z.enum(['exact', 'compensating', 'none']),
    timeout_s: z.int(),
    parameters: z.record(z.string(), parameter),
  })
  .meta({ id: 'tool' });

export const report = z
  .strictObject({
    dry_run: z.literal(false),
    execution_id: id,
    intent_id: id,
    capability_id: id,
    tool: name,
    outcome: z.enum(['success', 'failure', 'partial', 'rolled_back']),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    finished_at: time,
    stdout: z.string(),
    stderr: z.string(),
    /** Where the reports of a plan are; `null` for a tool. */
    folder: z.string().nullable(),
    /** Why not all of them are there; `plan report` makes them again. */
    reports_missing: z.string().nullable(),
  })
  .meta({ id: 'report' });

/** The backups of one run, as `gc` lists them. */
const gcRun = z.strictObject({
  execution_id: id,
  intent_id: id,
  at: time,
  folder: z.string(),
  files: z.int(),
  bytes: z.int(),
  undoable: z.boolean(),
  /** An earlier gc recorded that they expired and was ended before it removed them. */
  begun: z.boolean(),
  /** Why it stays whatever its age; `null` where age and size decide. */
  kept: code.nullable(),
});

/** A stored object, as `gc` lists it. */
const gcObject = z.strictObject({
  digest,
  bytes: z.int(),
  role: z.string(),
  /** When an entry named it last. */
  at: time,
  subjects: z.array(z.string()),
  /** Executions and conversations whose undo goes with it. */
  undo: z.array(z.string()),
});

const gcStay = z.strictObject({
  why: z.enum(['rules', 'in_use', 'undoable', 'unnamed', 'damaged', 'new_or_small']),
  objects: z.int(),
  bytes: z.int(),
  /** The first few of them. */
  digests: z.array(digest),
});

export const gcResult = z.strictObject({
  /** What goes, the oldest first; with --preview that is all. */
  removes: z.array(gcRun),
  keeps: z.array(gcRun),
  objects: z.strictObject({ removes: z.array(gcObject), keeps: z.array(gcStay) }),
  /** `null` with --preview, and where there was nothing to remove. */
  removed: z
    .strictObject({
      runs: z.array(
        z.strictObject({
          execution_id: id,
          bytes: z.int(),
          expired: z.boolean(),
          removed: z.boolean(),
          code: code.nullable(),
          message: z.string().nullable(),
        }),
      ),
      objects: z.strictObject({
        objects: z.int(),
        bytes: z.int(),
        /** Listed, and needed again by now. */
        kept: z.array(digest),
        code: code.nullable(),
        message: z.string().nullable(),
      }),
    })
    .nullable(),
  by: name.nullable(),
});
