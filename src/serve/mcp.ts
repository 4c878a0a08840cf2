import { randomUUID } from 'node:crypto';
import { canonicalText, type JsonObject } from '../canonical/json.ts';
import type { Keyturn } from '../keyturn.ts';
import { HOLD_MS, type McpCaller } from '../mcp/call.ts';
import { type Answered, Cancelled, McpDoor } from '../mcp/door.ts';
import {
  ERRORS,
  errorOf,
  LEGACY,
  type Message,
  MODERN,
  type Response as Reply,
  readMessage,
  rpcOf,
  wrong,
} from '../mcp/message.ts';
import { refuse } from '../refusal.ts';
import { respond } from './answer.ts';
import { type WebCaller, webFaceFor } from './caller.ts';

export interface McpRequest {
  readonly keyturn: Keyturn;
  readonly caller: WebCaller;
  readonly request: Request;
  readonly body: JsonObject;
  readonly stopping: AbortSignal;
  readonly going: GoingCalls;
  /** Where a human finds the service. */
  readonly address: string;
}

/** What is being answered. A client with a handshake cancels by a request of its own: found by caller, session and id. */
export interface GoingCalls {
  readonly doors: Map<string, McpDoor>;
  readonly holders: McpCaller['holders'];
}

const SESSION = 'mcp-session-id';

/**
 * One message over Streamable HTTP, in either protocol. Nothing is kept between two of them: what waits is in the ledger. A session is a
 * name that a client repeats, so that two clients with one token do not cancel each other's calls. A token shows the name of the caller and signs
 * nothing, so no grant applies here.
 */
export async function answerMcp({
  keyturn,
  caller,
  request,
  body,
  stopping,
  going,
  address,
}: McpRequest): Promise<Response> {
  if (caller.kind !== 'agent') return refuse('CALLER_UNPROVEN', 'An agent shows its token here.');
  const { id } = body;
  try {
    const message = readMessage(body);
    if (message === null) return respond('', 202, {});
    requireHeaders(message, request.headers);
    const session = request.headers.get(SESSION);
    const keyOf = (id: unknown) => canonicalText([caller.name, session, id]);
    if (message.id === null) {
      const { requestId } = message.params;
      if (session !== null) await going.doors.get(keyOf(requestId ?? null))?.take(message);
      return respond('', 202, {});
    }
    const door = new McpDoor(async () => callerFor(keyturn, caller, address, going), { notify: () => {} });
    const key = keyOf(message.id);
    going.doors.set(key, door);
    try {
      const gone = message.is_modern ? cancelledBy(request.signal) : request.signal;
      const answered = await door.take(message, AbortSignal.any([gone, stopping]));
      if (answered === null) return respond('', 202, {});
      return written(answered, message.method === 'initialize' ? { [SESSION]: randomUUID() } : {});
    } finally {
      if (going.doors.get(key) === door) going.doors.delete(key);
    }
  } catch (error) {
    if (rpcOf(error) === null) throw error;
    return json(errorOf(typeof id === 'string' || typeof id === 'number' ? id : null, error), 400);
  }
}

/** Without a handshake a client cancels by going away: whoever asks again asks for a new call. */
function cancelledBy(gone: AbortSignal): AbortSignal {
  const cancelled = new AbortController();
  const cancel = () => cancelled.abort(new Cancelled());
  if (gone.aborted) cancel();
  else gone.addEventListener('abort', cancel, { once: true });
  return cancelled.signal;
}

function callerFor(
  keyturn: Keyturn,
  caller: WebCaller & { kind: 'agent' },
  address: string,
  { holders }: GoingCalls,
): McpCaller {
  return {
    name: caller.name,
    signer: null,
    face: webFaceFor(keyturn, caller),
    ask: null,
    link: (intent_id) => `${address}/#intent=${intent_id}`,
    hold_ms: HOLD_MS,
    holders,
  };
}

/** What a header says is what the message says: something on the way may have looked only at the header. */
function requireHeaders({ method, params, is_modern }: Message, headers: Headers): void {
  const version = headers.get('mcp-protocol-version');
  const known: readonly string[] = is_modern ? [MODERN] : LEGACY;
  if (version !== null && !known.includes(version))
    wrong(ERRORS.header, 'The header MCP-Protocol-Version does not fit the message.');
  const named = headers.get('mcp-method');
  if (named !== null && named !== method)
    wrong(ERRORS.header, 'The header Mcp-Method does not fit the message.');
  const name = headers.get('mcp-name');
  const meant = params.name ?? params.uri ?? params.taskId;
  if (name !== null && typeof meant === 'string' && name !== meant && !name.startsWith('=?'))
    wrong(ERRORS.header, 'The header Mcp-Name does not fit the message.');
}

const encoder = new TextEncoder();

/** Marks the answer as read only when all of it was taken: a client that went away asks again, and nothing runs twice. */
function written({ response, written: mark }: Answered, headers: Record<string, string>): Response {
  const bytes = encoder.encode(JSON.stringify(response));
  let is_sent = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!is_sent) {
          is_sent = true;
          controller.enqueue(bytes);
          return;
        }
        await mark();
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return respond(stream, 200, { 'content-type': 'application/json', ...headers });
}

function json(reply: Reply, status: number): Response {
  return respond(JSON.stringify(reply), status, { 'content-type': 'application/json' });
}
