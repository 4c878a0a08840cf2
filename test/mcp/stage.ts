import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';

import type { Project } from '../support/project.ts';

export const BUILT_CLI = resolve('dist/cli.cjs');

export type Era = 'legacy' | '2026-07-28';

/** An agent with a key, as `mcp config` enrols one. */
export async function enrolled(p: Project, name = 'scout'): Promise<void> {
  const path = join(p.root, '.keyturn', 'agents', `${name}.key`);
  if (existsSync(path)) return;
  mkdirSync(join(p.root, '.keyturn', 'agents'), { recursive: true });
  const { public_key } = Keyturn.createAgentKey(path);
  await p.keyturn.people.enrol({ name, principal: 'agent', public_key, signer: p.ada });
}

export interface Gate {
  readonly client: Client;
  readonly transport: StdioClientTransport;
}

/** A real client of the SDK over a real process of the gate. */
export async function gate(
  p: Project,
  { era = 'legacy', hold_ms = 300, as = 'scout' }: { era?: Era; hold_ms?: number; as?: string } = {},
): Promise<Gate> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUILT_CLI, 'mcp', '--project', p.root, '--as', as, '--hold', String(hold_ms / 1000)],
    env: process.env as Record<string, string>,
    stderr: 'inherit',
  });
  const versionNegotiation = era === 'legacy' ? { mode: 'legacy' as const } : { mode: { pin: era } };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation } as never);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

export function textOf(result: unknown): string {
  const { content } = result as { content: { type: string; text?: string }[] };
  return content.map(({ text }) => text ?? '').join('\n');
}

/** The id of the intent that an answer names. */
export function idOf(result: unknown): string {
  return /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(textOf(result))![0];
}

/** What a request of the stateless protocol says of itself. */
export const STATELESS_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The same of a client that follows tasks. */
export const TASKS_META = {
  ...STATELESS_META,
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

interface Sent {
  readonly method?: string;
  readonly params?: object;
}

/** The headers that the stateless protocol asks for; none for a message of another one. */
export function headersOf({ method, params = {} }: Sent): Record<string, string> {
  const { _meta, name, uri, taskId } = params as Record<string, never>;
  const version = (_meta as Record<string, string> | undefined)?.['io.modelcontextprotocol/protocolVersion'];
  if (version === undefined || method === undefined) return {};
  const named = name ?? uri ?? taskId;
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(named !== undefined && { 'mcp-name': named }),
  };
}
