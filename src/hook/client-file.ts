import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { type Json, type JsonObject, parseJson } from '../canonical/json.ts';
import { visible } from '../canonical/visible.ts';
import { createDurably, replaceDurably } from '../durable/file.ts';
import { hookLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { tablesIn, withoutTables } from './toml-servers.ts';

/** A server as clients write it. */
export interface ClientServer {
  readonly command?: unknown;
  readonly args?: unknown;
  readonly env?: unknown;
  readonly url?: unknown;
  readonly headers?: unknown;
  /** As Codex writes them. */
  readonly http_headers?: unknown;
  readonly env_http_headers?: unknown;
  readonly bearer_token_env_var?: unknown;
}

/** The configuration of a client: JSON as Claude, Cursor, Gemini and VS Code have it, or the TOML of Codex. */
export interface ClientFile {
  readonly path: string;
  readonly text: string;
  readonly servers: ReadonlyMap<string, ClientServer>;
  /** The file without these servers, and with the gate where it is not there yet. */
  without(gone: ReadonlySet<string>, gate: GateEntry | null): string;
}

export interface GateEntry {
  readonly command: string;
  readonly args: readonly string[];
}

const GATE = 'keyturn';

export function readClientFile(given: string): ClientFile {
  let path: string;
  let text: string;
  try {
    // What is written later is the file itself, and not a link to it.
    path = realpathSync(given);
    text = readFileSync(path, 'utf8');
  } catch {
    return refuse('MCP_CONFIG_MALFORMED', `${visible(given)} cannot be read.`);
  }
  return basename(path).endsWith('.toml') ? tomlFile(path, text) : jsonFile(path, text);
}

function jsonFile(path: string, text: string): ClientFile {
  const value = jsonOf(path, text);
  const member = ['mcpServers', 'servers'].find((one) => isObject(value[one]));
  if (member === undefined) return refuse('MCP_CONFIG_MALFORMED');
  const servers = value[member] as JsonObject;
  return {
    ...{ path, text, servers: new Map(Object.entries(servers).map(([name, one]) => [name, Object(one)])) },
    without(gone, gate) {
      const left = Object.entries(servers).filter(([name]) => !gone.has(name));
      const now = Object.fromEntries([...left, ...(gate ? [[GATE, { ...gate }] as const] : [])]);
      const indent = /^([\t ]+)"/m.exec(text)?.[1] ?? '  ';
      const end = text.endsWith('\n') ? '\n' : '';
      return `${JSON.stringify({ ...value, [member]: now }, null, indent)}${end}`;
    },
  };
}

/** Strictly: a file whose members are there twice would be another one after it was written. */
function jsonOf(path: string, text: string): JsonObject {
  try {
    const value = parseJson(text, hookLimits.client_file_bytes);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  return refuse('MCP_CONFIG_MALFORMED', `${visible(path)} is no JSON file that can be read.`);
}

function tomlFile(path: string, text: string): ClientFile {
  const tables = tablesIn(text);
  return {
    ...{ path, text, servers: new Map(tables.map(({ name, values }) => [name, values])) },
    without(gone, gate) {
      const lines = gate
        ? [
            `[mcp_servers.${GATE}]`,
            `command = ${JSON.stringify(gate.command)}`,
            `args = ${JSON.stringify(gate.args)}`,
            'tool_timeout_sec = 60',
          ]
        : [];
      const left = tables.filter(({ name }) => gone.has(name));
      return withoutTables(text, left, lines);
    },
  };
}

/** Refused where it changed since it was read. What it said before is beside it, and is never written over. */
export function rewriteClientFile({ path, text }: ClientFile, now: string): string {
  if (readFileSync(path, 'utf8') !== text) refuse('MCP_CONFIG_MALFORMED', 'The file changed meanwhile.');
  const mode = statSync(path).mode & 0o777;
  const backup = backedUp(path, Buffer.from(text), mode);
  replaceDurably(path, Buffer.from(now), mode);
  return backup;
}

function backedUp(path: string, bytes: Uint8Array, mode: number): string {
  for (let n = 0; ; n += 1) {
    const backup = `${path}.before-keyturn${n === 0 ? '' : `-${n}`}`;
    try {
      createDurably(backup, bytes, mode);
      return backup;
    } catch (error) {
      if (n >= 99 || !isThere(backup)) throw error;
    }
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
