import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { generateKeyPair } from '../../canonical/ed25519.ts';
import { Keyturn, type Signer } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { thisProgram } from './hook.ts';
import { agentKeyOf } from './mcp.ts';

/** Enrols the agent of a client with a key of its own, and prints what the client needs. An agent that has one keeps it. */
export function config(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  return writingHere(call, async (keyturn) => {
    const path = call.options.agentKey ?? agentKeyOf(keyturn, name);
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
    const server = gateEntry(keyturn, name);
    const result: Result<'mcp config'> = { agent: name, key_file: path, ...server };
    return { result, lines: configLines(name, server, known !== undefined) };
  });
}

/** How a client starts the gate for an agent. By its path: a client has a PATH of its own, on which a package in a folder is not. */
export function gateEntry({ layout }: Keyturn, agent: string) {
  const [command = '', ...program] = thisProgram();
  return { command, args: [...program, 'mcp', '--project', layout.root, '--as', agent] };
}

function configLines(name: string, server: { command: string; args: string[] }, is_known: boolean): string[] {
  const json = (member: string) => JSON.stringify({ [member]: { keyturn: server } }, null, 2).split('\n');
  return [
    is_known ? `${name} is enrolled already.` : `[OK] ${name} is enrolled as an agent, with a key of its own`,
    '',
    'Claude Code (.mcp.json), Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json),',
    'Gemini CLI (.gemini/settings.json):',
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
