import type { Json, JsonObject } from '../canonical/json.ts';
import type { Peer, PeerEnd } from '../effect/peer.ts';
import { mcpLimits } from '../limits.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { VERSION } from '../version.ts';
import { definitionsIn } from './accepted.ts';
import type { ToolDefinition } from './definition.ts';
import { objectOf, type Reply, replyIn, serverMessageIn, textOrNone } from './reply.ts';
import { SameList } from './same-list.ts';

/** The protocol versions that are spoken to servers: the stateless one, and the one with a handshake. */
export const STATELESS = '2026-07-28';
export const WITH_HANDSHAKE = '2025-11-25';

/** A message that answers nothing, such as progress. */
export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

interface Waiting {
  readonly done: (reply: Reply) => void;
  readonly progress: ((params: JsonObject) => void) | undefined;
  readonly is_list: boolean;
}

export interface AskOptions {
  readonly timeout_ms: number;
  readonly abort?: AbortSignal | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  /** What the client of the caller can answer. Only the stateless protocol says it with each request. */
  readonly capabilities?: JsonObject | undefined;
  /** What the message says in headers, too. Only the stateless protocol has these. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const CLIENT = { name: 'keyturn', version: VERSION };

/**
 * One connection to one MCP server, on raw messages: nothing that a server says is stripped or refused because we do not know it. A request
 * is sent once. When the connection breaks, whatever was under way is lost, and nothing is sent again.
 */
export class McpConnection {
  readonly #waiting = new Map<number, Waiting>();
  readonly #list = new SameList();
  readonly #notified: (message: Notification) => void;
  #peer: Peer | null = null;
  #next = 1;
  /** Lines that are no messages, since a request was sent or answered: a server that works may log for years. */
  #garbage = 0;
  /** Answers to its own requests that it has not read. */
  #unread = 0;
  #ended: ReasonCode | null = null;
  #is_retiring = false;
  #is_stateless = false;
  #prove: (is_working: boolean) => void = () => {};
  /** Whether it answered anything beyond the opening; false once it ended without. */
  readonly worked = new Promise<boolean>((done) => {
    this.#prove = done;
  });
  info: { readonly name: string; readonly version: string; readonly protocol: string } = UNKNOWN;
  capabilities: JsonObject = {};

  constructor(notified: (message: Notification) => void = () => {}) {
    this.#notified = notified;
  }

  /** Given to whatever starts the program. */
  readonly talk = {
    line_bytes: mcpLimits.line_bytes,
    stderr_bytes: mcpLimits.stderr_bytes,
    onLine: (line: Buffer) => this.#hear(line),
    onEnd: (why: PeerEnd) => this.#end(why === 'line too long' ? 'MCP_ANSWER_TOO_LARGE' : 'MCP_CALL_LOST'),
  };

  /** Whether another request may be sent. */
  get isOpen(): boolean {
    return this.#ended === null && !this.#is_retiring;
  }

  /** Agrees on the protocol. The handshake comes first: every server that speaks only the stateless version answers it with an error. */
  async open(peer: Peer, timeout_ms: number = mcpLimits.start_ms): Promise<void> {
    this.#peer = peer;
    const params = { protocolVersion: WITH_HANDSHAKE, capabilities: {}, clientInfo: CLIENT };
    const reply = await this.#send('initialize', params, { timeout_ms });
    if (reply.kind === 'lost') this.#down('It did not answer.');
    if (reply.kind === 'error') return this.#openStateless(timeout_ms);
    const { protocolVersion, serverInfo, capabilities } = objectOf(reply.result);
    this.#take(serverInfo, capabilities, textOrNone(protocolVersion) ?? WITH_HANDSHAKE);
    await this.#tell('notifications/initialized', {});
  }

