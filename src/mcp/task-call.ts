import { setTimeout as after } from 'node:timers/promises';
import type { JsonObject } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import { refusedCall } from './answer.ts';
import { beginTool, type Called, held, type McpCaller, type ToolCallOptions } from './call.ts';
import { rpcOf } from './message.ts';
import type { CallEffect } from './offered.ts';
import { createdTask } from './tasks.ts';

/** Calls under a grant that go on after their client got a task. They run in this process, which ends after them. */
export class GoingTasks {
  readonly #going = new Map<string, { readonly stop: AbortController; readonly done: Promise<unknown> }>();

  add(intent_id: string, stop: AbortController, done: Promise<unknown>): void {
    const over = done.catch(() => {}).finally(() => this.#going.delete(intent_id));
    this.#going.set(intent_id, { stop, done: over });
  }

  /** Whether it ran here, and was stopped. */
  async stop(intent_id: string): Promise<boolean> {
    const found = this.#going.get(intent_id);
    found?.stop.abort();
    await found?.done;
    return found !== undefined;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#going.values()].map(({ done }) => done));
  }
}

export interface TaskCall {
  readonly name: string;
  readonly effect: CallEffect;
  readonly is_modern: boolean;
  readonly going: GoingTasks;
  /** The server whose questions are passed on. */
  readonly asks: string | null;
}

/**
 * A call whose client follows tasks. What waits for a human is a task at once. What a grant covers is one if it takes longer than a moment;
 * with a handshake it is one in any case, since the client asked for it.
 */
export async function callAsTask(
  caller: McpCaller,
  { name, effect, is_modern, going, asks }: TaskCall,
  { signal, abort, onProgress, input }: ToolCallOptions,
): Promise<Called> {
  const stop = new AbortController();
  abort?.addEventListener('abort', () => stop.abort(), { once: true });
  let tell = (_intent_id: string) => {};
  const known = new Promise<string>((done) => {
    tell = done;
  });
  const calling = beginTool(caller, name, effect, { signal, abort: stop.signal, onProgress, onBegun: tell });
  try {
    const intent_id = await Promise.race([known, calling.then((begun) => begun.intent_id)]);
    going.add(intent_id, stop, calling);
    const begun = await Promise.race([
      calling,
      after(is_modern ? mcpLimits.task_hold_ms : 0, null, { ref: false }),
    ]);
    const has_run = begun !== null && (begun.how === 'granted' || begun.how === 'again');
    if (is_modern && has_run) return await held(caller, begun, { signal, input, asks }, caller.hold_ms);
    return { result: await taskFor(caller, intent_id, is_modern), intent_id, is_final: false };
  } catch (error) {
    if (!is_modern || signal.aborted || rpcOf(error) !== null) throw error;
    return { result: refusedCall(error), intent_id: null, is_final: true };
  }
}

async function taskFor(caller: McpCaller, intent_id: string, is_modern: boolean) {
  return (await createdTask(caller, intent_id, is_modern)) as JsonObject & Called['result'];
}
