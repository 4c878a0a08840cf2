import type { JsonObject } from '../canonical/json.ts';
import type { Result } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import { callAnswer, hasAnswer, protocolErrorOf } from './answer.ts';
import { held, type McpCaller, takeBackOrStop } from './call.ts';
import type { GoingTasks } from './going-tasks.ts';
import { linked, linkingServer } from './linked.ts';
import { ERRORS, wrong } from './message.ts';
import type { ClientInput } from './offered.ts';
import { ownPage } from './own-page.ts';
import { answerInTask, askedInTask } from './task-input.ts';

/** A pending call as a task, in the words of both protocols. The id of the task is that of the intent. */

type Ended = Result<'intents.result'>;
type Intent = Result<'intents.get'>;

function statusOf(
  ended: Ended,
  error: object | null,
): 'working' | 'completed' | 'cancelled' | 'failed' | 'input_required' {
  if (ended.status_word === 'withdrawn') return 'cancelled';
  if (!hasAnswer(ended)) return 'working';
  return error === null ? 'completed' : 'failed';
}

/** Who asks for a task: in the protocol without a handshake the client says what it can answer. */
export interface TaskReader {
  readonly is_modern: boolean;
  readonly input: ClientInput | null;
}

const LEGACY: TaskReader = { is_modern: false, input: null };

/** A task goes on with the intent that brings what the server asked for, and keeps its id. */
async function taskOf(caller: McpCaller, taskId: string, reader: TaskReader) {
  const { face } = caller;
  for (let intent_id = taskId, createdAt: string | null = null; ; ) {
    const [ended, intent] = await Promise.all([
      face.intents.result({ intent_id }).catch(unknownTask),
      face.intents.get({ intent_id }).catch(unknownTask),
    ]);
    createdAt ??= intent.proposed_at;
    const asked = reader.is_modern && ended.is_over ? await askedInTask(caller, ended, reader.input) : null;
    if (asked?.call.answered_by) {
      intent_id = asked.call.answered_by;
      continue;
    }
    const error = intent.effect === 'mcp' ? protocolErrorOf(ended) : null;
    const status = asked?.open ? 'input_required' : statusOf(ended, error);
    const words = {
      input_required: `The server ${asked?.call.server} asks for input.`,
      working: status === 'working' ? await workingWords(caller, ended) : '',
    };
    const base = {
      ...{ taskId, status, createdAt, lastUpdatedAt: lastOf(intent) },
      statusMessage: words[status as keyof typeof words] ?? ended.status_word,
    };
    const links = status === 'completed' ? await linkingServer(caller, intent) : null;
    return { ended, intent, status, base, error, asked, links };
  }
}

async function workingWords(
  { face, link }: McpCaller,
  { intent_id, status_word, run }: Ended,
): Promise<string> {
  if (run !== null && status_word === 'running') return runningWords(face, run.execution_id);
  const where = await link(intent_id);
  return `A human has to turn the key: keyturn turn ${intent_id}${where === null ? '' : ` (${where})`}`;
}

/** With how far it has come, where it runs on this host and its server says so. */
async function runningWords(face: McpCaller['face'], execution_id: string): Promise<string> {
  const { progress } = await face.runs.progress({ execution_id, wait_ms: 0 });
  if (progress === null) return 'It runs.';
  return `It runs: ${progress.progress}${progress.total === null ? '' : ` of ${progress.total}`}.`;
}

function lastOf({ proposed_at, runs }: Intent): string {
  const last = runs.at(-1);
  return last?.finished_at ?? last?.claimed_at ?? proposed_at;
}

function unknownTask(error: unknown): never {
  if (error instanceof Refusal) return wrong(ERRORS.params, `There is no such task: ${error.code}.`);
  throw error;
}

const modern = (base: JsonObject): JsonObject => ({
  ...base,
  ttlMs: null,
  pollIntervalMs: mcpLimits.task_poll_ms,
});
const legacy = (base: JsonObject): JsonObject => ({
  ...base,
  ttl: null,
  pollInterval: mcpLimits.task_poll_ms,
});

