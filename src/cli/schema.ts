import { z } from 'zod';
import { agentResults } from './schema-agent.ts';
import { authorityResults, freeze } from './schema-authority.ts';
import { ledgerResults } from './schema-ledger.ts';
import {
  approval,
  code,
  digest,
  fingerprint,
  gcResult,
  id,
  intent,
  name,
  rejection,
  report,
  time,
  tool,
} from './schema-parts.ts';
import { shown } from './schema-shown.ts';

/** What `--json` prints, command by command. schemas/cli.json is made from this by scripts/schemas.mjs. */

const results = {
  ...authorityResults,
  ...agentResults,
  ...ledgerResults,
  init: z.strictObject({ project: z.string(), name, ledger_key: fingerprint }),
  doctor: z.strictObject({
    checks: z.array(
      z.strictObject({ name: z.string(), ok: z.boolean(), found: z.string(), code: code.nullable() }),
    ),
  }),
  'clock accept': z.strictObject({ now: time, by: name, reason: z.string() }),
  explain: z.strictObject({
    reasons: z.array(
      z
        .strictObject({
          code,
          /** `null` for what is no refusal: why a conversation waits, went on or ended. */
          number: z.int().nullable(),
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
    /** Whether the proposer's key signed it. */
    signed: z.boolean(),
    replaces: id.nullable(),
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
    shown,
  }),
  'plan report': z.strictObject({
    execution_id: id,
    folder: z.string(),
    /** The reports that were missing and are there now. */
    written: z.array(z.string()),
  }),
  rollback: z.strictObject({
    execution_id: id,
    status: z.enum(['rolled_back', 'stuck', 'preview']),
    paths: z.array(
      z.strictObject({
        path: z.string(),
        step: z.enum(['nothing', 'restore', 'remove', 'move_back', 'refuse', 'except']),
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
  review: z.strictObject({
    approved: z.array(approval),
    rejected: z.array(rejection),
    skipped: z.array(id),
  }),
  approve: approval,
  reject: rejection,
  status: z.strictObject({
    /** What is wrong with the clock of this machine; null when it fits the ledger. */
    clock: z.strictObject({ code, words: z.string() }).nullable(),
    frozen: z.array(freeze),
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
    /** Approved, and without a capability that could be used now. */
    ungranted: z.array(z.strictObject({ intent_id: id, hash: digest })),
    approved: z.array(z.strictObject({ intent_id: id, hash: digest })),
    /** The files in policies/ beside the snapshot that decides. */
    policies: z.strictObject({
      active: digest.nullable(),
      files: digest.nullable(),
      same: z.boolean(),
      words: z.string().nullable(),
    }),
  }),
  check: z.strictObject({ intent_id: id, hash: digest, eligible: z.literal(true) }),
  run: z.union([
    z.strictObject({
      dry_run: z.literal(true),
      intent_id: id,
      hash: digest,
      capability_id: id,
      tool: name,
      argv: z.array(z.string()),
      shown,
    }),
    report,
  ]),
  retry: z.strictObject({
    intent_id: id,
    hash: digest,
    attempt: z.int(),
    tool: name,
    by: name,
    reason: z.string(),
  }),
  resolve: z.strictObject({
    execution_id: id,
    intent_id: id,
    outcome: z.enum(['happened', 'did_not_happen']),
    by: name,
    reason: z.string(),
  }),
  gc: gcResult,
  'object erase': z.strictObject({
    /** What it takes away; with --preview that is all. */
    erasure: z.strictObject({
      digest,
      bytes: z.int(),
      objects: z.array(z.strictObject({ digest, role: z.string().nullable() })),
      /** The kind of object, where it is one that is never erased. */
      kept: z.string().nullable(),
      holders: z.int(),
      named_by: z.array(
        z.strictObject({
          seq: z.int(),
          at: time,
          kind: z.string(),
          subject: z.string(),
          role: z.string(),
          digest,
        }),
      ),
      stops: z.array(z.string()),
      undo: z.array(z.string()),
      replay: z.array(z.string()),
    }),
    erased: z.strictObject({ by: name, reason: z.string() }).nullable(),
  }),
  'tool list': z.strictObject({ tools: z.array(tool) }),
  'tool lint': z.strictObject({
    registry: z.string(),
    faults: z.array(z.strictObject({ code, message: z.string(), line: z.int(), column: z.int() }).readonly()),
  }),
  'tool lock': z.strictObject({ registry: z.string(), changed: z.boolean() }),
  'store join': z.strictObject({
    project: z.string(),
    store: z.string(),
    origin: z.string(),
    founder: z.strictObject({ name, key: z.string() }).readonly(),
    ledger_key: fingerprint,
    entries: z.int(),
  }),
  'store copy': z.strictObject({
    /** Without a password. */
    from: z.string(),
    to: z.string(),
    tenant: z.string(),
    entries: z.int(),
    /** The hash of the last entry, in both stores. */
    last: digest,
    resumed_at: z.int(),
    objects: z.int(),
  }),
  'store migrate': z.strictObject({
    store: z.string(),
    /** The version that the tables had; null where there were none. */
    from: z.int().nullable(),
    version: z.int(),
    application: z.string().nullable(),
  }),
  'store repair': z.strictObject({
    store: z.string(),
    tenant: z.string(),
    entries: z.int(),
    last: digest,
    stored_size: z.int(),
    problem: z.string().nullable(),
    set_aside: z.int(),
    first: z.array(
      z.strictObject({
        seq: z.int(),
        at: z.string().nullable(),
        kind: z.string().nullable(),
        subject: z.string().nullable(),
      }),
    ),
    written: z.boolean(),
  }),
  'store verify': z.strictObject({
    store: z.string(),
    size: z.int(),
    root: digest,
    rows: z.int(),
    objects: z.int(),
    kept_heads: z.int(),
    deep: z.boolean(),
  }),
  /** One line for each entry, and at the end where to go on with --since. */
  watch: z.union([
    z.strictObject({
      entry: z.strictObject({
        seq: z.int(),
        at: time,
        kind: z.string(),
        subject: z.string(),
        words: z.string(),
      }),
    }),
    z.strictObject({ next: z.int() }),
  ]),
  completion: z.strictObject({ shell: z.string(), script: z.string() }),
} as const;

export type Result<C extends keyof typeof results> = z.infer<(typeof results)[C]>;

export { code, digest, id };

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
