import { agentKey, as, type OptionSpec, reason, type Spec, scope } from '../spec.ts';

const server = { name: '<name>', about: 'the name of the server in keyturn.yaml' };

const client = {
  name: '<client>',
  about: 'claude-code, codex or gemini-cli',
  choices: ['claude-code', 'codex', 'gemini-cli'],
};
const settings: readonly OptionSpec[] = [
  {
    flags: '--home',
    about: 'the settings of your account, for every folder, in place of those of the project',
  },
  { flags: '--settings <file>', about: 'this settings file' },
];

/** The gate for MCP: agents call servers through it. */
export const MCP: readonly Spec[] = [
  {
    name: 'mcp',
    about: 'the gate as an MCP server on standard input and output; an agent starts it',
    options: [
      { flags: '--as <agent>', about: 'the agent that calls, as it is enrolled' },
      {
        flags: '--agent-key <file>',
        about: 'its key; without it the one that `mcp config` made, if there is one',
      },
      {
        flags: '--hold <seconds>',
        about: 'how long a call is held for a human; 25 unless told, which is the most',
      },
    ],
    examples: ['keyturn mcp --as scout'],
    host_only: true,
    load: async () => (await import('../command/mcp.ts')).serve,
  },
  {
    name: 'mcp add',
    about: 'put a server behind the gate: start it, look at every tool, and accept what is shown',
    operands: [
      { name: '<name>', about: 'what it is called here: a-z, 0-9, dash' },
      { name: '<command...>', about: 'after --, the program and its arguments; or the URL of the server' },
    ],
    options: [
      scope,
      { flags: '--env <pair>', about: 'NAME=VALUE in its environment; once for each', many: true },
      { flags: '--secret <pair>', about: 'VARIABLE=SECRET of the executor; once for each', many: true },
      { flags: '--bearer <secret>', about: 'of a URL: the secret that is sent as Authorization: Bearer' },
      {
        flags: '--allow <network>',
        about: 'of a URL: a network that is not public, such as 127.0.0.0/8; once for each',
        many: true,
      },
      { flags: '--run-as <user>', about: 'the user of the operating system' },
      reason,
      as,
    ],
    examples: [
      'keyturn mcp add files --scope read=/usr/lib/node_modules --scope write=/srv/docs --reason "docs" -- npx -y @modelcontextprotocol/server-filesystem /srv/docs',
      'keyturn mcp add search --bearer SEARCH_TOKEN --reason "search" -- https://mcp.example.org/mcp',
    ],
    host_only: true,
    load: async () => (await import('../command/mcp-servers.ts')).add,
  },
  {
    name: 'mcp accept',
    about: 'look at a server of keyturn.yaml, and accept how it is started and every tool that is shown',
    operands: [server],
    options: [reason, as],
    examples: ['keyturn mcp accept files --reason "a new version"'],
    host_only: true,
    load: async () => (await import('../command/mcp-servers.ts')).accept,
  },
  {
    name: 'mcp diff',
    about: 'what changed of a server since a human accepted it; it starts the server',
    operands: [server],
    examples: ['keyturn mcp diff files'],
    host_only: true,
    load: async () => (await import('../command/mcp-servers.ts')).diff,
  },
  {
    name: 'mcp list',
    about: 'the servers, and whether a human accepted them as they are now',
    examples: ['keyturn mcp list'],
    load: async () => (await import('../command/mcp-servers.ts')).list,
  },
  {
    name: 'mcp remove',
    about: 'take back what was accepted of a server',
    operands: [server],
    options: [reason, as],
    examples: ['keyturn mcp remove files --reason "unused"'],
    load: async () => (await import('../command/mcp-servers.ts')).remove,
  },
  {
    name: 'mcp import',
    about:
      'move the servers of a client behind the gate: into keyturn.yaml, where each has to be accepted, then out of the client',
    operands: [{ name: '<file>', about: 'the configuration of the client: JSON, or the TOML of Codex' }],
    options: [
      {
        flags: '--move <agent>',
        about: 'take those that are accepted by now out of the client, and put the gate for this agent there',
      },
      { flags: '--dry-run', about: 'show what would change, and write nothing' },
    ],
    examples: [
      'keyturn mcp import ~/.claude.json',
      'keyturn mcp import ~/.claude.json --move scout --dry-run',
    ],
    host_only: true,
    load: async () => (await import('../command/mcp-import.ts')).importFrom,
  },
  {
    name: 'mcp config',
    about: 'enrol an agent with a key, and print the lines that its client needs',
    operands: [{ name: '<agent>', about: 'the name of the agent' }],
    options: [agentKey, as],
    examples: ['keyturn mcp config scout'],
    host_only: true,
    load: async () => (await import('../command/mcp-config.ts')).config,
  },
  {
    name: 'hook',
    about:
      'answer the client of an agent, which asks before it runs a tool; it gives the call as JSON on standard input',
    options: [
      // Asked for by the command itself: the parser would ask `hook status` for them, too.
      { flags: '--client <name>', about: client.about, choices: client.choices },
      { flags: '--as <agent>', about: 'the agent, as it is enrolled' },
      {
        flags: '--agent-key <file>',
        about: 'its key; without it the one that `mcp config` made, if there is one',
      },
    ],
    examples: ['keyturn hook --client claude-code --as scout'],
    host_only: true,
    load: async () => (await import('../command/hook.ts')).answer,
  },
  {
    name: 'hook install',
    about: 'write the hook into the settings of a client, beside what stands there',
    operands: [client],
    options: [{ flags: '--as <agent>', about: 'the agent, as it is enrolled' }, ...settings],
    examples: ['keyturn hook install claude-code --as scout'],
    host_only: true,
    load: async () => (await import('../command/hook-settings.ts')).install,
  },
  {
    name: 'hook status',
    about: 'which clients ask, and what becomes of what they ask',
    options: settings,
    examples: ['keyturn hook status'],
    host_only: true,
    load: async () => (await import('../command/hook-settings.ts')).status,
  },
  {
    name: 'hook remove',
    about: 'take the hook out of the settings of a client, and nothing else',
    operands: [client],
    options: settings,
    examples: ['keyturn hook remove claude-code'],
    host_only: true,
    load: async () => (await import('../command/hook-settings.ts')).remove,
  },
];
