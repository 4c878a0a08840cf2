import * as z from 'zod';
import { verified } from '../face/ledger.ts';
import { approval, code, digest, fingerprint, id, name, rejection, time } from '../face/parts.ts';
import { story, toldEntry } from '../face/told.ts';
import { VERBS } from '../face/verbs.ts';
import { authorityHere, authorityResults } from './schema-authority.ts';

/**
 * What `--json` prints, command by command: the output of the verb that the command asks for. Which commands have an answer of their own, and
 * why, is listed in test/cli/schema.test.ts. schemas/cli.json is made from this by scripts/schemas.mjs.
 */

/** A settings file of a client, and whether it is another one now. */
const hookChange = z.strictObject({ client: z.string(), settings: z.string(), changed: z.boolean() });

/** A server by its name in a client, and the project that alone has it. */
const inClient = { from: z.string(), project: z.string().nullable() };

const results = {
  ...authorityResults,
  init: z.strictObject({ project: z.string(), name, ledger_key: fingerprint }),
  doctor: z.strictObject({
    checks: z.array(
      z.strictObject({
        name: z.string(),
        ok: z.boolean(),
        /** Nothing is wrong yet, and a human should do something about it. */
        warns: z.boolean(),
        found: z.string(),
        code: code.nullable(),
      }),
    ),
  }),
  'notify test': z.strictObject({
    targets: z.array(
      z.strictObject({
        target: z.string(),
        outcome: z.enum(['delivered', 'failed', 'gone']),
        status: z.int().nullable(),
        code: code.nullable(),
        words: z.string(),
      }),
    ),
  }),
  backup: z.strictObject({
    folder: z.string(),
    entries: z.int(),
    last: digest,
    objects: z.int(),
    keys: z.int(),
    /** The signed head of what was saved. */
    head: z.string(),
  }),
  restore: z.strictObject({
    project: z.string(),
    store: z.string(),
    entries: z.int(),
    keys: z.int(),
    /** How many entries the longest kept head of this host knows; null where none could be read. */
    kept_size: z.int().nullable(),
    /** Nothing opens until a human accepts that entries are forgotten. */
    forgets: z.boolean(),
  }),
  'clock accept': VERBS.system.acceptClock.output(),
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
  propose: VERBS.intents.propose.output(),
  wait: VERBS.intents.waitFor.output(),
  hook: z.strictObject({
    /** What the client is told; null for a yes in silence. */
    answer: z.string().nullable(),
  }),
  'hook install': hookChange,
  'hook remove': hookChange,
  'hook status': z.strictObject({
    clients: z.array(
      z.strictObject({
        client: z.string(),
        settings: z.string(),
        installed: z.boolean(),
        /** A hook that fails or is late is a no by these settings. */
        fails_closed: z.boolean(),
        /** By this member of its settings the client asks no hook, also where one is installed. */
        switched_off: z.strictObject({ member: z.string(), file: z.string() }).nullable(),
        code: code.nullable(),
      }),
    ),
    /** Commands of the shell wait for a human and run in the tool "shell"; otherwise the policies let them through or refuse them. */
    shell: z.boolean(),
  }),
  mcp: z.strictObject({ stopped: z.boolean() }),
  'mcp add': VERBS.mcp.accept.output(),
  'mcp accept': VERBS.mcp.accept.output(),
  'mcp diff': z.strictObject({
    server: z.string(),
    accepted: digest.nullable(),
    now: digest,
    changes: z.array(
      z
        .strictObject({ what: z.string(), before: z.string().nullable(), now: z.string().nullable() })
        .readonly(),
    ),
  }),
  'mcp list': VERBS.mcp.servers.output(),
  'mcp remove': VERBS.mcp.remove.output(),
  'mcp import': z.strictObject({
    servers: z.array(z.strictObject({ server: z.string(), ...inClient, problem: z.string().nullable() })),
    /** What became of the file of the client; null where it stays as it is. */
    moved: z
      .strictObject({
        file: z.string(),
        /** What it said before; null with --dry-run. */
        backup: z.string().nullable(),
        removed: z.array(z.strictObject(inClient)),
        /** The gate, and the projects that got it; null where the client has it already. */
        added: z
          .strictObject({
            ...{ command: z.string(), args: z.array(z.string()) },
            projects: z.array(z.string().nullable()),
          })
          .nullable(),
      })
      .nullable(),
  }),
  'mcp config': z.strictObject({
    agent: name,
    key_file: z.string(),
    command: z.string(),
    args: z.array(z.string()),
  }),
  'plan validate': VERBS.plans.validate.output(),
  'plan preview': VERBS.plans.preview.output(),
  'plan report': VERBS.plans.report.output(),
  rollback: VERBS.plans.rollback.output(),
  list: VERBS.intents.list.output(),
  runs: VERBS.runs.list.output(),
  capabilities: VERBS.runs.capabilities.output(),
  review: z.strictObject({
    approved: z.array(approval),
    rejected: z.array(rejection),
    skipped: z.array(id),
  }),
  approve: VERBS.intents.approve.output(),
  reject: VERBS.intents.reject.output(),
  edit: VERBS.intents.edit.output(),
  undo: VERBS.intents.undo.output(),
  withdraw: VERBS.intents.withdraw.output(),
  status: VERBS.system.status.output(),
  show: VERBS.intents.story.output(),
  'ledger show': z.union([
    VERBS.ledger.entries.output(),
    /** From a file. */
    z.strictObject({
      entries: z.array(toldEntry()).readonly(),
      verified: verified(),
      /** The story of an intent, as `show` tells it. */
      story: story().nullable(),
    }),
  ]),
  'ledger verify': VERBS.ledger.verify.output(),
  'ledger head': VERBS.ledger.head.output(),
  'ledger accept-head': VERBS.ledger.acceptHead.output(),
  'ledger archive': VERBS.ledger.archive.output(),
  'ledger prove': VERBS.ledger.prove.output(),
  'ledger export': VERBS.ledger.export.output(),
  'ledger rebuild': VERBS.ledger.rebuild.output(),
  check: VERBS.intents.check.output(),
  /** What it would do with --dry-run, or how it ended. */
  run: z.union([VERBS.runs.preview.output(), VERBS.runs.run.output()]),
  stop: VERBS.runs.stop.output(),
  retry: VERBS.runs.retry.output(),
  resolve: VERBS.runs.resolve.output(),
  /** What would go with --preview and where there is nothing to remove, or what went. */
  gc: z.union([VERBS.system.previewGc.output(), VERBS.system.gc.output()]),
  /** What it takes away with --preview, or what was erased. */
  'object erase': z.union([VERBS.ledger.explainErase.output(), VERBS.ledger.erase.output()]),
  'agent ask': VERBS.conversations.ask.output(),
  'agent answer': VERBS.conversations.answer.output(),
  'agent confirm': VERBS.conversations.confirm.output(),
  'agent resume': VERBS.conversations.resume.output(),
  'agent undo': VERBS.conversations.undo.output(),
  'agent status': VERBS.conversations.status.output(),
  'agent list': VERBS.conversations.list.output(),
  'agent slo': VERBS.conversations.slo.output(),
  'agent waive': VERBS.conversations.waive.output(),
  'agent replay': VERBS.conversations.replay.output(),
  'simulation new': VERBS.simulations.scaffold.output(),
  'simulation try': VERBS.simulations.try.output(),
  'simulation check': VERBS.simulations.check.output(),
  'simulation register': VERBS.simulations.register.output(),
  'simulation activate': VERBS.simulations.activate.output(),
  'simulation deprecate': VERBS.simulations.deprecate.output(),
  'simulation disable': VERBS.simulations.disable.output(),
  'simulation show': VERBS.simulations.get.output(),
  'simulation list': VERBS.simulations.list.output(),
  'intake list': VERBS.simulations.wishes.output(),
  'tool list': VERBS.tools.list.output(),
  'tool lint': VERBS.tools.lint.output(),
  'tool lock': VERBS.tools.lock.output(),
  'store join': z.strictObject({
    project: z.string(),
    store: z.string(),
    origin: z.string(),
    founder: z.strictObject({ name, key: z.string() }).readonly(),
    ledger_key: fingerprint,
    entries: z.int(),
    executor_key: z.string(),
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
  'store verify': VERBS.ledger.verifyStore.output(),
  /** One line when it listens, and one when it has stopped. */
  serve: z.union([
    z.strictObject({ address: z.string(), link: z.string().nullable() }),
    z.strictObject({ stopped: z.literal(true) }),
  ]),
  link: z.strictObject({ link: z.string() }),
  execute: z.strictObject({ stopped: z.literal(true) }),
  login: z.strictObject({
    service: z.string(),
    name,
    ledger: z.string(),
    /** Null for an agent, who reads no head. */
    ledger_key: fingerprint.nullable(),
    /** Null for an agent, whose key signs each request. */
    expires_at: time.nullable(),
  }),
  logout: z.strictObject({ service: z.string(), name }),
  /** One line for each entry, and at the end where to go on with --since. */
  watch: z.union([z.strictObject({ entry: toldEntry() }), z.strictObject({ next: z.int() })]),
  completion: z.strictObject({ shell: z.string(), script: z.string() }),
} as const;

export type Result<C extends keyof typeof results> = z.infer<(typeof results)[C]>;
export type MadeHere<C extends keyof typeof authorityHere> = z.infer<(typeof authorityHere)[C]>;

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
    /** What was checked and found. A decision adds its `lines`. */
    facts: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'problem' });

