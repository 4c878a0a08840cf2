import type { JsonObject } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import { VERSION } from '../version.ts';
import { beginTool, type Called, callTool, type McpCaller, takeBack } from './call.ts';
import {
  capabilitiesIn,
  ERRORS,
  errorFor,
  errorOf,
  isObject,
  LEGACY,
  type Message,
  MODERN,
  objectIn,
  type RequestId,
  type Response,
  TASKS,
  textIn,
  wrong,
} from './message.ts';
import { offeredAs, offeredTo } from './offered.ts';
import {
  completed as completion,
  getPassedPrompt,
  passedPrompts,
  passedResources,
  passedTemplates,
  readPassed,
  setLevel,
} from './passed.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { isOwnResource, listResources, readResource } from './resources.ts';
import { cancelTask, createdTask, getTask, listTasks, taskResult } from './tasks.ts';

/** An answer, and what is to be done once all of it was written. */
export interface Answered {
  readonly response: Response;
  readonly written: () => Promise<void>;
}

export interface DoorOptions {
  /** A message to the client that answers nothing. */
  readonly notify: (message: JsonObject) => void;
}

const INSTRUCTIONS =
  'A human approves what you call here. A call that says NOT RUN yet waits for them: ask keyturn_wait with its id, and do not work around it.';

const INFO = { name: 'keyturn', version: VERSION };
const CAPABILITIES = {
  tools: { listChanged: false },
  resources: {},
  prompts: {},
  completions: {},
  logging: {},
};
const TASK_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

/** One client of the gate, in either protocol. It decides nothing: each request is a verb of the caller. */
export class McpDoor {
  readonly #open: () => Promise<McpCaller>;
  readonly #notify: DoorOptions['notify'];
  readonly #going = new Map<RequestId, AbortController>();

  /** `open` is asked by the first request that needs the project: clients start a second process only to look whether it answers. */
  constructor(open: () => Promise<McpCaller>, { notify }: DoorOptions) {
    this.#open = open;
    this.#notify = notify;
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
      const { result, written } = await this.#answer(message, signal, going.signal);
      return going.signal.aborted ? null : { response: { jsonrpc: '2.0', id, result }, written };
    } catch (error) {
      return going.signal.aborted ? null : plain(errorOf(id, error));
    } finally {
      this.#going.delete(id);
    }
  }

  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#going.get(id)?.abort(new Cancelled());
  }

  async #answer(message: Message, signal: AbortSignal, abort: AbortSignal) {
    if (message.method === 'tools/call') return this.#call(message, signal, abort);
    const result = await this.#other(message, signal);
    return { result: message.is_modern ? completed(result) : result, written: async () => {} };
  }

  async #other(message: Message, signal: AbortSignal): Promise<JsonObject> {
    const { method, params } = message;
    switch (method) {
      case 'initialize':
        return initialized(params);
      case 'ping':
        return {};
      case 'server/discover':
        return discovered();
    }
    return this.#asked(message, signal);
  }

  /** What needs the project. */
  async #asked({ method, params, is_modern }: Message, signal: AbortSignal): Promise<JsonObject> {
    const caller = await this.#open();
    switch (method) {
      case 'tools/list': {
        const tools = [...(await offeredTo(caller.face)).values()].map(({ definition, is_shadow }) =>
          is_modern || is_shadow ? definition : { ...definition, execution: { taskSupport: 'optional' } },
        );
        return { tools, ...(is_modern && CACHE) };
      }
      case 'resources/list': {
        const resources = [...(await listResources(caller)), ...(await passedResources(caller))];
        return { resources, ...(is_modern && CACHE) };
      }
      case 'resources/templates/list':
        return { resourceTemplates: await passedTemplates(caller), ...(is_modern && CACHE) };
      case 'resources/read': {
        const uri = textIn(params, 'uri');
        const read = isOwnResource(uri) ? null : await readPassed(caller, uri);
        return { ...(read ?? (await readResource(caller, uri))), ...(is_modern && CACHE) };
      }
      case 'prompts/list':
        return { prompts: [...listPrompts(), ...(await passedPrompts(caller))], ...(is_modern && CACHE) };
      case 'prompts/get': {
        const name = textIn(params, 'name');
        const { arguments: values = {} } = params;
        return (await getPassedPrompt(caller, name, values)) ?? getPrompt(name);
      }
      case 'completion/complete':
        return completion(caller, params);
      case 'logging/setLevel':
        await setLevel(caller, params.level ?? 'info');
        return {};
      case 'tasks/get':
        return getTask(caller, textIn(params, 'taskId'), is_modern);
      case 'tasks/cancel':
        return cancelTask(caller, textIn(params, 'taskId'), is_modern);
      case 'tasks/result':
        if (is_modern) break;
        return taskResult(caller, textIn(params, 'taskId'), signal);
      case 'tasks/list':
        if (is_modern) break;
        return listTasks(caller);
    }
    return wrong(ERRORS.method, `The gate does not know the method "${method}".`);
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
            this.#notify({
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { ...told, progressToken: token },
            });
    const options = { signal, abort, onProgress };
    const caller = await this.#open();
    if (wantsTask(message)) {
      const offered = await offeredAs(caller.face, name);
      if (offered?.effect && !offered.is_shadow) {
        const { intent_id } = await beginTool(caller, name, offered.effect(values), options);
        return { result: await createdTask(caller, intent_id, is_modern), written: async () => {} };
      }
    }
    const called = await withdrawnIfCancelled(caller, signal, (onBegun) =>
      callTool(caller, name, values, { ...options, onBegun }),
    );
    const { intent_id, is_final } = called;
    const written = async () => {
      if (intent_id !== null && is_final) await caller.face.mcp.answered({ intent_id });
    };
    return { result: is_modern ? completed(called.result) : called.result, written };
  }
}

/** A client that cancels takes its call back, unless it runs: then the run was told to stop. */
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
      await takeBack(caller, begun!, 'The client cancelled the call').catch(() => {});
  }
}

/** Why a request ends: its client cancelled it. */
export class Cancelled extends Error {}

const plain = (response: Response): Answered => ({ response, written: async () => {} });
const CACHE = { ttlMs: 0, cacheScope: 'private' } as const;

function completed(result: JsonObject): JsonObject {
  return { resultType: 'complete', ...result };
}

function initialized({ protocolVersion }: JsonObject): JsonObject {
  const asked = LEGACY.find((one) => one === protocolVersion) ?? LEGACY[0];
  const capabilities = { ...CAPABILITIES, ...(asked === LEGACY[0] && { tasks: TASK_CAPABILITY }) };
  return { protocolVersion: asked, capabilities, serverInfo: INFO, instructions: INSTRUCTIONS };
}

function discovered(): JsonObject {
  return {
    supportedVersions: [MODERN],
    capabilities: { ...CAPABILITIES, extensions: { [TASKS]: {} } },
    instructions: INSTRUCTIONS,
    _meta: { 'io.modelcontextprotocol/serverInfo': INFO },
    serverInfo: INFO,
    ...CACHE,
  };
}

/** The client can follow a task: in the stateless protocol it says so with each request, in the other one it asks for one. */
function wantsTask(message: Message): boolean {
  if (!message.is_modern) return isObject(message.params.task);
  return objectIn(capabilitiesIn(message), 'extensions')[TASKS] !== undefined;
}
