import type { Json, JsonObject } from '../canonical/json.ts';
import { ERRORS, isObject, type Message, objectIn, wrong } from '../mcp/message.ts';

/** The member that `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/**
 * What a header says is what the message says: something on the way may have looked only at the header. The stateless protocol asks for the
 * headers; a client with a handshake may leave them out.
 */
export function requireHeaders({ method, params, is_modern, id }: Message, headers: Headers): void {
  const is_needed = is_modern && id !== null;
  const member = NAMED[method];
  const name = member === undefined ? undefined : params[member];
  requireSame('Mcp-Method', headers, method, is_needed);
  requireSame('Mcp-Name', headers, typeof name === 'string' ? name : null, is_needed);
}

function requireSame(header: string, headers: Headers, meant: string | null, is_needed: boolean): void {
  const said = headers.get(header);
  if (said === null && (!is_needed || meant === null)) return;
  if (meant !== null && said !== null && textOfHeader(said) === meant) return;
  // A name where the message has none is ignored: older clients send it.
  if (meant === null && !is_needed) return;
  wrong(ERRORS.header, `The header ${header} does not fit the message.`);
}

/** Arguments that the definition of a tool wants in headers, too (`x-mcp-header`): each is there with the same value, or in neither place. */
export function requireParamHeaders(definition: JsonObject, values: JsonObject, headers: Headers): void {
  const properties = objectIn(objectIn(definition, 'inputSchema'), 'properties');
  for (const [name, schema] of Object.entries(properties)) {
    const header = isObject(schema) ? schema['x-mcp-header'] : undefined;
    // The server chose the name: one that is none of HTTP can be in no request.
    if (typeof header !== 'string' || !TOKEN.test(header)) continue;
    const said = headers.get(`Mcp-Param-${header}`);
    if ((said === null ? null : textOfHeader(said)) !== meantBy(values[name]))
      wrong(ERRORS.header, `The header Mcp-Param-${header} does not fit the message.`);
  }
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

function meantBy(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? undefined : String(value);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A header takes no text beyond ASCII: the protocol says how it is written there. Undefined where it is written wrongly. */
function textOfHeader(said: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/s.exec(said) ?? [];
  if (encoded === undefined) return said;
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
}
