import { mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { generateKeyPair } from '../../canonical/ed25519.ts';
import { visible } from '../../canonical/visible.ts';
import { Keyturn, type Signer } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { thisProgram } from './hook.ts';
import { keyOf } from './mcp.ts';
import { programAt } from './mcp-servers.ts';

/** Enrols the agent of a client with a key of its own, and prints what the client needs. An agent that has one keeps it. */
export function config(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  return writingHere(call, async (keyturn) => {
    const path = call.options.agentKey ?? keyOf(keyturn, name);
    const known = (await keyturn.people.list()).principals.find((one) => one.name === name);
    if (known && known.kind !== 'agent') refuse('PRINCIPAL_EXISTS', `"${name}" is no agent.`);
    if (!known) {
      const by = await whoActs(keyturn, call.options.as);
      const enrol = (signer: Signer, { public_key }: { readonly public_key: string }) =>
        keyturn.people.enrol({ name, principal: 'agent', public_key, signer });
      await actAs(
        keyturn,
        by,
        (signer) => {
          mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
          return enrol(signer, Keyturn.createAgentKey(path));
        },
        () => [],
        (signer) => enrol(signer, generateKeyPair()),
      );
    }
    // By its path: a client has a PATH of its own, on which a package in a folder is not.
    const [command = '', ...program] = thisProgram();
    const args = [...program, 'mcp', '--project', keyturn.layout.root, '--as', name];
    const server = { command, args };
    const result: Result<'mcp config'> = { agent: name, key_file: path, ...server };
    return { result, lines: configLines(name, server, known !== undefined) };
  });
}

function configLines(name: string, server: { command: string; args: string[] }, is_known: boolean): string[] {
  const json = (member: string) => JSON.stringify({ [member]: { keyturn: server } }, null, 2).split('\n');
  return [
    is_known ? `${name} is enrolled already.` : `[OK] ${name} is enrolled as an agent, with a key of its own`,
    '',
    'Claude Code, Claude Desktop, Cursor, Gemini CLI (.mcp.json, settings.json):',
    ...json('mcpServers'),
    '',
    'VS Code (.vscode/mcp.json):',
    ...json('servers'),
    '',
    'Codex (~/.codex/config.toml):',
    '[mcp_servers.keyturn]',
    `command = ${JSON.stringify(server.command)}`,
    `args = ${JSON.stringify(server.args)}`,
    'tool_timeout_sec = 60',
  ];
}

interface ClientServer {
  readonly command?: unknown;
  readonly args?: unknown;
  readonly env?: unknown;
  readonly url?: unknown;
  readonly headers?: unknown;
}

/** The servers of a client, written into keyturn.yaml without a sandbox. Nothing is started. */
export function importFrom(call: Call): Promise<Answer> {
  const [file = ''] = call.operands;
  const found = serversIn(file);
  return writingHere(call, async (keyturn) => {
    const servers: Result<'mcp import'>['servers'] = [];
    for (const [name, server] of Object.entries(found)) servers.push(imported(keyturn, name, server));
    const result: Result<'mcp import'> = { servers };
    const lines = servers.map(({ server, from, problem }) =>
      problem === null
        ? `[OK] ${visible(from)} is ${server} in keyturn.yaml. Next: keyturn mcp accept ${server} --reason "..."`
        : `[ERROR] ${visible(from)}: ${visible(problem)}`,
    );
    return {
      result,
      lines: [
        ...lines,
        'Their entries have no sandbox: give each one in keyturn.yaml before you accept it. What stands under env is in the clear there.',
        'In the client, replace them by what `keyturn mcp config AGENT` prints.',
      ],
    };
  });
}

function serversIn(file: string): Record<string, ClientServer> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return refuse('MCP_CONFIG_MALFORMED', `${visible(file)} is no JSON file that can be read.`);
  }
  const { mcpServers, servers } = (value ?? {}) as { mcpServers?: unknown; servers?: unknown };
  const found = mcpServers ?? servers;
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    return refuse('MCP_CONFIG_MALFORMED');
  return found as Record<string, ClientServer>;
}

function imported(keyturn: Keyturn, from: string, { command, args = [], env, url, headers }: ClientServer) {
  const server = from
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 32);
  try {
    if (typeof url === 'string') {
      if (headers !== undefined && Object.keys(Object(headers)).length > 0)
        refuse(
          'MCP_CONFIG_MALFORMED',
          'It has headers, which may hold a secret. Put that into .keyturn/executor.yaml, and add it by hand: keyturn mcp add NAME --bearer SECRET -- URL',
        );
      keyturn.configureServer(server, { url });
      return { server, from, problem: null };
    }
    if (typeof command !== 'string' || !Array.isArray(args))
      refuse('MCP_CONFIG_MALFORMED', 'It has no command.');
    if (isGate([command, ...args.map(String)]))
      refuse('MCP_CONFIG_MALFORMED', 'It is the gate itself. Leave it in the client.');
    keyturn.configureServer(server, {
      executable: programAt(command),
      args: args.map(String),
      ...(typeof env === 'object' && env !== null && { env }),
      sandbox: 'none',
    });
    return { server, from, problem: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { server, from, problem: `${error.code}: ${error.message}` };
  }
}

/** As `mcp config` prints it, now or in an earlier version. Behind itself a gate would ask itself without an end. */
function isGate(words: readonly string[]): boolean {
  const program = words[words.indexOf('mcp') - 1];
  return program !== undefined && (basename(program) === 'keyturn' || program === thisProgram()[1]);
}
