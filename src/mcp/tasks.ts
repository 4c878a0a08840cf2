import type { JsonObject } from '../canonical/json.ts';
import type { Result } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import { callAnswer } from './answer.ts';
import { held, type McpCaller, takeBack } from './call.ts';
import { ERRORS, wrong } from './message.ts';

/** A pending call as a task, in the words of both protocols. The id of the task is that of the intent. */

type Ended = Result<'intents.result'>;
type Intent = Result<'intents.get'>;

const POLL_MS = 1_000;

function statusOf({ standing, is_over, run }: Ended): 'working' | 'completed' | 'cancelled' {
  if (standing === 'withdrawn') return 'cancelled';
  // What is in doubt is as far as it gets: the result says so.
  const is_settled = is_over || (run?.result === 'partial' && standing === 'IN DOUBT');
  return is_settled ? 'completed' : 'working';
}

async function taskOf({ face, link }: McpCaller, intent_id: string) {
  const [ended, intent] = await Promise.all([
    face.intents.result({ intent_id }).catch(unknownTask),
    face.intents.get({ intent_id }).catch(unknownTask),
  ]);
  const status = statusOf(ended);
  const where = link(intent_id);
  const waits = `A human has to turn the key: keyturn turn ${intent_id}${where === null ? '' : ` (${where})`}`;
  const base = {
    taskId: intent_id,
    status,
    statusMessage: status === 'working' ? waits : ended.standing,
    createdAt: intent.proposed_at,
    lastUpdatedAt: lastOf(intent),
  };
  return { ended, intent, status, base };
}

function lastOf({ proposed_at, runs }: Intent): string {
  const last = runs.at(-1);
  return last?.finished_at ?? last?.claimed_at ?? proposed_at;
}

function unknownTask(error: unknown): never {
  if (error instanceof Refusal) return wrong(ERRORS.params, `There is no such task: ${error.code}.`);
  throw error;
}

const modern = (base: JsonObject): JsonObject => ({ ...base, ttlMs: null, pollIntervalMs: POLL_MS });
const legacy = (base: JsonObject): JsonObject => ({ ...base, ttl: null, pollInterval: POLL_MS });

/** What a call answers with at once, in place of its result. */
export async function createdTask(
  caller: McpCaller,
  intent_id: string,
  is_modern: boolean,
): Promise<JsonObject> {
  const { base } = await taskOf(caller, intent_id);
  return is_modern ? { resultType: 'task', ...modern(base) } : { task: legacy(base) };
}

export async function getTask(caller: McpCaller, intent_id: string, is_modern: boolean): Promise<JsonObject> {
  const { base, ended, intent, status } = await taskOf(caller, intent_id);
  if (!is_modern) return legacy(base);
  const result =
    status === 'completed' ? { result: { resultType: 'complete', ...callAnswer(ended, intent.effect) } } : {};
  return { ...modern(base), ...result };
}

/** Of the protocol with a handshake: waits until the task has a result. */
export async function taskResult(
  caller: McpCaller,
  intent_id: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  await caller.face.intents.get({ intent_id }).catch(unknownTask);
  const { result } = await held(caller, { intent_id, how: 'same' }, signal, mcpLimits.task_wait_ms);
  return { ...result, _meta: { 'io.modelcontextprotocol/related-task': { taskId: intent_id } } };
}

export async function listTasks(caller: McpCaller): Promise<JsonObject> {
  const { face, name } = caller;
  const { intents } = await face.intents.list(name === null ? {} : { proposer: name });
  const tasks = await Promise.all(
    intents.map(async ({ intent_id }) => legacy((await taskOf(caller, intent_id)).base)),
  );
  return { tasks };
}

/** The proposer takes it back. What has begun goes on, and its task says so. */
export async function cancelTask(
  caller: McpCaller,
  intent_id: string,
  is_modern: boolean,
): Promise<JsonObject> {
  const { status } = await taskOf(caller, intent_id);
  if (status !== 'working') return wrong(ERRORS.params, `The task is ${status}.`);
  try {
    await takeBack(caller, intent_id, 'The client cancelled the task');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return wrong(ERRORS.params, `It cannot be taken back: ${error.code}.`);
  }
  return is_modern ? {} : legacy((await taskOf(caller, intent_id)).base);
}
