import type { JsonObject } from '../canonical/json.ts';
import type { McpCaller } from './call.ts';
import { hearRun } from './progress.ts';
import { lookAtTask, type TaskReader } from './tasks.ts';

export interface TaskListener {
  /** The task, whenever something of it changed. */
  readonly onChange: (task: JsonObject) => void;
  /** How far its run has come. */
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
}

/** Until the task is over or the signal: woken by what the ledger is told, and by the time at which an intent expires. */
export async function followTask(
  caller: McpCaller,
  taskId: string,
  reader: TaskReader,
  { onChange, onProgress }: TaskListener,
  signal: AbortSignal,
): Promise<void> {
  const { intents } = caller.face;
  let known: string | null = null;
  const look = async () => {
    const found = await lookAtTask(caller, taskId, reader);
    const text = JSON.stringify(found.task);
    const is_news = known === null ? !GOING.has(found.status) : known !== text;
    known = text;
    if (is_news && !signal.aborted) onChange(found.task);
    return found;
  };
  for (let now = await look(); GOING.has(now.status); ) {
    if (now.status === 'input_required') {
      now = await answered(caller, look, signal);
      continue;
    }
    const { intent_id } = now;
    await intents.waitFor({ intent_id, until: 'decided', signal });
    await look();
    const allTold = onProgress ? hearRun(caller, intent_id, onProgress) : async () => {};
    await intents.waitFor({ intent_id, signal }).finally(allTold);
    now = await look();
  }
}

const GOING: ReadonlySet<string> = new Set(['working', 'input_required']);

type Look = () => ReturnType<typeof lookAtTask>;

/** Until the intent that brings the answers was proposed. */
async function answered({ entries }: McpCaller, look: Look, signal: AbortSignal) {
  const coming = (await entries?.(signal)) ?? [];
  const now = await look();
  if (now.status !== 'input_required') return now;
  for await (const { kind } of coming) {
    if (kind !== 'intent.proposed') continue;
    const then = await look();
    if (then.status !== 'input_required') return then;
  }
  return { ...now, status: 'cancelled' as const };
}
