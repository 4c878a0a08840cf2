import type { Act } from './answer.ts';
import { STATUSES } from './statuses.ts';

/** One command as the person sees it. What it does is loaded only when it is called. */
export interface Spec {
  /** One word, or a group and a word. */
  readonly name: string;
  readonly about: string;
  readonly operands?: readonly Operand[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly string[];
  readonly load: () => Promise<Act>;
}

export interface Operand {
  /** `<id>`, or `[id]` where it may be left out. */
  readonly name: string;
  readonly about: string;
  readonly choices?: readonly string[];
}

export interface OptionSpec {
  readonly flags: string;
  readonly about: string;
  readonly required?: true;
  /** May be given several times. Any other option that is given twice is refused. */
  readonly many?: true;
  readonly choices?: readonly string[];
}

export const GROUPS: Readonly<Record<string, string>> = {
  identity: 'who may speak: humans, who hold keys, and agents, who only propose',
  object: 'stored arguments and outputs',
  tool: 'the registry of tools',
  ledger: 'what happened, provably',
};

const id: Operand = { name: '<id>', about: 'the id of the intent' };
const hash: Operand = { name: '<hash>', about: 'the hash of the intent' };
const as: OptionSpec = { flags: '--as <human>', about: 'who acts; needed when several have a key here' };
const reason: OptionSpec = { flags: '--reason <text>', about: 'why; it is signed and kept', required: true };
const out: OptionSpec = { flags: '--out <file>', about: 'write to this new file instead of standard output' };

const ID = '5f0c9a52-7c1f-4f0e-9a55-0d6f2f4e8f11';
const HASH = 'd74524813b020264a1b9e1f35b9c01f2f5cd01233e1f48e0ce5a7f14d8d1a9b0';

/** Every command of Keyturn but the lane, in the order of the journey. */
export const COMMANDS: readonly Spec[] = [
  {
    name: 'init',
    about: 'make this folder a project, with you as its first human',
    options: [{ flags: '--name <name>', about: 'your name; without it the name of your account' }],
    examples: ['keyturn init --name alice'],
    load: async () => (await import('./command/init.ts')).init,
  },
  {
    name: 'identity add',
    about: 'enrol a human with a new key, or an agent without one',
    operands: [{ name: '<name>', about: 'a to z, 0 to 9, dot, dash and underscore' }],
    options: [{ flags: '--agent', about: 'enrol an agent: it may propose and nothing else' }, as],
    examples: ['keyturn identity add bob', 'keyturn identity add scout --agent'],
    load: async () => (await import('./command/identity.ts')).add,
  },
  {
    name: 'identity list',
    about: 'list who is enrolled',
    examples: ['keyturn identity list'],
    load: async () => (await import('./command/identity.ts')).list,
  },
  {
    name: 'identity revoke',
    about: 'take away the right to speak, for good',
    operands: [{ name: '<name>', about: 'who is revoked' }],
    options: [reason, as],
    examples: ['keyturn identity revoke bob --reason "left the team"'],
    load: async () => (await import('./command/identity.ts')).revoke,
  },
  {
    name: 'doctor',
    about: 'look at this machine and this project, and say what is missing',
    examples: ['keyturn doctor'],
    load: async () => (await import('./command/doctor.ts')).doctor,
  },
  {
    name: 'explain',
    about: 'say what a reason code means and what to do about it',
    operands: [{ name: '[code]', about: 'a name or a number; without it all of them' }],
    examples: ['keyturn explain APPROVAL_EXPIRED', 'keyturn explain 3003'],
    load: async () => (await import('./command/explain.ts')).explainCode,
  },
  {
    name: 'propose',
    about: 'propose one tool call or one plan; it prints the id and the hash and runs nothing',
    options: [
      { flags: '--tool <name>', about: 'the tool' },
      { flags: '--plan <file>', about: 'a task plan or a task envelope as JSON, or - for standard input' },
      { flags: '--config <file>', about: 'the system config of the plan, as YAML' },
      { flags: '--arg <name=value>', about: 'an argument of the tool; once for each', many: true },
      { flags: '--goal <text>', about: 'why it is wanted; the approver reads it' },
      { flags: '--by <name>', about: 'who proposes; needed when several are enrolled' },
      { flags: '--ttl <duration>', about: 'how long it may wait, such as 2h' },
      { flags: '--envelope <file>', about: 'a whole envelope as JSON instead, or - for standard input' },
    ],
    examples: [
      'keyturn propose --tool greet --arg name=Ada --goal "Say hello" --by scout',
      'keyturn propose --plan plan.json --goal "Add a field" --by scout',
      'keyturn propose --envelope intent.json',
    ],
    load: async () => (await import('./command/propose.ts')).propose,
  },
  {
    name: 'list',
    about: 'list the intents, oldest first',
    options: [
      { flags: '--status <status>', about: 'only these', choices: STATUSES },
      { flags: '--limit <n>', about: 'at most this many; 50 unless told' },
      { flags: '--after <id>', about: 'go on after this intent' },
    ],
    examples: ['keyturn list', 'keyturn list --status proposed --limit 10'],
    load: async () => (await import('./command/list.ts')).list,
  },
  {
    name: 'show',
    about: 'show one intent: the exact effect, who said what, and its runs',
    operands: [id],
    options: [{ flags: '--output', about: 'also what its last run printed' }],
    examples: [`keyturn show ${ID}`],
    load: async () => (await import('./command/show.ts')).show,
  },
  {
    name: 'review',
    about:
      'walk through what is pending: type the exact id to approve, r and a reason to reject, Enter to skip',
    options: [as],
    examples: ['keyturn review'],
    load: async () => (await import('./command/review.ts')).review,
  },
  {
    name: 'approve',
    about: 'approve one intent: look, type its exact id, sign with your passphrase',
    operands: [id],
    options: [
      { flags: '--hash <hash>', about: 'refuse unless the intent has this hash' },
      as,
      { flags: '--ttl <duration>', about: 'how long the approval holds, such as 30m' },
    ],
    examples: [`keyturn approve ${ID}`, `keyturn approve ${ID} --ttl 30m`],
    load: async () => (await import('./command/approve.ts')).approve,
  },
  {
    name: 'reject',
    about: 'reject one intent, for good',
    operands: [id],
    options: [reason, as],
    examples: [`keyturn reject ${ID} --reason "wrong target"`],
    load: async () => (await import('./command/approve.ts')).reject,
  },
  {
    name: 'status',
    about: 'what needs a human now: runs in doubt first',
    examples: ['keyturn status'],
    load: async () => (await import('./command/status.ts')).status,
  },
  {
    name: 'check',
    about: 'may this intent run now? Reads, answers, writes nothing',
    operands: [id, hash],
    examples: [`keyturn check ${ID} ${HASH}`],
    load: async () => (await import('./command/check.ts')).check,
  },
  {
    name: 'run',
    about: 'run an approved intent, once, after a y at the terminal',
    operands: [id, hash],
    options: [{ flags: '--dry-run', about: 'check everything and show it; run nothing and record nothing' }],
    examples: [`keyturn run ${ID} ${HASH}`],
    load: async () => (await import('./command/run.ts')).run,
  },
  {
    name: 'retry',
    about: 'authorise one new attempt after a failed run',
    operands: [id],
    options: [reason, as],
    examples: [`keyturn retry ${ID} --reason "the disk was full; it is not now"`],
    load: async () => (await import('./command/settle.ts')).retry,
  },
  {
    name: 'resolve',
    about: 'settle a run in doubt by your word',
    operands: [{ name: '<execution>', about: 'the id of the execution; `keyturn status` shows it' }],
    options: [
      {
        flags: '--outcome <outcome>',
        about: 'what you found out',
        required: true,
        choices: ['happened', 'did-not-happen'],
      },
      reason,
      as,
      { flags: '--host-is-dead', about: 'your word that the other host no longer runs it' },
    ],
    examples: [`keyturn resolve ${ID} --outcome happened --reason "the backup is there"`],
    load: async () => (await import('./command/settle.ts')).resolve,
  },
  {
    name: 'plan validate',
    about: 'say everything that is wrong with a plan, with its place in the file',
    operands: [{ name: '<file>', about: 'a task plan or a task envelope, or - for standard input' }],
    options: [{ flags: '--config <file>', about: 'the system config, as YAML' }],
    examples: ['keyturn plan validate plan.json'],
    load: async () => (await import('./command/plan.ts')).validate,
  },
  {
    name: 'plan preview',
    about: 'show what a plan would change, as diffs; it touches nothing',
    operands: [{ name: '<file>', about: 'a task plan or a task envelope, or - for standard input' }],
    options: [{ flags: '--config <file>', about: 'the system config, as YAML' }],
    examples: ['keyturn plan preview plan.json'],
    load: async () => (await import('./command/plan.ts')).preview,
  },
  {
    name: 'rollback',
    about: 'undo a run of a plan; what somebody else changed since is left alone and said',
    operands: [{ name: '<execution>', about: 'the id of the execution; `keyturn show` prints it' }],
    options: [
      { flags: '--preview', about: 'only say what would be done' },
      { flags: '--checkpoint <id>', about: 'only this checkpoint; once for each', many: true },
      { flags: '--reason <text>', about: 'why; it is recorded and signed' },
      as,
      { flags: '--host-is-dead', about: 'your word that the other host no longer runs it' },
    ],
    examples: [`keyturn rollback ${ID} --preview`, `keyturn rollback ${ID} --reason "wrong field"`],
    load: async () => (await import('./command/plan.ts')).rollback,
  },
  {
    name: 'object erase',
    about: 'erase the bytes of a stored argument or output; the ledger still verifies',
    operands: [{ name: '<digest>', about: 'the digest; `keyturn show` prints them' }],
    options: [reason, as],
    examples: [`keyturn object erase ${HASH} --reason "it held a password"`],
    load: async () => (await import('./command/object.ts')).erase,
  },
  {
    name: 'tool list',
    about: 'list the tools and their parameters',
    examples: ['keyturn tool list'],
    load: async () => (await import('./command/tool.ts')).list,
  },
  {
    name: 'tool lint',
    about: 'check the registry, writable or not, and say what is wrong',
    examples: ['keyturn tool lint'],
    load: async () => (await import('./command/tool.ts')).lint,
  },
  {
    name: 'tool lock',
    about: 'check the registry, then take away every write permission',
    examples: ['keyturn tool lock'],
    load: async () => (await import('./command/tool.ts')).lock,
  },
  {
    name: 'ledger show',
    about: 'the story of one intent, or the newest entries',
    operands: [{ name: '[id]', about: 'an intent id, a name, a digest, or system' }],
    options: [{ flags: '--limit <n>', about: 'at most this many of the newest; 20 unless told' }],
    examples: ['keyturn ledger show', `keyturn ledger show ${ID}`],
    load: async () => (await import('./command/ledger.ts')).show,
  },
  {
    name: 'ledger verify',
    about: 'hash every entry again and name the first bad one',
    options: [
      { flags: '--head <file>', about: 'a head that you kept; it finds cuts and rewrites', many: true },
      { flags: '--deep', about: 'also the canonical form and every signature' },
      { flags: '--file <export>', about: 'verify an export, with no project' },
      { flags: '--bundle <file>', about: 'verify a proof, with no project; needs --key' },
      { flags: '--key <fingerprint>', about: 'the ledger key as its owner told you' },
    ],
    examples: [
      'keyturn ledger verify --deep --head kept-head.txt',
      'keyturn ledger verify --file ledger.jsonl --key sha256:…',
      'keyturn ledger verify --bundle proof.json --key sha256:… --head kept-head.txt',
    ],
    load: async () => (await import('./command/verify.ts')).verify,
  },
  {
    name: 'ledger head',
    about: 'print the signed head; keep it somewhere else',
    options: [out],
    examples: ['keyturn ledger head --out head-2026-01-15.txt'],
    load: async () => (await import('./command/ledger.ts')).head,
  },
  {
    name: 'ledger prove',
    about: 'write a small proof of one intent that verifies offline',
    operands: [id],
    options: [{ flags: '--head <file>', about: 'prove growth from this kept head, too', many: true }, out],
    examples: [`keyturn ledger prove ${ID} --out proof.json`],
    load: async () => (await import('./command/ledger.ts')).prove,
  },
  {
    name: 'ledger export',
    about: 'write the whole ledger as JSON Lines',
    options: [out],
    examples: ['keyturn ledger export --out ledger.jsonl'],
    load: async () => (await import('./command/ledger.ts')).exportLedger,
  },
  {
    name: 'ledger rebuild',
    about: 'fold the ledger again and compare it with the stored state',
    options: [{ flags: '--write', about: 'replace the stored state by what the ledger says' }],
    examples: ['keyturn ledger rebuild'],
    load: async () => (await import('./command/ledger.ts')).rebuild,
  },
  {
    name: 'completion',
    about: 'print a completion script for your shell',
    operands: [{ name: '<shell>', about: 'your shell', choices: ['bash', 'zsh', 'fish'] }],
    examples: ['source <(keyturn completion bash)', 'keyturn completion fish | source'],
    load: async () => (await import('./completion.ts')).completion,
  },
];
