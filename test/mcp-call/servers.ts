import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Signer } from '../../src/identity/act.ts';
import type { Keyturn } from '../../src/keyturn.ts';
import { type Project, project, TOOLS } from '../support/project.ts';

/** The reference servers, as npm installs them. */
export const SERVERS = {
  filesystem: resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'),
  everything: resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
  memory: resolve('node_modules/@modelcontextprotocol/server-memory/dist/index.js'),
  odd: resolve('test/mcp-call/odd-server.mjs'),
} as const;

export interface ServerConfig {
  readonly script: string;
  readonly args?: readonly string[];
  readonly more?: object;
}

/** A project whose keyturn.yaml names these servers, without a sandbox. None of them is accepted. */
export async function mcpProject(
  servers: Readonly<Record<string, ServerConfig>>,
  clock?: () => Date,
): Promise<Project & { readonly files: string }> {
  const p = await project(TOOLS, clock);
  const files = join(realpathSync(p.root), 'files');
  mkdirSync(files);
  writeServers(p.root, servers, files);
  return { ...p, files };
}

export function writeServers(
  root: string,
  servers: Readonly<Record<string, ServerConfig>>,
  files: string,
): void {
  const entries = Object.entries(servers).map(([name, { script, args = [], more = {} }]) => [
    name,
    {
      executable: process.execPath,
      args: [script, ...args],
      sandbox: 'none',
      run_as: 'root',
      ...more,
    },
  ]);
  const config = JSON.stringify(Object.fromEntries(entries)).replaceAll('{files}', files);
  const before = readFileSync(join(root, 'keyturn.yaml'), 'utf8').replace(/\nmcp: .*\n/, '\n');
  writeFileSync(join(root, 'keyturn.yaml'), `${before.trimEnd()}\nmcp: ${config}\n`);
}

/** A human looks at a server and accepts it. */
export async function accepted(keyturn: Keyturn, server: string, signer: Signer): Promise<void> {
  const looked = await keyturn.host.lookAtServer(server);
  await keyturn.mcp.accept({ looked, reason: 'I read it', signer });
}

/** A human approves and orders it, and it runs here. */
export async function turned(p: Project, intent_id: string) {
  const { hash } = await p.keyturn.intents.get({ intent_id });
  await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
  await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
  const { seen } = await p.keyturn.runs.look({ intent_id, hash });
  return p.keyturn.runs.run({ intent_id, hash, seen });
}
