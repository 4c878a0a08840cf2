import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { generateKeyPair } from '../../canonical/ed25519.ts';
import { visible } from '../../canonical/visible.ts';
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
    const server = gateEntry(keyturn, name, path);
    const result: Result<'mcp config'> = { agent: name, key_file: path, ...server };
    const first =
      known === undefined
        ? [`[OK] ${name} is enrolled as an agent, with a key of its own`]
        : [
            `${name} is enrolled already.`,
            ...(known.status === 'active' ? [] : [`WARNING: ${name} is revoked: its calls are refused.`]),
            ...keyWarning(name, path),
          ];
    return { result, lines: [...first, ...configLines(server)] };
  });
}

/** Without its key an agent is only named: the gate and the hook still take its calls, and a human has to hear that they prove nothing. */
export function keyWarning(agent: string, path: string): string[] {
  if (existsSync(path)) return [];
  return [
    `WARNING: its key file ${visible(path)} is not there. The calls of ${agent} are unverified, and no grant applies to them. Put the file back, or enrol another agent.`,
  ];
}

/** How a client starts the gate for an agent. By its path: a client has a PATH of its own, on which a package in a folder is not. */
export function gateEntry(keyturn: Keyturn, agent: string, key_file = agentKeyOf(keyturn, agent)) {
  const [command = '', ...program] = thisProgram();
  const key = key_file === agentKeyOf(keyturn, agent) ? [] : ['--agent-key', resolve(key_file)];
  return { command, args: [...program, 'mcp', '--project', keyturn.layout.root, '--as', agent, ...key] };
}

function configLines(server: { command: string; args: string[] }): string[] {
  const json = (member: string) => JSON.stringify({ [member]: { keyturn: server } }, null, 2).split('\n');
  return [
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
