import { CONVERSATION_STATUSES } from '../../face/statuses.ts';
import { as, type Operand, type OptionSpec, reason, type Spec } from '../spec.ts';

const correlation: Operand = {
  name: '<correlation>',
  about: 'the id of the conversation, or its first 4 or more characters; `agent ask` says it',
};
const words: Operand = { name: '<words>', about: 'what the user said, as they said it' };
const simulation: Operand = { name: '<simulation>', about: 'the id of the simulation' };
const user: OptionSpec = {
  flags: '--user <id>',
  about:
    'whose words these are: a name, which is not proven and is no agent; without it the only human whose key is here',
};
const language: OptionSpec = { flags: '--language <code>', about: 'the language that is spoken, such as en' };

const digest: OptionSpec = {
  flags: '--digest <hash>',
  about: 'only what you looked at; `simulation show` says it',
};

const ASKED = 'chat-17';

/** A goal in words, and what becomes of it. */
export const AGENT: readonly Spec[] = [
  {
    name: 'agent ask',
    about: 'a goal in the words of a user: answers with a question, a prompt, an outcome or a no',
    operands: [words],
    options: [
      user,
      { flags: '--thread <id>', about: 'the thread that it belongs to' },
      {
        flags: '--correlation <id>',
        about: 'the id of the conversation, or how one that Keyturn made begins; a new one unless told',
      },
      language,
      { flags: '--packet', about: 'print what the finder found, as JSON, instead of the answer' },
    ],
    examples: [
      'keyturn agent ask "greet everybody kindly"',
      `keyturn agent ask "append a line" --user mia --correlation ${ASKED} --language en`,
      'keyturn agent ask "append a line" --packet',
    ],
    load: async () => (await import('../command/agent.ts')).ask,
  },
  {
    name: 'agent answer',
    about: 'the answer to the one question that is open',
    operands: [correlation, words],
    options: [
      user,
      { flags: '--turn <id>', about: 'which question it answers: an answer that comes twice counts once' },
    ],
    examples: [`keyturn agent answer ${ASKED} --turn turn-1 "buy milk"`],
    load: async () => (await import('../command/agent.ts')).answer,
  },
  {
    name: 'agent confirm',
    about: 'the words of the user after the prompt: only a clear yes goes on, and a no ends it',
    operands: [correlation, words],
    options: [
      user,
      language,
      {
        flags: '--plan <id>',
        about: 'which prompt it answers, as the prompt says it; at least 8 digits of the id',
      },
      { flags: '--step <id>', about: 'which step of it; needed when the plan has several' },
    ],
    examples: [
      `keyturn agent confirm ${ASKED} --plan 3f9a1c07b2d4 "yes"`,
      `keyturn agent confirm ${ASKED} --plan 3f9a1c07b2d4 "sí" --language es`,
    ],
    load: async () => (await import('../command/agent.ts')).confirm,
  },
  {
    name: 'agent resume',
    about: 'go on from where the ledger says it stands: after an approval, or with the next step',
    operands: [correlation],
    options: [user],
    examples: [`keyturn agent resume ${ASKED}`],
    load: async () => (await import('../command/agent.ts')).resume,
  },
  {
    name: 'agent undo',
    about: 'undo what it did, each step through its rollback simulation, the last one first',
    operands: [correlation],
    options: [user],
    examples: [`keyturn agent undo ${ASKED}`],
    load: async () => (await import('../command/agent.ts')).undo,
  },
  {
    name: 'agent status',
    about: 'where one conversation stands, and everything that was said and done in it',
    operands: [correlation],
    examples: [`keyturn agent status ${ASKED}`],
    load: async () => (await import('../command/agent-status.ts')).status,
  },
  {
    name: 'agent list',
    about: 'list the conversations, newest first',
    options: [
      { flags: '--status <status>', about: 'only these', choices: CONVERSATION_STATUSES },
      { flags: '--user <id>', about: 'only those of this user' },
      { flags: '--text <text>', about: 'only where goal, user or simulation hold this text' },
      { flags: '--since <time>', about: 'begun since then: a time, or an age such as 2h' },
      { flags: '--until <time>', about: 'begun before then' },
      { flags: '--limit <n>', about: 'at most this many; 50 unless told' },
      { flags: '--cursor <text>', about: 'go on where the page before ended' },
    ],
    examples: ['keyturn agent list', 'keyturn agent list --status WAITING_CONFIRM --user mia'],
    load: async () => (await import('../command/agent-status.ts')).list,
  },
  {
    name: 'agent slo',
    about: 'the figures of the last 24 hours; fails when one is breached and not waived, or not measured',
    examples: ['keyturn agent slo'],
    load: async () => (await import('../command/agent-status.ts')).slo,
  },
  {
    name: 'agent waive',
    about: 'accept the breach of a figure for a bounded time; needs the role builder',
    options: [
      {
        flags: '--figure <name>',
        about: 'the figure; once for each, as `keyturn agent slo` names it',
        many: true,
        required: true,
      },
      { flags: '--until <time>', about: 'when it ends, such as 2026-01-15T12:00:00Z' },
      { flags: '--ttl <duration>', about: 'or how long it holds, such as 2d' },
      reason,
      as,
    ],
    examples: ['keyturn agent waive --figure execution_error_rate --ttl 1d --reason "incident 12"'],
    load: async () => (await import('../command/agent-status.ts')).waive,
  },
  {
    name: 'agent replay',
    about: 'make every decision of a conversation again; fails when one differs',
    operands: [correlation],
    examples: [`keyturn agent replay ${ASKED}`],
    load: async () => (await import('../command/agent-status.ts')).replay,
  },
  {
    name: 'simulation new',
    about: 'make a file of simulations/ from a registered tool, to fill in',
    operands: [{ name: '<tool>', about: 'the name of the tool' }],
    options: [{ flags: '--id <id>', about: 'the id of the simulation; the name of the tool unless told' }],
    examples: ['keyturn simulation new greet --id people.greet'],
    load: async () => (await import('../command/simulation.ts')).scaffold,
  },
  {
    name: 'simulation try',
    about: 'what the finder makes of words, and why; drafts count as active, nothing is recorded',
    operands: [words],
    options: [language],
    examples: ['keyturn simulation try "greet everybody kindly"'],
    load: async () => (await import('../command/simulation.ts')).tryOut,
  },
  {
    name: 'simulation check',
    about: 'everything that registering would refuse, and which words would lead elsewhere',
    operands: [{ name: '<simulation>', about: 'its id, or its file' }],
    examples: ['keyturn simulation check note.add'],
    load: async () => (await import('../command/simulation.ts')).check,
  },
  {
    name: 'simulation register',
    about: 'take a file of simulations/ into the ledger, as a draft',
    operands: [{ name: '<simulation>', about: 'its id, or its file' }],
    options: [digest, reason, as],
    examples: [
      'keyturn simulation register note.add --reason "asked for by many"',
      'keyturn simulation register simulations/note.add.yaml --reason "version 2"',
    ],
    load: async () => (await import('../command/simulation.ts')).register,
  },
  {
    name: 'simulation activate',
    about: 'let the agent core run it for a while; a new version is registered with the same signature',
    operands: [simulation],
    options: [{ flags: '--ttl <duration>', about: 'for how long; 30d unless told' }, digest, reason, as],
    examples: ['keyturn simulation activate note.add --ttl 30d --reason "reviewed"'],
    load: async () => (await import('../command/simulation.ts')).activate,
  },
  {
    name: 'simulation deprecate',
    about: 'no new plans with it; it may be activated again',
    operands: [simulation],
    options: [reason, as],
    examples: ['keyturn simulation deprecate note.add --reason "note.write is better"'],
    load: async () => (await import('../command/simulation.ts')).deprecate,
  },
  {
    name: 'simulation disable',
    about: 'stop it; to use it again, register it again',
    operands: [simulation],
    options: [reason, as],
    examples: ['keyturn simulation disable note.add --reason "it wrote nonsense"'],
    load: async () => (await import('../command/simulation.ts')).disable,
  },
  {
    name: 'simulation show',
    about: 'what one simulation does, asks and is undone by',
    operands: [{ name: '<simulation>', about: 'its id, or its file' }],
    examples: ['keyturn simulation show note.add'],
    load: async () => (await import('../command/simulation.ts')).show,
  },
  {
    name: 'simulation list',
    about: 'every simulation with its status',
    examples: ['keyturn simulation list'],
    load: async () => (await import('../command/simulation.ts')).list,
  },
  {
    name: 'intake list',
    about: 'what users asked for and does not exist, the most worthwhile first',
    examples: ['keyturn intake list'],
    load: async () => (await import('../command/intake.ts')).list,
  },
];