/** What a call answers with at once, in place of its result. */
export async function createdTask(
  caller: McpCaller,
  intent_id: string,
  reader: TaskReader,
): Promise<JsonObject> {
  const { base } = await taskOf(caller, intent_id, reader);
  return reader.is_modern ? { resultType: 'task', ...modern(base) } : { task: legacy(base) };
}

/** A task, where it stands, and the intent that it has come to. */
export async function lookAtTask(caller: McpCaller, taskId: string, reader: TaskReader) {
  const found = await taskOf(caller, taskId, reader);
  return { task: told(found, reader), status: found.status, intent_id: found.ended.intent_id };
}

type FoundTask = Awaited<ReturnType<typeof taskOf>>;

function told(
  { base, ended, intent, status, error, asked, links }: FoundTask,
  { is_modern }: TaskReader,
): JsonObject {
  if (!is_modern) return legacy(base);
  if (asked?.open) return { ...modern(base), inputRequests: asked.open };
  const answer = () => linked(callAnswer(ended, intent.effect), links);
  const result = status === 'completed' ? { result: { resultType: 'complete', ...answer() } } : {};
  return { ...modern(base), ...result, ...(status === 'failed' && { error: { ...error } }) };
}

/** Of the protocol with a handshake: waits until the task has a result. */
export async function taskResult(
  caller: McpCaller,
  intent_id: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  await caller.face.intents.get({ intent_id }).catch(unknownTask);
  const { result } = await held(caller, { intent_id, how: 'same' }, { signal }, mcpLimits.task_wait_ms);
  const { error, status } = await taskOf(caller, intent_id, LEGACY);
  if (status === 'failed') return wrong(error!.code, error!.message, error!.data);
  return { ...result, _meta: { 'io.modelcontextprotocol/related-task': { taskId: intent_id } } };
}

export async function listTasks(caller: McpCaller, params: JsonObject): Promise<JsonObject> {
  const { intents, more } = await ownPage(caller, params);
  const tasks = await Promise.all(
    intents.map(async ({ intent_id }) => legacy((await taskOf(caller, intent_id, LEGACY)).base)),
  );
  return { tasks, ...more };
}

/**
 * The proposer takes it back, or stops what runs on this host. What an executor has begun elsewhere goes on, and its task says so. In the
 * stateless protocol a cancellation is a request, acknowledged whether or not it has an effect.
 */
export async function cancelTask(
  caller: McpCaller,
  intent_id: string,
  reader: TaskReader,
  stop: (intent_id: string) => Promise<boolean>,
): Promise<JsonObject> {
  const { is_modern } = reader;
  const { status, ended } = await taskOf(caller, intent_id, reader);
  if (status !== 'working' && !is_modern) return wrong(ERRORS.params, `The task is ${status}.`);
  if (status === 'working' && !(await stop(ended.intent_id)))
    await withdrawn(caller, ended.intent_id, is_modern);
  return is_modern ? {} : legacy((await taskOf(caller, intent_id, LEGACY)).base);
}

async function withdrawn(caller: McpCaller, intent_id: string, is_modern: boolean): Promise<void> {
  try {
    await takeBackOrStop(caller, intent_id, 'The client cancelled the task');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (!is_modern) wrong(ERRORS.params, `It cannot be taken back: ${error.code}.`);
  }
}

/** What a client answers to the questions of a server. What was not asked is acknowledged and not used. */
export async function updateTask(
  caller: McpCaller,
  intent_id: string,
  reader: TaskReader,
  going: GoingTasks,
): Promise<JsonObject> {
  const { asked } = await taskOf(caller, intent_id, reader);
  if (asked && reader.input) await answerInTask(caller, asked, reader.input, going);
  return {};
}

/** The client has the whole answer of a task. What a human must still settle has none: the same call stays the same. */
export async function taskAnswered(caller: McpCaller, taskId: string, reader: TaskReader): Promise<void> {
  const { ended } = await taskOf(caller, taskId, reader);
  if (ended.is_over) await caller.face.mcp.answered({ intent_id: ended.intent_id });
}
