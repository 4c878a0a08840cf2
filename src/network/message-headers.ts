import type { Json, JsonObject } from '../canonical/json.ts';

/** What a message of MCP says in headers, too: something on the way may look only at these. The same for what we send and for what we check. */

/** The member that `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

export function namedBy(method: string, params: Readonly<Record<string, unknown>>): string | null {
  const member = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  const name = member === undefined ? undefined : params[member];
  return typeof name === 'string' ? name : null;
}

export interface ParamHeader {
  readonly header: string;
  /** Null where the header is left out; undefined for a value that no header can say. */
  readonly text: string | null | undefined;
}

/** Arguments that the definition of a tool wants in headers (`x-mcp-header`), at any depth that goes only through `properties`. */
export function paramHeaders({ inputSchema }: JsonObject, values: JsonObject): ParamHeader[] {
  const { properties } = objectIn(inputSchema);
  return Object.entries(objectIn(properties)).flatMap(([name, schema]) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const { 'x-mcp-header': header } = objectIn(schema);
    // The server chose the name: one that is none of HTTP can be in no request.
    const own =
      typeof header === 'string' && TOKEN.test(header)
        ? [{ header: `Mcp-Param-${header}`, text: textOfValue(value) }]
        : [];
    return [...own, ...paramHeaders({ inputSchema: schema ?? null }, objectIn(value))];
  });
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

function textOfValue(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? undefined : String(value);
}

function objectIn(value: Json | undefined): JsonObject {
  const is_object = typeof value === 'object' && value !== null && !Array.isArray(value);
  return is_object ? (value as JsonObject) : {};
}

/** A header takes no text beyond ASCII: the protocol says how it is written there. */
export function headerOf(text: string): string {
  return /^[!-~]+$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** What a header says. Undefined where it is written wrongly. */
export function textOfHeader(said: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/s.exec(said) ?? [];
  if (encoded === undefined) return said;
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
}
