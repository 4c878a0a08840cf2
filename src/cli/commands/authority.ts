import { agentKey, as, condition, delegationId, frozen, ID, id, reason, type Spec, scope } from '../spec.ts';

/** What allows it: capabilities, freezes, policies. */
export const AUTHORITY: readonly Spec[] = [
  {
    name: 'grant',
    about:
      'order one run of an approved intent: narrow, short; with --out or --holder its capability is issued at once',
    operands: [id],
    options: [
      { flags: '--action <action>', about: 'needed when the intent requests several', many: true },
      scope,
      { flags: '--category <name>', about: 'only for tools of this category' },
      condition,
      { flags: '--ttl <duration>', about: 'how long it lives, such as 2m' },
      { flags: '--audience <name>', about: 'the executor that it is for; without it the one here' },
      { flags: '--holder <who>', about: 'an agent, or a public key: only its holder can present it' },
      delegationId,
      agentKey,
      { flags: '--out <file>', about: 'write the capability to this new file, which only you can read' },
      as,
    ],
    examples: [
      `keyturn grant ${ID}`,
      `keyturn grant ${ID} --ttl 2m --scope write=/srv/backup --condition environment=prod`,
      `keyturn grant ${ID} --holder scout --out capability.jws`,
    ],
    load: async () => (await import('../command/grant.ts')).grant,
  },
  {
    name: 'attenuate',
    about: 'make a narrower capability for another holder; needs no project',
    options: [
      { flags: '--capability <file>', about: 'the capability', required: true },
      { flags: '--holder-key <file>', about: 'the key of its holder', required: true },
      scope,
      condition,
      { flags: '--ttl <duration>', about: 'how long it lives from now on, such as 30s' },
      { flags: '--holder <public-key>', about: 'who shall present it; without it its holder stays' },
      { flags: '--out <file>', about: 'write it to this new file', required: true },
    ],
    examples: [
      'keyturn attenuate --capability wide.jws --holder-key scout.key --scope write=/srv/a --out narrow.jws',
    ],
    load: async () => (await import('../command/attenuate.ts')).attenuate,
  },
  {
    name: 'revoke',
    about: 'take a capability back; the run that uses it is stopped',
    operands: [
      {
        name: '<capability-id>',
        about: 'its id, or its first 4 or more characters; `keyturn show` prints it',
      },
    ],
    options: [reason, as],
    examples: [`keyturn revoke ${ID} --reason "granted by mistake"`],
    load: async () => (await import('../command/revoke.ts')).revoke,
  },
  {
    name: 'freeze',
    about: 'stop everything, one agent, one tool or this tenant, running actions too',
    options: [...frozen, reason, as],
    examples: [
      'keyturn freeze --reason "incident 12"',
      'keyturn freeze --agent scout --reason "it behaves oddly"',
    ],
    load: async () => (await import('../command/freeze.ts')).freeze,
  },
  {
    name: 'unfreeze',
    about: 'let it go on',
    options: [...frozen, reason, as],
    examples: ['keyturn unfreeze --reason "incident 12 is over"'],
    load: async () => (await import('../command/freeze.ts')).unfreeze,
  },
  {
    name: 'break-glass',
    about: 'go past a freeze and past policies, once; two humans, and only if a policy permits it',
    operands: [id],
    options: [reason, as],
    examples: [`keyturn break-glass ${ID} --reason "the site is down"`],
    load: async () => (await import('../command/break-glass.ts')).breakGlass,
  },
  {
    name: 'policy check',
    about: 'say everything that is wrong with the files in policies/',
    examples: ['keyturn policy check'],
    load: async () => (await import('../command/policy.ts')).check,
  },
  {
    name: 'policy test',
    about: 'ask the files in policies/ every question of policies/tests.yaml',
    examples: ['keyturn policy test'],
    load: async () => (await import('../command/policy.ts')).test,
  },
  {
    name: 'policy diff',
    about:
      'how the files in policies/ differ from the active policies, and which recent decisions would change',
    options: [
      { flags: '--recent <n>', about: 'how many of the newest entries to look at; 1000 unless told' },
    ],
    examples: ['keyturn policy diff', 'keyturn policy diff --recent 200'],
    load: async () => (await import('../command/policy.ts')).diff,
  },
  {
    name: 'policy activate',
    about: 'make the files in policies/ the rules from now on',
    options: [reason, as],
    examples: ['keyturn policy activate --reason "two approvers for deployments"'],
    load: async () => (await import('../command/policy.ts')).activate,
  },
  {
    name: 'control rotate',
    about:
      'issue capabilities on this host with a new key, in the place of the one it has, if any; what that one issued holds',
    options: [reason, as],
    examples: [
      'keyturn control rotate --reason "every quarter"',
      'keyturn control rotate --reason "the second service"',
    ],
    host_only: true,
    load: async () => (await import('../command/control.ts')).rotate,
  },
  {
    name: 'control list',
    about: 'list the keys that issue capabilities, and those that no longer do',
    examples: ['keyturn control list'],
    load: async () => (await import('../command/control.ts')).list,
  },
  {
    name: 'control revoke',
    about: 'end a control key: it issues nothing, and what it issued and was not claimed yet is not run',
    operands: [
      { name: '<key>', about: 'its public key, or how that begins; `keyturn control list` shows it' },
    ],
    options: [reason, as],
    examples: [
      'keyturn control revoke 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= --reason "that host was broken into"',
    ],
    load: async () => (await import('../command/control.ts')).revoke,
  },
  {
    name: 'executor add',
    about: 'let a host run what is ordered: this one, or the one with the key that is named',
    operands: [
      { name: '[key]', about: 'the public key of the host, as `keyturn store join` shows it there' },
    ],
    options: [
      { flags: '--name <name>', about: 'what orders address it by; as keyturn.yaml has it unless told' },
      {
        flags: '--serves <label>',
        about: 'a label; tools whose entry says `executor: LABEL` run there',
        many: true,
      },
      reason,
      as,
    ],
    examples: [
      'keyturn executor add --reason "a second machine for deployments"',
      'keyturn executor add --serves database --reason "it has the password of the database"',
    ],
    load: async () => (await import('../command/executor.ts')).add,
  },
  {
    name: 'executor list',
    about: 'list the hosts that may run what is ordered, revoked ones too',
    examples: ['keyturn executor list'],
    load: async () => (await import('../command/executor.ts')).list,
  },
  {
    name: 'executor revoke',
    about: 'let a host run nothing from now on; what it runs is stopped',
    operands: [
      { name: '<key>', about: 'its public key, or how that begins; `keyturn executor list` shows it' },
    ],
    options: [reason, as],
    examples: [
      'keyturn executor revoke 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= --reason "it was stolen"',
    ],
    load: async () => (await import('../command/executor.ts')).revoke,
  },
];