  async #openStateless(timeout_ms: number): Promise<void> {
    this.#is_stateless = true;
    const reply = await this.ask('server/discover', {}, { timeout_ms });
    if (reply.kind !== 'result') return this.#down('It takes neither initialize nor server/discover.');
    const found = objectOf(reply.result);
    const versions = Array.isArray(found.supportedVersions) ? found.supportedVersions : [];
    if (!versions.includes(STATELESS)) this.#down(`It does not speak ${STATELESS}.`);
    const said = found.serverInfo ?? objectOf(found._meta)[SERVER_INFO];
    this.#take(said, found.capabilities, STATELESS);
  }

  #take(info: unknown, capabilities: unknown, protocol: string): void {
    const { name, version } = objectOf(info);
    this.info = { name: textOrNone(name) ?? '', version: textOrNone(version) ?? '', protocol };
    this.capabilities = objectOf(capabilities);
  }

  #down(words: string): never {
    this.close();
    return refuse('MCP_SERVER_DOWN', words);
  }

  /** Every definition, from all pages. */
  async tools(timeout_ms: number = mcpLimits.start_ms): Promise<readonly ToolDefinition[]> {
    const listed: unknown[] = [];
    let only: Extract<Reply, { kind: 'result' }> | null = null;
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const reply = await this.ask('tools/list', cursor === undefined ? {} : { cursor }, { timeout_ms });
      if (reply.kind !== 'result') return refuse('MCP_SERVER_DOWN', 'It did not list its tools.');
      const known = cursor === undefined ? this.#list.definitionsOf(reply.result) : undefined;
      if (known) return known;
      only = cursor === undefined ? reply : null;
      const { tools, nextCursor } = objectOf(reply.result);
      if (!Array.isArray(tools)) refuse('MCP_DEFINITION_MALFORMED', 'Its list of tools is no list.');
      listed.push(...tools);
      cursor = textOrNone(nextCursor);
      const is_endless = cursor !== undefined && (seen.has(cursor) || seen.size >= mcpLimits.pages);
      if (is_endless || listed.length > mcpLimits.tools) refuse('MCP_LIST_TOO_LONG');
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    const found = definitionsIn(listed);
    if (only) this.#list.keep(only.line, only.id, only.result, found);
    return found;
  }

  /** Sends one request, once. Never rejects. */
  ask(method: string, params: JsonObject, options: AskOptions): Promise<Reply> {
    return this.#send(method, this.#is_stateless ? withMeta(params, options.capabilities) : params, options);
  }

  async #send(
    method: string,
    given: JsonObject,
    { timeout_ms, abort, onProgress, headers }: AskOptions,
  ): Promise<Reply> {
    if (this.#ended !== null) return { kind: 'lost', code: this.#ended };
    if (abort?.aborted) return { kind: 'lost', code: 'MCP_CALL_LOST' };
    const id = this.#next;
    this.#next += 1;
    this.#garbage = 0;
    const params = onProgress ? withProgress(given, id) : given;
    return new Promise<Reply>((resolve) => {
      const late = setTimeout(() => this.#giveUp(id, 'MCP_CALL_TIMED_OUT'), timeout_ms);
      const onAbort = () => this.#giveUp(id, 'MCP_CALL_LOST');
      const done = (reply: Reply) => {
        if (!this.#waiting.delete(id)) return;
        clearTimeout(late);
        abort?.removeEventListener('abort', onAbort);
        resolve(reply);
        this.#retire();
      };
      this.#waiting.set(id, { done, progress: onProgress, is_list: method === 'tools/list' });
      abort?.addEventListener('abort', onAbort, { once: true });
      const line = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      this.#peer!.send(line, this.#is_stateless ? headers : {}).catch(() =>
        done({ kind: 'lost', code: 'MCP_CALL_LOST' }),
      );
    });
  }

  /**
   * Asks the server to stop, and waits a moment for an answer. A server that goes on after that takes no other request, and is ended when
   * nothing else is under way: what was stopped must not go on.
   */
  #giveUp(id: number, code: ReasonCode): void {
    void this.#tell('notifications/cancelled', { requestId: id, reason: code }).catch(() => {});
    setTimeout(() => {
      const waiting = this.#waiting.get(id);
      if (!waiting) return;
      this.#is_retiring = true;
      waiting.done({ kind: 'lost', code });
    }, mcpLimits.cancel_ms);
  }

  #retire(): void {
    if (this.#is_retiring && this.#waiting.size === 0) this.close();
  }

  async #tell(method: string, params: JsonObject): Promise<void> {
    await this.#peer?.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  #hear(line: Buffer): void {
    if (this.#hearSame(line)) return;
    const message = serverMessageIn(line);
    const { id, method, params } = message ?? {};
    const is_none = message === null || (typeof method === 'string' && id !== undefined && !isRequestId(id));
    if (is_none) {
      this.#garbage += 1;
      if (this.#garbage > mcpLimits.garbage_lines) this.#peer?.kill();
      return;
    }
    if (typeof method === 'string') {
      if (id === undefined) this.#note(method, objectOf(params));
      else this.#answer(id as string | number, method);
      return;
    }
    // A second answer, and one to an unknown id, are dropped: no request waits for them.
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (waiting) this.#answered(waiting, replyIn(message, line, id as number));
  }

  #answered({ done }: Waiting, reply: Reply): void {
    this.#garbage = 0;
    // The opening says only that a program runs.
    if (this.info.protocol !== '') this.#prove(true);
    done(reply);
  }

  /** A list that says what the last one said. */
  #hearSame(line: Buffer): boolean {
    for (const [id, waiting] of this.#waiting) {
      const result = waiting.is_list ? this.#list.resultIn(line, id) : undefined;
      if (result === undefined) continue;
      this.#answered(waiting, { kind: 'result', result, line, id });
      return true;
    }
    return false;
  }

  #note(method: string, params: JsonObject): void {
    if (method === 'notifications/progress') {
      const { progressToken } = params;
      if (typeof progressToken === 'number') this.#waiting.get(progressToken)?.progress?.(params);
    } else if (method.startsWith('notifications/')) this.#notified({ method, params });
  }

  /** A server may ask whether we live. We offered it nothing else. One that asks on and does not read is ended: its answers stay in memory. */
  #answer(id: string | number, method: string): void {
    if (this.#unread >= mcpLimits.unread_answers) {
      this.#peer?.kill();
      return;
    }
    const said =
      method === 'ping'
        ? { result: {} }
        : { error: { code: -32601, message: 'The gate offers no such method.' } };
    this.#unread += 1;
    const read = () => {
      this.#unread -= 1;
    };
    this.#peer?.send(JSON.stringify({ jsonrpc: '2.0', id, ...said })).then(read, read);
  }

  #end(code: ReasonCode): void {
    this.#ended ??= code;
    this.#prove(false);
    for (const { done } of [...this.#waiting.values()]) done({ kind: 'lost', code: this.#ended });
  }

  stderr(): Buffer {
    return this.#peer?.stderr() ?? Buffer.alloc(0);
  }

  close(): void {
    this.#end('MCP_CALL_LOST');
    this.#peer?.kill();
  }
}

const UNKNOWN = { name: '', version: '', protocol: '' };
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** What can be repeated: an id is chosen by the server, and may be anything. */
function isRequestId(id: Json): id is string | number {
  return typeof id === 'string'
    ? id.length <= mcpLimits.request_id_chars
    : typeof id === 'number' && Number.isFinite(id);
}

function withMeta(params: JsonObject, capabilities: JsonObject = {}): JsonObject {
  const meta = {
    ...objectOf(params._meta),
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': CLIENT,
  };
  return { ...params, _meta: meta };
}

function withProgress(params: JsonObject, id: number): JsonObject {
  return { ...params, _meta: { ...objectOf(params._meta), progressToken: id } };
}
