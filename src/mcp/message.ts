import { type Json, type JsonObject, parseJson } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/** The versions that are served: the stateless one, and those with a handshake. */
export const MODERN = '2026-07-28';
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export const ERRORS = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  header: -32020,
  capability: -32021,
  version: -32022,
} as const;

export type RequestId = string | number;

/** One message of a client. */
export interface Message {
  readonly id: RequestId | null;
  readonly method: string;
  readonly params: JsonObject;
  /** The stateless protocol: each request says its version and what its client can do. */
  readonly is_modern: boolean;
}

export interface Response {
  readonly jsonrpc: '2.0';
  readonly id: RequestId | null;
  readonly result?: JsonObject | RenderedResult;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

/** A result that was made into JSON once and is written as it is, also in many answers. */
export class RenderedResult {
  readonly bytes: Uint8Array;

  constructor(result: JsonObject) {
    this.bytes = Buffer.from(JSON.stringify(result));
  }
}

/**
 * A message as it is written, between these texts. What was rendered is not copied: a list of tools may have a megabyte, and a copy for
 * each answer costs more in collections than in copying.
 */
export function messageParts(message: Response | JsonObject, before = '', after = ''): Uint8Array[] {
  const { jsonrpc, id = null, result } = message;
  if (!(result instanceof RenderedResult))
    return [Buffer.from(`${before}${JSON.stringify(message)}${after}`)];
  const opened = JSON.stringify({ jsonrpc, id }).slice(0, -1);
  return [Buffer.from(`${before}${opened},"result":`), result.bytes, Buffer.from(`}${after}`)];
}

export function messageBytes(message: Response | JsonObject, before = '', after = ''): Uint8Array {
  return Buffer.concat(messageParts(message, before, after));
}

/** Something wrong with a message, to be answered as an error of the protocol with this number. */
export function wrong(rpc: number, message: string, data?: Json): never {
  return refuse('MCP_MESSAGE_MALFORMED', message, {
    rpc,
    ...(data !== undefined && { data: JSON.stringify(data) }),
  });
}

/** The number of an error of the protocol; null where it is none. */
export function rpcOf(error: unknown): number | null {
  const rpc = error instanceof Refusal ? error.facts.rpc : undefined;
  return typeof rpc === 'number' ? rpc : null;
}

/** Reads one message strictly: two members of one name are two meanings. Null for an answer to something that we never ask. */
export function messageIn(line: Uint8Array | string): Message | null {
  return readMessage(strictly(line));
}

/**
 * The same of a value that was read strictly. `header` is what an HTTP request says of its version, null where it says nothing; over standard
 * input there is none.
 */
export function readMessage(value: Json, header?: string | null): Message | null {
  if (!isObject(value) || value.jsonrpc !== '2.0')
    wrong(ERRORS.request, 'This is no message of JSON-RPC 2.0.');
  const { id, method, params = {} } = value;
  if (method === undefined) return null;
  const is_id = id === undefined || typeof id === 'string' || Number.isSafeInteger(id);
  if (typeof method !== 'string' || !is_id || !isObject(params))
    wrong(ERRORS.request, 'A message has a method, an id and params as an object.');
  const is_modern = isModern(objectIn(params, '_meta'), header, id !== undefined);
  return { id: (id as RequestId | undefined) ?? null, method, params, is_modern };
}

/** A request of the stateless protocol says its version, and what its client can do, itself: a header alone is not enough. */
function isModern(meta: JsonObject, header: string | null | undefined, is_request: boolean): boolean {
  const said = meta[VERSION_KEY];
  if (header !== undefined && said !== undefined && said !== header)
    wrong(ERRORS.header, 'The header MCP-Protocol-Version does not fit the message.');
  const version = said ?? header ?? null;
  if (said === undefined && (version === null || LEGACY.some((one) => one === version))) return false;
  if (version !== MODERN)
    wrong(ERRORS.version, 'This protocol version is not served.', {
      supported: [MODERN],
      requested: version,
    });
  if (is_request && (said === undefined || !isObject(meta[CAPABILITIES_KEY])))
    wrong(
      ERRORS.params,
      'A request says its protocol version and the capabilities of its client in "_meta".',
    );
  return true;
}

function strictly(line: Uint8Array | string): Json {
  try {
    return parseJson(line, mcpLimits.message_bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const code =
      error.code === 'JSON_MALFORMED' || error.code === 'INPUT_NOT_UTF8' ? ERRORS.parse : ERRORS.request;
    wrong(code, `${error.code}: ${error.message}`);
  }
}

/** The id of a message that cannot be taken, so that its sender learns of it; null where none can be found. */
export function idIn(line: Uint8Array | string): RequestId | null {
  try {
    const { id } = JSON.parse(Buffer.from(line).toString('utf8')) as { id?: unknown };
    return typeof id === 'string' || typeof id === 'number' ? id : null;
  } catch {
    return null;
  }
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const TASKS = 'io.modelcontextprotocol/tasks';

/** What the client of a stateless request can do. */
export function capabilitiesIn({ params }: Message): JsonObject {
  return objectIn(objectIn(params, '_meta'), CAPABILITIES_KEY);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectIn(value: JsonObject, member: string): JsonObject {
  const found = value[member];
  return isObject(found) ? found : {};
}

export function textIn(params: JsonObject, member: string): string {
  const found = params[member];
  if (typeof found !== 'string') wrong(ERRORS.params, `"${member}" has to be a text.`);
  return found;
}

export function errorOf(id: RequestId | null, error: unknown): Response {
  const told = error instanceof Refusal ? error : new Refusal('INTERNAL');
  const code = rpcOf(told);
  if (code === null) {
    const message = `${told.code}: ${told.message}`;
    return { jsonrpc: '2.0', id, error: { code: ERRORS.internal, message, data: { code: told.code } } };
  }
  const { data } = told.facts;
  const more = typeof data === 'string' ? { data: JSON.parse(data) as Json } : {};
  return { jsonrpc: '2.0', id, error: { code, message: told.message, ...more } };
}

/** For a member that has to be there. */
export function badCall(words: string): never {
  return refuse('MCP_MESSAGE_MALFORMED', words);
}

/** An error of the protocol as an answer. */
export function errorFor(id: RequestId | null, code: number, message: string): Response {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
