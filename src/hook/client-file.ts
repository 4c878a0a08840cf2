import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { type Json, type JsonObject, parseJson } from '../canonical/json.ts';
import { visible } from '../canonical/visible.ts';
import { createDurably, replaceDurably } from '../durable/file.ts';
import { hookLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { tablesIn, withoutTables } from './toml-servers.ts';

/** A server as clients write it. Which members are read, and what becomes of the others, `mcp import` decides. */
export type ClientServer = Readonly<Record<string, unknown>>;

/** A server where it stands in the file of its client. */
export interface PlacedServer {
  readonly from: string;
  /** The folder of the project that alone has it, as `claude mcp add` writes it unless told; null for one that every project has. */
  readonly project: string | null;
  readonly server: ClientServer;
  /** The list of the same file that keeps the client from using it; null where there is none. */
  readonly off_by: string | null;
}

/** The configuration of a client: JSON as Claude, Cursor, Gemini and VS Code have it, or the TOML of Codex. */
export interface ClientFile {
  readonly path: string;
  readonly text: string;
  readonly servers: readonly PlacedServer[];
  /** The file without these servers, and with the gate in the lists of these projects. */
  without(gone: readonly PlacedServer[], gate: GateEntry, into: ReadonlySet<string | null>): string;
}

export interface GateEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** The name of the gate in a client. */
export const GATE = 'keyturn';

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

/** One list of servers in a JSON file: the folder of the project that it is for, and where it stands. */
interface ServerList {
  readonly project: string | null;
  readonly at: readonly string[];
  readonly servers: JsonObject;
}

function jsonFile(path: string, text: string): ClientFile {
  const value = jsonOf(path, text);
  const lists = listsIn(value);
  if (lists.length === 0) refuse('MCP_CONFIG_MALFORMED', `${visible(path)} has no list of MCP servers.`);
  const servers = lists.flatMap(({ project, servers: listed }) =>
    Object.entries(listed).map(([from, one]) => ({
      ...{ from, project, server: Object(one) },
      off_by: offBy(value, project, from),
    })),
  );
  return {
    ...{ path, text, servers },
    without(gone, gate, into) {
      // Of two lists at the top the gate goes into the first.
      const first = new Map(lists.toReversed().map((list) => [list.project, list]));
      const now = lists.reduce((before, list) => {
        const left = Object.entries(list.servers).filter(
          ([, one]) => !gone.some(({ server }) => server === one),
        );
        const has_gate = into.has(list.project) && first.get(list.project) === list;
        const added = has_gate ? [[GATE, { ...gate, args: [...gate.args] }] as const] : [];
        return replaced(before, list.at, Object.fromEntries([...left, ...added]));
      }, value);
      const indent = /^([\t ]+)"/m.exec(text)?.[1] ?? '  ';
      const end = text.endsWith('\n') ? '\n' : '';
      return `${JSON.stringify(now, null, indent)}${end}`;
    },
  };
}

function listsIn(value: JsonObject): ServerList[] {
  const listAt = (project: string | null, at: readonly string[], of: Json | undefined): ServerList[] =>
    isObject(of) ? [{ project, at, servers: of }] : [];
  const projects = isObject(value.projects) ? Object.entries(value.projects) : [];
  return [
    ...['mcpServers', 'servers'].flatMap((member) => listAt(null, [member], value[member])),
    ...projects.flatMap(([project, one]) =>
      isObject(one) ? listAt(project, ['projects', project, 'mcpServers'], one.mcpServers) : [],
    ),
  ];
}

/**
 * Gemini CLI has lists of names beside its servers, and Claude Code has one in each project. A server that every project has stays off in one of
 * them only while the client starts it: the gate would be in all of them.
 */
function offBy(value: JsonObject, project: string | null, name: string): string | null {
  const names = (of: Json | undefined, member: string) => {
    const list = isObject(of) ? of[member] : undefined;
    return Array.isArray(list) ? (list as readonly Json[]) : null;
  };
  if (project === null && names(value.mcp, 'excluded')?.includes(name)) return 'mcp.excluded';
  if (project === null && names(value.mcp, 'allowed')?.includes(name) === false) return 'mcp.allowed';
  const projects = isObject(value.projects) ? Object.entries(value.projects) : [];
  const found = projects.find(
    ([folder, one]) =>
      (project === null || project === folder) && names(one, 'disabledMcpServers')?.includes(name),
  );
  return found === undefined ? null : `disabledMcpServers of ${found[0]}`;
}

function replaced(
  value: JsonObject,
  [member = '', ...deeper]: readonly string[],
  by: JsonObject,
): JsonObject {
  return {
    ...value,
    [member]: deeper.length === 0 ? by : replaced(value[member] as JsonObject, deeper, by),
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
    ...{ path, text },
    servers: tables.map(({ name, values }) => ({ from: name, project: null, server: values, off_by: null })),
    without(gone, gate, into) {
      const lines = [
        `[mcp_servers.${GATE}]`,
        `command = ${JSON.stringify(gate.command)}`,
        `args = ${JSON.stringify(gate.args)}`,
        'tool_timeout_sec = 60',
      ];
      const left = tables.filter(({ name }) => gone.some(({ from }) => from === name));
      return withoutTables(text, left, into.has(null) ? lines : []);
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
