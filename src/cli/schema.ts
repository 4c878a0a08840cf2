import { z } from 'zod';
import { STATUSES } from './statuses.ts';

/** What `--json` prints, command by command. schemas/cli.json is made from this by scripts/schemas.mjs. */

export const id = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .meta({ id: 'id' });
export const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'digest' });
const time = z.iso.datetime({ precision: 3 }).meta({ id: 'time' });
const fingerprint = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .meta({ id: 'fingerprint' });
const name = z.string();
/** `keyturn explain` lists them. */
export const code = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]+$/)
  .meta({ id: 'code' });
const kind = z.enum(['human', 'agent']);

const executor = z.strictObject({ host: z.string(), boot_id: z.string(), pid: z.int(), started: z.string() });

const status = z.enum(STATUSES);

const intent = z
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
    proposed_at: time,
    expires_at: time,
    approvals: z
      .array(z.strictObject({ by: name, key: z.string(), signed_at: time, expires_at: time }).readonly())
      .readonly(),
    attempt: z.int(),
    runs: z
      .array(
        z
          .strictObject({
            execution_id: id,
            attempt: z.int(),
            claimed_at: time,
            executor,
            finished_at: time.nullable(),
            result: z.enum(['success', 'failure', 'partial', 'rolled_back']).nullable(),
            exit_code: z.int().nullable(),
            reports: z.string().nullable(),
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

const approval = z
  .strictObject({
    intent_id: id,
    hash: digest,
    by: name,
    expires_at: time,
    /** How many more humans must approve it. */
    missing: z.int(),
  })
  .meta({ id: 'approval' });
const rejection = z
  .strictObject({ intent_id: id, hash: digest, by: name, reason: z.string() })
  .meta({ id: 'rejection' });

const parameter = z
  .looseObject({
    type: z.enum(['string', 'integer', 'number', 'boolean', 'path', 'list']),
    required: z.boolean(),
    default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    enum: z.array(z.union([z.string(), z.number()])).optional(),
  })
  .meta({ id: 'parameter' });

const tool = z
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

const report = z
  .strictObject({
    dry_run: z.literal(false),
    execution_id: id,
    intent_id: id,
    tool: name,
    outcome: z.enum(['success', 'failure', 'partial', 'rolled_back']),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    finished_at: time,
    stdout: z.string(),
    stderr: z.string(),
    /** Where the reports of a plan are; `null` for a tool. */
    folder: z.string().nullable(),
  })
  .meta({ id: 'report' });

const results = {
  init: z.strictObject({ project: z.string(), name, ledger_key: fingerprint }),
  'identity add': z.strictObject({ name, kind, public_key: z.string().nullable() }),
  'identity list': z.strictObject({
    principals: z.array(
      z
        .strictObject({
          name,
          kind,
          public_key: z.string().nullable(),
          status: z.enum(['active', 'revoked']),
          enrolled_at: time,
          enrolled_by: name,
        })
        .readonly(),
    ),
  }),
  'identity revoke': z.strictObject({ name, reason: z.string(), by: name }),
  doctor: z.strictObject({
    checks: z.array(
      z.strictObject({ name: z.string(), ok: z.boolean(), found: z.string(), code: code.nullable() }),
    ),
  }),
  explain: z.strictObject({
    reasons: z.array(
      z
        .strictObject({
          code,
          number: z.int(),
          category: z.string(),
          meaning: z.string(),
          advice: z.string(),
        })
        .readonly(),
    ),
  }),
  propose: z.strictObject({
    intent_id: id,
    hash: digest,
    tool: name,
    effect_digest: digest,
    proposer: name,
    expires_at: time,
  }),
  'plan validate': z.strictObject({
    plan_id: z.string().nullable(),
    actions: z.int(),
    problems: z.array(
      z.strictObject({ line: z.int(), column: z.int(), pointer: z.string(), code, message: z.string() }),
    ),
  }),
  'plan preview': z.strictObject({
    plan_id: z.string(),
    effect: z.looseObject({ kind: z.literal('plan') }),
    preview: z.string(),
  }),
  rollback: z.strictObject({
    execution_id: id,
    status: z.enum(['rolled_back', 'stuck', 'preview']),
    paths: z.array(
      z.strictObject({
        path: z.string(),
        step: z.enum(['nothing', 'restore', 'remove', 'move_back', 'refuse']),
        done: z.boolean(),
        code: code.nullable(),
        message: z.string().nullable(),
      }),
    ),
    folders_removed: z.array(z.string()),
    not_undone: z.array(z.string()),
    instructions: z.array(z.string()),
  }),
  list: z.strictObject({ intents: z.array(intent), next: id.nullable() }),
  show: z.strictObject({
    intent,
    /** `null` when it was erased. */
    envelope: z.looseObject({ declared_goal: z.string() }).nullable(),
    effect: z.looseObject({ kind: z.enum(['tool', 'plan']) }).nullable(),
    outputs: z.array(z.strictObject({ execution_id: id, stdout: digest, stderr: digest }).readonly()),
    output: z.strictObject({ stdout: z.string().nullable(), stderr: z.string().nullable() }).nullable(),
  }),
  review: z.strictObject({
    approved: z.array(approval),
    rejected: z.array(rejection),
    skipped: z.array(id),
  }),
  approve: approval,
  reject: rejection,
  status: z.strictObject({
    in_doubt: z.array(
      z.strictObject({
        execution_id: id,
        intent_id: id,
        tool: name,
        since: time,
        host: z.string(),
        pid: z.int(),
        state: z.enum(['alive', 'dead', 'other-host', 'killed']),
      }),
    ),
    /** Executions whose rollback is not complete. */
    stuck: z.array(id),
    failed: z.array(id),
    waiting: z.array(id),
    approval_expired: z.array(id),
    approved: z.array(z.strictObject({ intent_id: id, hash: digest })),
  }),
  check: z.strictObject({ intent_id: id, hash: digest, eligible: z.literal(true) }),
  run: z.union([
    z.strictObject({
      dry_run: z.literal(true),
      intent_id: id,
      hash: digest,
      tool: name,
      argv: z.array(z.string()),
    }),
    report,
  ]),
  retry: z.strictObject({ intent_id: id, hash: digest, attempt: z.int(), by: name, reason: z.string() }),
  resolve: z.strictObject({
    execution_id: id,
    intent_id: id,
    outcome: z.enum(['happened', 'did_not_happen']),
    by: name,
    reason: z.string(),
  }),
  'object erase': z.strictObject({ digest, by: name, reason: z.string() }),
  'tool list': z.strictObject({ tools: z.array(tool) }),
  'tool lint': z.strictObject({
    registry: z.string(),
    faults: z.array(z.strictObject({ code, message: z.string(), line: z.int(), column: z.int() }).readonly()),
  }),
  'tool lock': z.strictObject({ registry: z.string(), changed: z.boolean() }),
  'ledger show': z.strictObject({
    entries: z.array(
      z.looseObject({ seq: z.int(), at: time, kind: z.string(), subject: z.string(), prev: digest }),
    ),
  }),
  'ledger verify': z.strictObject({
    what: z.enum(['ledger', 'export', 'proof']),
    size: z.int(),
    root: digest,
    key: fingerprint,
    key_confirmed: z.boolean(),
    kept_heads: z.int(),
    deep: z.boolean(),
  }),
  'ledger head': z.strictObject({
    origin: z.string(),
    size: z.int(),
    root: digest,
    key: fingerprint,
    text: z.string(),
  }),
  'ledger prove': z.strictObject({ intent_id: id, key: fingerprint, bundle: z.string() }),
  'ledger export': z.strictObject({ file: z.string(), key: fingerprint }),
  'ledger rebuild': z.strictObject({
    entries: z.int(),
    rows: z.int(),
    differences: z.array(z.string()),
    written: z.boolean(),
  }),
  completion: z.strictObject({ shell: z.string(), script: z.string() }),
} as const;

export type Result<C extends keyof typeof results> = z.infer<(typeof results)[C]>;

/** The answer of a command that refused, or could not be understood. */
export const problem = z
  .strictObject({
    ok: z.literal(false),
    command: z.string(),
    code,
    number: z.int().min(1000).max(5999),
    message: z.string(),
    advice: z.string(),
    /** What was checked and found. A decision adds its `lines`, a failed run its whole report. */
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'problem' });

/** The JSON Schema of everything that `--json` prints. */
export function answerJsonSchema(): object {
  const answers = Object.entries(results).map(([command, result]) =>
    z
      .strictObject({ ok: z.literal(true), command: z.literal(command), result })
      .meta({ id: `answer-${command.replace(' ', '-')}` }),
  );
  return { title: 'What keyturn --json prints', ...z.toJSONSchema(z.union([problem, ...answers])) };
}
