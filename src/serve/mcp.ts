import { randomUUID } from 'node:crypto';
import { canonicalText, type Json, type JsonObject } from '../canonical/json.ts';
import { Cancelled, type Keyturn } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { HOLD_MS, type McpCaller } from '../mcp/call.ts';
import { type Answered, McpEndpoint } from '../mcp/endpoint.ts';
import { linkTo, opensLinksLater } from '../mcp/link.ts';
import {
  ERRORS,
  errorOf,
  type Message,
  MODERN,
  messageBytes,
  type Response as Reply,
  readMessage,
  rpcOf,
  wrong,
} from '../mcp/message.ts';
import { EVERYTHING, entriesFromNow, tellChanges, WatchedResources } from '../mcp/notices.ts';
import type { ServerNotice } from '../mcp/progress.ts';
import { refuse } from '../refusal.ts';
import { respond } from './answer.ts';
import { type WebCaller, webFaceFor } from './caller.ts';
import { type Flow, flowing } from './flow.ts';
import { requireHeaders, requireParamHeaders } from './mcp-headers.ts';
import { MessageStream } from './mcp-stream.ts';

export interface McpRequest extends Pick<Flow, 'cut'> {
  readonly keyturn: Keyturn;
  readonly caller: WebCaller;
  readonly request: Request;
  readonly stopping: AbortSignal;
  readonly going: GoingCalls;
  /** Where a human finds the service. */
  readonly address: string;
  /** Rejects where the caller is none any more. */
  readonly recheck: () => Promise<unknown>;
  /** Counts one stream of this caller; what is returned ends it. */
  readonly beginStream: () => () => void;
}

export interface McpPosted extends McpRequest {
  /** This no longer counts among the requests of its caller. */
  readonly endRequest: () => void;
  /** So many bytes wait to be read by this caller. Refuses where that is too much. */
  readonly hold: (bytes: number) => void;
}

/** What is being answered. A client with a handshake cancels by a request of its own: found by caller, session and id. */
export interface GoingCalls {
  readonly endpoints: Map<string, McpEndpoint>;
  readonly holders: McpCaller['holders'];
  /** What clients with a handshake watch: by caller, then by session. */
  readonly sessions: Map<string, Map<string, WatchedResources>>;
}

const SESSION = 'mcp-session-id';
/** The name of a session ends so where its client opens links: nothing is kept of it here, and it holds after a restart. */
const LINKS = '-links';

type AgentCaller = WebCaller & { kind: 'agent' };

/**
 * One message over Streamable HTTP, in either protocol. Nothing is kept between two of them but what a session watches: what waits is in the
 * ledger. A session is a name that a client repeats, so that two clients with one token do not cancel each other's calls. A token shows the
 * name of the caller and signs nothing, so no grant applies here.
 */
export async function answerMcp(asked: McpPosted, body: JsonObject): Promise<Response> {
  const { caller, request, going } = asked;
  if (caller.kind !== 'agent') return refuse('CALLER_UNPROVEN', 'An agent shows its token here.');
  const { id } = body;
  try {
    const message = readMessage(body, request.headers.get('mcp-protocol-version'));
    if (message === null) return respond('', 202, {});
    requireHeaders(message, request.headers);
    if (message.id !== null) return await answered(asked, caller, message);
    const key = keyOf(caller, request, message.params.requestId ?? null);
    if (request.headers.has(SESSION)) await going.endpoints.get(key)?.take(message);
    return respond('', 202, {});
  } catch (error) {
    const rpc = rpcOf(error);
    if (rpc === null) throw error;
    return json(errorOf(typeof id === 'string' || typeof id === 'number' ? id : null, error), 400);
  }
}

const keyOf = ({ name }: AgentCaller, { headers }: Request, id: unknown) =>
  canonicalText([name, headers.get(SESSION), id as Json]);

/** Answers with one message, or with a stream where something is told on the way to it. */
async function answered(asked: McpPosted, caller: AgentCaller, message: Message): Promise<Response> {
  const { request, stopping, going, recheck, cut } = asked;
  const onEnd = message.method === 'subscriptions/listen' ? beginListening(asked) : undefined;
  const stream = acceptsStream(request) ? new MessageStream({ recheck, onEnd, cut }) : null;
  const endpoint = new McpEndpoint(async () => callerFor(asked, caller), {
    notify: (told) => stream?.send(told),
    check: (definition, values) => requireParamHeaders(definition, values, request.headers),
    watched: message.is_modern ? null : watchedIn(going, caller, request),
    opens_links: request.headers.get(SESSION)?.endsWith(LINKS) ?? false,
  });
  const key = keyOf(caller, request, message.id);
  going.endpoints.set(key, endpoint);
  const left = AbortSignal.any([request.signal, ...(stream ? [stream.gone] : [])]);
  const gone = message.is_modern ? cancelledBy(left) : left;
  const answering = endpoint.take(message, AbortSignal.any([gone, stopping])).finally(() => {
    if (going.endpoints.get(key) === endpoint) going.endpoints.delete(key);
  });
  const first = stream
    ? await Promise.race([answering.then((one) => ({ one })), stream.begun])
    : { one: await answering };
  if (first === null && stream) {
    // An answer that cannot be written is an error of this request, and must not end the process.
    answering
      .then((one) => stream.finish(one, asked.hold))
      .catch((error: unknown) =>
        stream.finish({ response: errorOf(message.id, error), written: async () => {} }),
      );
    return stream.response();
  }
  onEnd?.();
  const one = first!.one;
  if (one === null) return respond('', 202, {});
  return written(one, message, asked);
}

