import type { JsonObject } from '../canonical/json.ts';
import { Cancelled, type Result } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { answerAsked } from './asked.ts';
import { type Called, callTool, type McpCaller, type ToolCallOptions, takeBackOrStop } from './call.ts';
import { GoingTasks } from './going-tasks.ts';
import { discovered, initialized } from './hello.ts';
import { inputIn, type Questions } from './input.ts';
import { linkDone, linkQuestion, linkRequest, opensLinks, opensLinksLater } from './link.ts';
import { listenFor } from './listen.ts';
import {
  ERRORS,
  errorFor,
  errorOf,
  isObject,
  type Message,
  objectIn,
  RenderedResult,
  type RequestId,
  type Response,
  textIn,
  wrong,
} from './message.ts';
import { isTaskResult, requireModern, unknownMethod, wantsTask } from './methods.ts';
import { EVERYTHING, tellChanges, type WatchedResources } from './notices.ts';
import { type ClientInput, offeredAs } from './offered.ts';
import type { ServerNotice } from './progress.ts';
import { callAsTask, type TaskCall } from './task-call.ts';
import { followTask } from './task-follow.ts';
import { cancelTask, listTasks, lookAtTask, taskAnswered, taskResult, updateTask } from './tasks.ts';

/** An answer, and what is to be done once all of it was written. */
export interface Answered {
  readonly response: Response;
  readonly written: () => Promise<void>;
}

export interface EndpointOptions {
  /** A message to the client that answers nothing. */
  readonly notify: (message: JsonObject) => void;
  /** Refuses a call whose headers do not fit its tool. */
  readonly check?: ToolCallOptions['check'];
  /** What a client with a handshake watches; null where nothing could be told to it. */
  readonly watched: WatchedResources | null;
  /** The messages of a client with a handshake all come here, so it is told here what changes. */
  readonly is_lasting?: boolean;
  /** A client with a handshake has said elsewhere that it opens links. */
  readonly opens_links?: boolean;
}

interface Told extends Pick<Answered, 'written'> {
  readonly result: JsonObject | RenderedResult;
  readonly error?: Called['error'] | undefined;
}

/** One client of the gate, in either protocol. It decides nothing: each request is a verb of the caller. */
export class McpEndpoint {
  readonly #open: () => Promise<McpCaller>;
  readonly #options: EndpointOptions;
  readonly #going = new Map<RequestId, AbortController>();
  readonly #tasks = new GoingTasks();
  readonly #closed = new AbortController();
  #is_telling = false;
  #opens_links = false;

  /** `open` is asked by the first request that needs the project: clients start a second process only to look whether it answers. */
  constructor(open: () => Promise<McpCaller>, options: EndpointOptions) {
    this.#open = open;
    this.#options = options;
  }

  /** Its client is gone. What runs here runs to its end. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([this.#tasks.settled(), this.#options.watched?.close()]);
  }

  /** Requests that are under way. */
  get going(): number {
    return this.#going.size;
  }

