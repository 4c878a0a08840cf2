import { agentKey, as, delegationId, ID, id, pages, reason, type Spec, withText } from '../spec.ts';
import { STATUS_CHOICES } from '../status-word.ts';

/** What is wanted, and what a human says to it. */
export const ASKING: readonly Spec[] = [
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
      {
        flags: '--replaces <id>',
        about: 'the intent that this one is a changed form of: its id, or its first 4 or more characters',
      },
      {
        flags: '--idempotency-key <text>',
        about: 'the same key with the same request is the same intent, however often it is sent',
      },
      { flags: '--agent-key <file>', about: 'sign it with the key of --by, so that the name is proven' },
      { flags: '--sign', about: 'sign it with the passphrase of --by, a human, so that the name is proven' },
      { flags: '--envelope <file>', about: 'a whole envelope as JSON instead, or - for standard input' },
    ],
    examples: [
      'keyturn propose --tool greet --arg name=Ada --goal "Say hello" --by scout',
      'keyturn propose --plan plan.json --goal "Add a field" --by scout',
      'keyturn propose --envelope intent.json',
      'keyturn propose --tool greet --arg name=Eve --by scout --agent-key scout.key',
      'keyturn propose --tool greet --arg name=Eve --by ada --sign',
      `keyturn propose --tool greet --arg name=Eve --replaces ${ID}`,
    ],
    load: async () => (await import('../command/propose.ts')).propose,
  },
  {
    name: 'list',
    about: 'list the intents, newest first',
    options: [
      { flags: '--status <status>', about: 'only these', choices: STATUS_CHOICES },
      { flags: '--by <name>', about: 'only what this one proposed' },
      withText,
      { flags: '--needs <human>', about: 'only what this human is asked to look at' },
      ...pages,
    ],
    examples: [
      'keyturn list',
      'keyturn list --status waiting --since 2h',
      'keyturn list --tool greet --text hello',
    ],
    load: async () => (await import('../command/list.ts')).list,
  },
  {
    name: 'show',
    about: 'show one intent: the exact effect, and its whole story in order',
    operands: [id],
    options: [{ flags: '--output', about: 'also what its last run printed' }],
    examples: [`keyturn show ${ID}`],
    load: async () => (await import('../command/show.ts')).show,
  },
  {
    name: 'wait',
    about: 'wait until an intent has ended, also when another host runs it',
    operands: [id],
    options: [
      {
        flags: '--output',
        about: 'print just what its run printed, and end with its exit code; 1 where it did not run',
      },
    ],
    examples: [`keyturn wait ${ID}`, `keyturn wait ${ID} --output`],
    load: async () => (await import('../command/wait.ts')).wait,
  },
  {
    name: 'review',
    about:
      'walk through what is pending: type the first 6 characters of the code to approve, r and a reason to reject, Enter to skip, s to skip its proposer',
    options: [as],
    examples: ['keyturn review'],
    load: async () => (await import('../command/review.ts')).review,
  },
  {
    name: 'approve',
    about: 'approve one intent: look, type the first 6 characters of its code, sign with your passphrase',
    operands: [id],
    options: [
      { flags: '--hash <hash>', about: 'refuse unless the intent has this hash' },
      as,
      { flags: '--ttl <duration>', about: 'how long the approval holds, such as 30m' },
    ],
    examples: [`keyturn approve ${ID}`, `keyturn approve ${ID} --ttl 30m`],
    load: async () => (await import('../command/approve.ts')).approve,
  },
  {
    name: 'reject',
    about: 'reject one intent, for good',
    operands: [id],
    options: [reason, as],
    examples: [`keyturn reject ${ID} --reason "wrong target"`],
    load: async () => (await import('../command/approve.ts')).reject,
  },
  {
    name: 'edit',
    about:
      'change a proposal before it is approved: what you want instead is a proposal in your name, and the first one ends; without options in $EDITOR, as JSON',
    operands: [id],
    options: [
      { flags: '--arg <name=value>', about: 'another value of an argument; once for each', many: true },
      { flags: '--plan <file>', about: 'another plan, as JSON, or - for standard input' },
      { flags: '--config <file>', about: 'the system config of the plan, as YAML' },
      { flags: '--goal <text>', about: 'why it is wanted; the approver reads it' },
      {
        flags: '--ttl <duration>',
        about: 'how long it may wait, such as 2h; as long as the first one unless told',
      },
      as,
    ],
    examples: [`keyturn edit ${ID} --arg name=Eve`, `keyturn edit ${ID}`],
    load: async () => (await import('../command/edit.ts')).edit,
  },
  {
    name: 'undo',
    about: 'propose the call that the tool of a successful run declared to undo it',
    operands: [id],
    options: [
      { flags: '--goal <text>', about: 'why; its human reads it' },
      { flags: '--by <name>', about: 'who proposes; otherwise the only human with a key here' },
      agentKey,
      { flags: '--sign', about: 'a human signs the proposal with a passphrase' },
    ],
    examples: [`keyturn undo ${ID}`],
    load: async () => (await import('../command/propose.ts')).undo,
  },
  {
    name: 'withdraw',
    about: 'take back an intent that you proposed, for good',
    operands: [id],
    options: [
      reason,
      { flags: '--receipt <text>', about: 'the receipt that propose printed, in place of a signature' },
      agentKey,
      as,
    ],
    examples: [
      `keyturn withdraw ${ID} --reason "no longer needed"`,
      `keyturn withdraw ${ID} --reason "timed out" --receipt RECEIPT`,
    ],
    load: async () => (await import('../command/propose.ts')).withdraw,
  },
  {
    name: 'submit',
    about: 'submit an intent under a delegation, with the key of the agent and without a human',
    operands: [id],
    options: [
      { ...delegationId, required: true },
      { ...agentKey, required: true },
      {
        flags: '--hash <hash>',
        about: 'refuse unless the intent has this hash; needed with --service',
      },
      { flags: '--preview', about: 'only show what would be submitted; nothing is signed' },
    ],
    examples: [
      `keyturn submit ${ID} --delegation ${ID} --agent-key scout.key`,
      `keyturn submit ${ID} --delegation ${ID} --agent-key scout.key --preview --service https://keys.example.org`,
    ],
    load: async () => (await import('../command/submit.ts')).submit,
  },
  {
    name: 'status',
    about: 'what needs a human now: what is frozen and what is in doubt first',
    examples: ['keyturn status'],
    load: async () => (await import('../command/status.ts')).status,
  },
];
