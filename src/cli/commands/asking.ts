import { agentKey, as, delegationId, ID, id, reason, type Spec } from '../spec.ts';
import { STATUSES } from '../statuses.ts';

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
      { flags: '--replaces <id>', about: 'the intent that this one is a changed form of' },
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
    about: 'list the intents, oldest first',
    options: [
      { flags: '--status <status>', about: 'only these', choices: STATUSES },
      { flags: '--limit <n>', about: 'at most this many; 50 unless told' },
      { flags: '--after <id>', about: 'go on after this intent' },
    ],
    examples: ['keyturn list', 'keyturn list --status proposed --limit 10'],
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
    name: 'review',
    about:
      'walk through what is pending: type the exact id to approve, r and a reason to reject, Enter to skip, s to skip its proposer',
    options: [as],
    examples: ['keyturn review'],
    load: async () => (await import('../command/review.ts')).review,
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
    name: 'submit',
    about: 'submit an intent under a delegation, with the key of the agent and without a human',
    operands: [id],
    options: [
      { ...delegationId, required: true },
      { ...agentKey, required: true },
    ],
    examples: [`keyturn submit ${ID} --delegation ${ID} --agent-key scout.key`],
    load: async () => (await import('../command/submit.ts')).submit,
  },
  {
    name: 'status',
    about: 'what needs a human now: what is frozen and what is in doubt first',
    examples: ['keyturn status'],
    load: async () => (await import('../command/status.ts')).status,
  },
];