  /** Null where nothing is to be answered: to a notification, and to a request that was cancelled. */
  async take(message: Message, gone?: AbortSignal): Promise<Answered | null> {
    const { id, method, params } = message;
    if (id === null) {
      if (method === 'notifications/cancelled') this.#cancel(params.requestId);
      return null;
    }
    if (this.#going.has(id)) return plain(errorFor(id, ERRORS.request, 'This id is in use.'));
    if (this.#going.size >= mcpLimits.at_once)
      return plain(errorFor(id, ERRORS.internal, 'Too many calls at once. Ask again later.'));
    const going = new AbortController();
    this.#going.set(id, going);
    const signal = gone ? AbortSignal.any([going.signal, gone]) : going.signal;
    try {
      const { result, error, written } = await this.#answer(message, signal, going.signal);
      const told = error ? { error } : { result };
      return going.signal.aborted ? null : { response: { jsonrpc: '2.0', id, ...told }, written };
    } catch (error) {
      return going.signal.aborted ? null : plain(errorOf(id, error));
    } finally {
      this.#going.delete(id);
    }
  }

  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#going.get(id)?.abort(new Cancelled());
  }

  async #answer(message: Message, signal: AbortSignal, abort: AbortSignal): Promise<Told> {
    if (message.method === 'tools/call') return this.#call(message, signal, abort);
    const result = await this.#other(message, signal);
    if (result instanceof RenderedResult) return { result, written: async () => {} };
    const written = async () => {
      if (!isTaskResult(message, result)) return;
      const reader = { is_modern: message.is_modern, input: null };
      await taskAnswered(await this.#open(), textIn(message.params, 'taskId'), reader);
    };
    return { result: message.is_modern ? completed(result) : result, written };
  }

  async #other(message: Message, signal: AbortSignal): Promise<JsonObject | RenderedResult> {
    const { method, params, is_modern } = message;
    if (method === 'server/discover') return discovered();
    if (is_modern) requireModern(message);
    else if (method === 'initialize') {
      this.#opens_links = opensLinksLater(params);
      return initialized(params);
    } else if (method === 'ping') return {};
    const caller = await this.#open();
    if (is_modern && method === 'subscriptions/listen')
      return listenFor(caller, message, (notice, more) => this.#tell(notice, more), signal);
    if (!is_modern) await this.#tellLegacy(caller);
    const found = await answerAsked(caller, message, this.#options.watched);
    return found ?? this.#askedOfTasks(caller, message, signal);
  }

  async #askedOfTasks(caller: McpCaller, message: Message, signal: AbortSignal): Promise<JsonObject> {
    const { method, params, is_modern } = message;
    const taskId = () => textIn(params, 'taskId');
    const reader = { is_modern, input: inputIn(message) };
    switch (method) {
      case 'tasks/get':
        return (await lookAtTask(caller, taskId(), reader)).task;
      case 'tasks/cancel':
        return cancelTask(caller, taskId(), reader, (id) => this.#tasks.stop(id));
      case 'tasks/update':
        if (!is_modern) break;
        return updateTask(caller, taskId(), reader, this.#tasks);
      case 'tasks/result':
        return taskResult(caller, taskId(), signal);
      case 'tasks/list':
        return listTasks(caller, params);
    }
    return unknownMethod(method);
  }

  #tell({ method, params }: ServerNotice, more: JsonObject = {}): void {
    this.#options.notify({ jsonrpc: '2.0', method, params: { ...params, ...more } });
  }

  /** A client with a handshake is told what changes without asking. */
  async #tellLegacy(caller: McpCaller): Promise<void> {
    const { watched, is_lasting } = this.#options;
    if (this.#is_telling || !is_lasting || watched === null) return;
    this.#is_telling = true;
    const wanted = { ...EVERYTHING, uris: watched };
    await tellChanges(caller, wanted, (notice) => this.#tell(notice), this.#closed.signal);
  }

  /** The client has the whole answer: the same call is a new one from now on. */
  async #answered(intent_id: string): Promise<void> {
    const { face } = await this.#open();
    await face.mcp.answered({ intent_id });
  }

  async #call(message: Message, signal: AbortSignal, abort: AbortSignal) {
    const { params, is_modern } = message;
    const name = textIn(params, 'name');
    const { arguments: values = {} } = params;
    if (!isObject(values)) return wrong(ERRORS.params, '"arguments" has to be an object.');
    const token = objectIn(params, '_meta').progressToken;
    const onProgress =
      token === undefined
        ? undefined
        : (told: JsonObject) =>
            this.#tell({ method: 'notifications/progress', params: told }, { progressToken: token });
    const check = is_modern ? this.#options.check : undefined;
    const input = is_modern ? inputIn(message) : undefined;
    let offered: string | null = null;
    const offerLink = this.#offerLink(message, input ?? null, (intent_id) => {
      offered = intent_id;
    });
    const options = { signal, abort, onProgress, check, input, offerLink };
    const caller = await this.#open();
    if (!is_modern) await this.#tellLegacy(caller);
    const called = await this.#called(caller, message, name, values, options);
    const { intent_id, is_final, result, error } = called;
    if (offered !== null && is_final) this.#tell(linkDone(offered));
    const written = async () => {
      if (intent_id !== null && is_final) await this.#answered(intent_id);
    };
    return { result: is_modern ? completed(result) : result, error, written };
  }

  /** Undefined where the client has not said that it opens links. */
  #offerLink(
    message: Message,
    input: ClientInput | null,
    onOffered: (intent_id: string) => void,
  ): ToolCallOptions['offerLink'] {
    if (message.is_modern)
      return opensLinks(message)
        ? (_id, url) => linkQuestion(url, input ?? { responses: null, state: null }) as Questions
        : undefined;
    if (!(this.#opens_links || this.#options.opens_links)) return undefined;
    return (intent_id, url) => {
      onOffered(intent_id);
      this.#options.notify(linkRequest(intent_id, url));
      return null;
    };
  }

  /** A client whose messages all come here hears of its task after it was given: how far it has come, and with a handshake where it stands. */
  #follow(
    caller: McpCaller,
    { intent_id, how }: Result<'mcp.call'>,
    is_modern: boolean,
    { onProgress }: ToolCallOptions,
  ): void {
    if (!this.#options.is_lasting || (is_modern && !onProgress)) return;
    const onChange = (params: JsonObject) => {
      if (!is_modern) this.#tell({ method: 'notifications/tasks/status', params });
    };
    // A run under a grant has told its progress in this request.
    const listener = { onChange, onProgress: how === 'granted' ? undefined : onProgress };
    const reader = { is_modern, input: null };
    followTask(caller, intent_id, reader, listener, this.#closed.signal).catch(() => {});
  }

  async #called(
    caller: McpCaller,
    message: Message,
    name: string,
    values: JsonObject,
    options: ToolCallOptions,
  ): Promise<Called> {
    if (wantsTask(message)) {
      const offered = await offeredAs(caller.face, name);
      if (offered) options.check?.(offered.definition, values);
      if (offered?.effect && !offered.is_shadow) {
        const effect = offered.effect(values, options.input);
        const { asks = null } = offered;
        const { is_modern } = message;
        const follow: TaskCall['follow'] = (begun) => this.#follow(caller, begun, is_modern, options);
        return callAsTask(caller, { name, effect, is_modern, asks, going: this.#tasks, follow }, options);
      }
    }
    return withdrawnIfCancelled(caller, options.signal, (onBegun) =>
      callTool(caller, name, values, { ...options, onBegun }),
    );
  }
}

/** A client that cancels takes its call back, unless it runs: then the run is told to stop, here or in another process of this host. */
async function withdrawnIfCancelled(
  caller: McpCaller,
  signal: AbortSignal,
  call: (onBegun: (intent_id: string) => void) => Promise<Called>,
): Promise<Called> {
  const { holders } = caller;
  let begun: string | null = null;
  const others = (intent_id: string, more: 1 | -1): number => {
    const now = (holders.get(intent_id) ?? 0) + more;
    if (now === 0) holders.delete(intent_id);
    else holders.set(intent_id, now);
    return now;
  };
  try {
    return await call((intent_id) => {
      begun = intent_id;
      others(intent_id, 1);
    });
  } finally {
    const left = begun === null ? 1 : others(begun, -1);
    if (left === 0 && signal.reason instanceof Cancelled)
      await takeBackOrStop(caller, begun!, 'The client cancelled the call').catch(() => {});
  }
}

const plain = (response: Response): Answered => ({ response, written: async () => {} });
function completed(result: JsonObject): JsonObject {
  return { resultType: 'complete', ...result };
}
