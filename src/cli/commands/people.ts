import { agentKey, as, delegationId, ID, reason, role, type Spec } from '../spec.ts';

/** Who may speak, and whether everything is there. */
export const PEOPLE: readonly Spec[] = [
  {
    name: 'init',
    about: 'make this folder a project, with you as its first human',
    options: [
      { flags: '--name <name>', about: 'your name; without it the name of your account' },
      { flags: '--passkey', about: 'by a passkey in a browser on this machine, in place of a key file' },
      { flags: '--label <text>', about: 'what you call the passkey' },
      {
        flags: '--recovery-key',
        about: 'also a key file with a passphrase, to keep elsewhere: it signs when the passkey is gone',
      },
      {
        flags: '--port <number>',
        about: 'the port that the passkey is for, as in `keyturn serve`; 7717 unless told',
      },
    ],
    examples: ['keyturn init --name alice', 'keyturn init --name alice --passkey --recovery-key'],
    host_only: true,
    load: async () => (await import('../command/init.ts')).init,
  },
  {
    name: 'identity add',
    about: 'enrol a human with a new key, or an agent with or without one',
    operands: [{ name: '<name>', about: 'a to z, 0 to 9, dot, dash and underscore' }],
    options: [
      { flags: '--agent', about: 'enrol an agent: it proposes, and does what a human delegates to its key' },
      {
        flags: '--key-out <file>',
        about: 'make the key in this new file that only you can read; of a human only with --service',
      },
      { flags: '--token', about: 'make a token by which the agent shows a service who it is' },
      role,
      as,
    ],
    examples: [
      'keyturn identity add bob --role ops',
      'keyturn identity add scout --agent --key-out scout.key',
      'keyturn identity add bob --service https://keys.example.org --key-out bob.json',
      'keyturn identity add bot --agent --token',
    ],
    load: async () => (await import('../command/identity.ts')).add,
  },
  {
    name: 'identity list',
    about: 'list who is enrolled',
    examples: ['keyturn identity list'],
    load: async () => (await import('../command/identity.ts')).list,
  },
  {
    name: 'identity assign',
    about: 'set the roles of a person from now on; policies ask for them',
    operands: [{ name: '<name>', about: 'whose roles' }],
    options: [role, { flags: '--without-roles', about: 'take away all of them' }, reason, as],
    examples: ['keyturn identity assign bob --role ops --role dev --reason "joined the team"'],
    load: async () => (await import('../command/identity.ts')).assign,
  },
  {
    name: 'identity revoke',
    about: 'take away the right to speak, for good',
    operands: [{ name: '<name>', about: 'who is revoked' }],
    options: [reason, as],
    examples: ['keyturn identity revoke bob --reason "left the team"'],
    load: async () => (await import('../command/identity.ts')).revoke,
  },
  {
    name: 'credential add',
    about: 'add a further key file or passkey of yours, or one for a human who lost all',
    operands: [{ name: '[name]', about: 'whose it is; without it yours' }],
    options: [
      { flags: '--label <text>', about: 'what you call it, such as "laptop"', required: true },
      { flags: '--passkey', about: 'a passkey in place of a key file; `keyturn serve` must run here' },
      { flags: '--key-out <file>', about: 'with --service: the new file that the key is kept in' },
      {
        flags: '--key <credential>',
        about:
          'where you have only passkeys, the one that signs for the key file: its label, its public key, or how that begins',
      },
      reason,
      as,
    ],
    examples: [
      'keyturn credential add --label "new laptop" --reason "the old one is retired"',
      'keyturn credential add --passkey --label phone --reason "to approve on the way"',
      'keyturn credential add bob --as alice --label laptop --reason "bob lost his"',
    ],
    load: async () => (await import('../command/credential.ts')).add,
  },
  {
    name: 'credential list',
    about: 'list what people sign with, revoked ones too',
    operands: [{ name: '[name]', about: 'whose; without it of all' }],
    examples: ['keyturn credential list', 'keyturn credential list bob'],
    load: async () => (await import('../command/credential.ts')).list,
  },
  {
    name: 'credential revoke',
    about: 'end one credential, with all that it approved and delegated; the name stays',
    operands: [
      { name: '<name>', about: 'whose it is' },
      {
        name: '<credential>',
        about: 'its label, its public key, or how that begins; `keyturn credential list` shows them',
      },
    ],
    options: [reason, as],
    examples: ['keyturn credential revoke bob phone --reason "left in a taxi"'],
    load: async () => (await import('../command/credential.ts')).revoke,
  },
  {
    name: 'delegation add',
    about: 'let the key of an agent submit and be granted certain actions, until a certain time',
    operands: [{ name: '<agent>', about: 'who may; it must have a key' }],
    options: [
      {
        flags: '--action <action>',
        about: 'such as tool:deploy, tool:*, mcp:files:read_text_file or plan; once for each',
        required: true,
        many: true,
      },
      { flags: '--ttl <duration>', about: 'how long, such as 7d', required: true },
      { flags: '--approves', about: 'what is submitted under it counts as approved by you' },
      {
        flags: '--uses <n>',
        about: 'a grant: so many calls, each with its own entry; with --approves, which needs it for mcp:…',
      },
      {
        flags: '--schema <file>',
        about:
          'a JSON Schema that the arguments must fit, in a file or as text; members that it does not name fall outside',
      },
      reason,
      as,
      delegationId,
      agentKey,
      {
        flags: '--delegate-key <key>',
        about: 'the public key of the agent who may; needed with --service and --delegation',
      },
    ],
    examples: [
      'keyturn delegation add scout --action tool:greet --ttl 7d --reason "greetings are harmless"',
      'keyturn delegation add scout --action "tool:*" --ttl 8h --approves --reason "the night shift"',
      'keyturn delegation add scout --action mcp:files:read_text_file --ttl 30m --approves --uses 20 --schema docs.json --reason "reads docs"',
    ],
    load: async () => (await import('../command/delegation.ts')).add,
  },
  {
    name: 'delegation list',
    about: 'list what was delegated, to whom and until when',
    examples: ['keyturn delegation list'],
    load: async () => (await import('../command/delegation.ts')).list,
  },
  {
    name: 'delegation revoke',
    about: 'take a delegation back, with all that was passed on from it',
    operands: [
      {
        name: '<delegation>',
        about: 'its id, or its first 4 or more characters; `keyturn delegation list` shows it',
      },
    ],
    options: [reason, as],
    examples: [`keyturn delegation revoke ${ID} --reason "no longer needed"`],
    load: async () => (await import('../command/delegation.ts')).revoke,
  },
  {
    name: 'doctor',
    about: 'look at this machine and this project, and say what is missing',
    examples: ['keyturn doctor'],
    host_only: true,
    load: async () => (await import('../command/doctor.ts')).doctor,
  },
  {
    name: 'clock accept',
    about: 'say that the clock of this machine is right, after a wrong one wrote to the ledger',
    options: [reason, as],
    examples: ['keyturn clock accept --reason "the clock was a day ahead on Monday"'],
    load: async () => (await import('../command/clock.ts')).accept,
  },
  {
    name: 'explain',
    about: 'say what a reason code means and what to do about it',
    operands: [{ name: '[code]', about: 'a name or a number; without it all of them' }],
    examples: ['keyturn explain APPROVAL_EXPIRED', 'keyturn explain 3003'],
    load: async () => (await import('../command/explain.ts')).explainCode,
  },
];