/** Counted as a stream instead of as a request: it has no end of its own. */
function beginListening(asked: McpPosted): () => void {
  if (!acceptsStream(asked.request))
    wrong(ERRORS.request, 'A client that listens accepts text/event-stream.');
  const end = begunStream(asked);
  asked.endRequest();
  return end;
}

/** One that is gone before anything was read counts no longer, too. */
function begunStream({ request: { signal }, beginStream }: McpRequest): () => void {
  const end = beginStream();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  return end;
}

const acceptsStream = ({ headers }: Request): boolean =>
  (headers.get('accept') ?? '').includes('text/event-stream');

/** What a client with a handshake is told unasked, until it goes away. */
export async function streamMcp(asked: McpRequest): Promise<Response> {
  const { caller, request, stopping, going, recheck, cut } = asked;
  if (caller.kind !== 'agent') return refuse('CALLER_UNPROVEN', 'An agent shows its token here.');
  const watched = watchedIn(going, caller, request);
  const version = request.headers.get('mcp-protocol-version');
  // The stateless protocol has no such stream.
  if (watched === null || version === MODERN || !acceptsStream(request)) return refuse('METHOD_WRONG');
  const onEnd = begunStream(asked);
  const stream = new MessageStream({ recheck, onEnd, cut });
  const signal = AbortSignal.any([request.signal, stream.gone, stopping]);
  signal.addEventListener('abort', () => stream.finish(null), { once: true });
  // A server of the service works for all callers: its log tells of the calls of others.
  const wanted = { ...EVERYTHING, logging: false, uris: watched };
  const tell = ({ method, params }: ServerNotice) => stream.send({ jsonrpc: '2.0', method, params });
  try {
    await tellChanges(callerFor(asked, caller), wanted, tell, signal);
  } catch (error) {
    onEnd();
    throw error;
  }
  return stream.response();
}

/** Null without a session: there is no stream to tell it on. It outlives a stream that was lost; of too many, the caller's own oldest is forgotten. */
function watchedIn({ sessions }: GoingCalls, caller: AgentCaller, request: Request): WatchedResources | null {
  const session = request.headers.get(SESSION);
  if (session === null) return null;
  const own = sessions.get(caller.name) ?? new Map<string, WatchedResources>();
  sessions.set(caller.name, own);
  const found = own.get(session) ?? new WatchedResources();
  own.delete(session);
  own.set(session, found);
  const [oldest] = own.keys();
  if (own.size > mcpLimits.sessions && oldest !== undefined) {
    void own.get(oldest)?.close();
    own.delete(oldest);
  }
  return found;
}

/** Without a handshake a client cancels by closing the connection, and a request that follows is a new call. */
function cancelledBy(gone: AbortSignal): AbortSignal {
  const cancelled = new AbortController();
  const cancel = () => cancelled.abort(new Cancelled());
  if (gone.aborted) cancel();
  else gone.addEventListener('abort', cancel, { once: true });
  return cancelled.signal;
}

function callerFor({ keyturn, address, going }: McpRequest, caller: AgentCaller): McpCaller {
  return {
    name: caller.name,
    signer: null,
    face: webFaceFor(keyturn, caller),
    ask: null,
    link: async (intent_id) => linkTo(address, intent_id),
    hold_ms: HOLD_MS,
    holders: going.holders,
    has_others: true,
    hear: keyturn.host.hearServers,
    entries: (signal) => entriesFromNow(keyturn.ledger, signal),
  };
}

/** Marks the answer as read only when all of it was taken: a client that went away asks again, and nothing runs twice. */
function written(
  { response, written: mark }: Answered,
  { method, params, is_modern }: Message,
  { cut, hold }: McpPosted,
): Response {
  const bytes = messageBytes(response);
  hold(bytes.length);
  let is_sent = false;
  const pull: Flow['pull'] = async (controller) => {
    if (!is_sent) {
      is_sent = true;
      controller.enqueue(bytes);
      return;
    }
    await mark();
    controller.close();
  };
  const status = is_modern ? (STATUSES[response.error?.code ?? 0] ?? 200) : 200;
  const session: Record<string, string> =
    method === 'initialize' ? { [SESSION]: `${randomUUID()}${opensLinksLater(params) ? LINKS : ''}` } : {};
  return respond(flowing({ pull, cut }, 0), status, { 'content-type': 'application/json', ...session });
}

function json(reply: Reply, status: number): Response {
  return respond(JSON.stringify(reply), status, { 'content-type': 'application/json' });
}

/** What the stateless protocol says of errors over HTTP. */
const STATUSES: Readonly<Record<number, number>> = {
  [ERRORS.method]: 404,
  [ERRORS.header]: 400,
  [ERRORS.capability]: 400,
};