/** A no that the verb itself answered, or a run that failed: with the same `result` as a yes. */
const answeredNo = (command: string, result: z.ZodType) =>
  problem.extend({ command: z.literal(command), result }).meta({ id: `no-${command.replace(' ', '-')}` });

/** What stands beside `result`, by command. */
export function hereSchemas(): Readonly<Record<string, z.ZodType>> {
  return authorityHere;
}

/** The schema of one command, as `--json` prints it. */
export function resultSchemas(): Readonly<Record<string, z.ZodType>> {
  return results;
}

/** The commands whose verb can answer with a no, or tell of a run that failed. */
export const ANSWERED_NO = [
  'check',
  'run',
  'turn',
  'wait',
  'gc',
  'rollback',
  'doctor',
  'policy check',
  'policy test',
  'plan validate',
  'tool lint',
  'simulation check',
  'agent ask',
  'agent answer',
  'agent confirm',
  'agent resume',
  'agent undo',
  'agent slo',
] as const satisfies readonly (keyof typeof results)[];

/** The JSON Schema of everything that `--json` prints. */
export function answerJsonSchema(): object {
  const no: ReadonlySet<string> = new Set(ANSWERED_NO);
  const answers = Object.entries(results).flatMap(([command, output]) => {
    const name = command.replace(' ', '-');
    const is_named = z.globalRegistry.get(output)?.id !== undefined;
    // One that both answers have is written once.
    const result = no.has(command) && !is_named ? output.meta({ id: `result-${name}` }) : output;
    const yes = z
      .strictObject({
        ok: z.literal(true),
        command: z.literal(command),
        result,
        ...(hereSchemas()[command] && { here: hereSchemas()[command] }),
      })
      .meta({ id: `answer-${name}` });
    return no.has(command) ? [yes, answeredNo(command, result)] : [yes];
  });
  // An argument of a call is any JSON.
  const schema = z.toJSONSchema(z.union([problem, ...answers]), { unrepresentable: 'any' });
  return { title: 'What keyturn --json prints', ...schema };
}
