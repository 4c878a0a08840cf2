import {
  as,
  execution,
  HASH,
  hash,
  ID,
  id,
  ofIntent,
  pages,
  reason,
  type Spec,
  wholeId,
  withText,
} from '../spec.ts';
import { CAPABILITY_CHOICES, RUN_CHOICES } from '../status-word.ts';

/** Running, undoing, and what can be run. */
export const RUNNING: readonly Spec[] = [
  {
    name: 'check',
    about: 'may this intent run now? Reads, answers, writes nothing',
    operands: [wholeId, hash],
    examples: [`keyturn check ${ID} ${HASH}`],
    load: async () => (await import('../command/check.ts')).check,
  },
  {
    name: 'run',
    about: 'run an approved intent, once, after a y at the terminal',
    operands: [wholeId, hash],
    options: [
      { flags: '--dry-run', about: 'check everything and show it; run nothing and record nothing' },
      { flags: '--capability <file>', about: 'use this capability; without it the newest that was ordered' },
      { flags: '--holder-key <file>', about: 'the key of its holder, if it is bound to one' },
    ],
    examples: [
      `keyturn run ${ID} ${HASH}`,
      `keyturn run ${ID} ${HASH} --capability narrow.jws --holder-key sub.key`,
    ],
    host_only: true,
    load: async () => (await import('../command/run.ts')).run,
  },
  {
    name: 'turn',
    about: 'the short way: one look, one y, one passphrase; then approve, order one run, check and run',
    operands: [
      { ...id, name: '[id]', about: `${id.about}; without it the one that has waited longest for you` },
    ],
    options: [as],
    examples: [`keyturn turn ${ID}`],
    load: async () => (await import('../command/turn.ts')).turn,
  },
  {
    name: 'runs',
    about: 'list what ran and what runs, newest first',
    options: [
      { flags: '--status <status>', about: 'only these', choices: RUN_CHOICES },
      { flags: '--by <name>', about: 'only what this one proposed' },
      {
        flags: '--executor <name>',
        about: 'only on this executor: its name, its public key, or how that begins',
      },
      withText,
      ofIntent,
      ...pages,
    ],
    examples: ['keyturn runs', 'keyturn runs --status failed --since 2h', `keyturn runs --intent ${ID}`],
    load: async () => (await import('../command/list.ts')).runs,
  },
  {
    name: 'capabilities',
    about: 'list what was ordered to run, and the capabilities issued for it, newest first',
    options: [
      { flags: '--status <status>', about: 'only these', choices: CAPABILITY_CHOICES },
      { flags: '--by <name>', about: 'only for what this one proposed' },
      { flags: '--ordered-by <name>', about: 'only what this one ordered' },
      withText,
      ofIntent,
      ...pages,
    ],
    examples: ['keyturn capabilities', 'keyturn capabilities --status issued --ordered-by alice'],
    load: async () => (await import('../command/list.ts')).capabilities,
  },
  {
    name: 'retry',
    about: 'authorise one new attempt after a failed run',
    operands: [id],
    options: [
      { flags: '--alternate <tool>', about: 'with this tool instead, if the approved intent names it' },
      reason,
      as,
    ],
    examples: [`keyturn retry ${ID} --reason "the disk was full; it is not now"`],
    load: async () => (await import('../command/settle.ts')).retry,
  },
  {
    name: 'stop',
    about: 'end a run that goes on, on this host or another: a tool is killed, a plan is rolled back',
    operands: [
      {
        name: '[run]',
        about:
          'the id of the execution or of its intent, or the first characters of one; without it the one run that goes on',
      },
    ],
    options: [reason, as],
    examples: [
      'keyturn stop --reason "it is the wrong server"',
      `keyturn stop ${ID} --reason "it takes too long"`,
    ],
    load: async () => (await import('../command/stop.ts')).stop,
  },
  {
    name: 'resolve',
    about: 'settle a run in doubt by your word',
    operands: [{ ...execution, about: `${execution.about}; \`keyturn status\` shows it` }],
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
    load: async () => (await import('../command/settle.ts')).resolve,
  },
  {
    name: 'plan validate',
    about: 'say everything that is wrong with a plan, with its place in the file',
    operands: [{ name: '<file>', about: 'a task plan or a task envelope, or - for standard input' }],
    options: [{ flags: '--config <file>', about: 'the system config, as YAML' }],
    examples: ['keyturn plan validate plan.json'],
    load: async () => (await import('../command/plan.ts')).validate,
  },
  {
    name: 'plan preview',
    about: 'show what a plan would change, as diffs; it touches nothing',
    operands: [{ name: '<file>', about: 'a task plan or a task envelope, or - for standard input' }],
    options: [{ flags: '--config <file>', about: 'the system config, as YAML' }],
    examples: ['keyturn plan preview plan.json'],
    load: async () => (await import('../command/plan.ts')).preview,
  },
  {
    name: 'plan report',
    about: 'make the missing reports of a finished run again, from its record and its backups',
    operands: [{ ...execution, about: `${execution.about}; \`keyturn show\` prints it` }],
    examples: [`keyturn plan report ${ID}`],
    load: async () => (await import('../command/plan.ts')).report,
  },
  {
    name: 'rollback',
    about: 'undo a run of a plan; what was changed since is left alone and named',
    operands: [
      { name: '[run]', about: 'the id of the execution or of its intent, or the first characters of one' },
    ],
    options: [
      { flags: '--last', about: 'the last run of a plan, instead of an id' },
      { flags: '--preview', about: 'only say what would be done' },
      {
        flags: '--except <path>',
        about: 'leave this path as it is, and sign that; once for each',
        many: true,
      },
      {
        flags: '--checkpoint <id>',
        about: 'only this checkpoint: its id, or its first 4 or more characters; once for each',
        many: true,
      },
      { flags: '--reason <text>', about: 'why; it is recorded and signed' },
      as,
      { flags: '--host-is-dead', about: 'your word that the other host no longer runs it' },
    ],
    examples: [
      'keyturn rollback --last --preview',
      `keyturn rollback ${ID} --reason "wrong field"`,
      `keyturn rollback ${ID} --except notes.md --reason "the notes were edited since"`,
    ],
    load: async () => (await import('../command/plan.ts')).rollback,
  },
  {
    name: 'gc',
    about:
      'remove old backups of plan runs and old stored objects, after a list; manifests, reports and the ledger stay',
    options: [
      {
        flags: '--older-than <age>',
        about: 'of runs that ended, and objects last used, longer ago than this, such as 30d',
      },
      {
        flags: '--keep-mb <n>',
        about: 'then the oldest, until at most this many megabytes of backups and of objects are left',
      },
      { flags: '--undoable-too', about: 'also what an undo that is still possible needs: that undo is lost' },
      { flags: '--preview', about: 'only list them' },
      { flags: '--reason <text>', about: 'why; it is signed and kept' },
      as,
    ],
    examples: [
      'keyturn gc --older-than 30d --preview',
      'keyturn gc --older-than 90d --keep-mb 500 --undoable-too --reason "the disk is full"',
    ],
    load: async () => (await import('../command/gc.ts')).gc,
  },
  {
    name: 'object erase',
    about: 'say what rests on a stored object, ask, and erase its bytes; the ledger still verifies',
    operands: [
      { name: '<digest>', about: 'the digest, or its first 4 or more characters; `keyturn show` prints it' },
    ],
    options: [
      { flags: '--preview', about: 'only say what would be erased and what rests on it' },
      { flags: '--reason <text>', about: 'why; it is signed and kept' },
      as,
    ],
    examples: [
      `keyturn object erase ${HASH} --preview`,
      `keyturn object erase ${HASH} --reason "it held a password"`,
    ],
    load: async () => (await import('../command/object.ts')).erase,
  },
  {
    name: 'tool list',
    about: 'list the tools and their parameters',
    examples: ['keyturn tool list'],
    load: async () => (await import('../command/tool.ts')).list,
  },
  {
    name: 'tool lint',
    about: 'check the registry, writable or not, and say what is wrong',
    examples: ['keyturn tool lint'],
    load: async () => (await import('../command/tool.ts')).lint,
  },
  {
    name: 'tool lock',
    about: 'check the registry, then take away every write permission',
    examples: ['keyturn tool lock'],
    host_only: true,
    load: async () => (await import('../command/tool.ts')).lock,
  },
];
