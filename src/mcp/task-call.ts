import { setTimeout as after } from 'node:timers/promises';
import type { JsonObject } from '../canonical/json.ts';
import type { Result } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { refusedCall } from './answer.ts';
import { beginTool, type Called, held, type McpCaller, type ToolCallOptions } from './call.ts';
import { type GoingTasks, known } from './going-tasks.ts';
import { rpcOf } from './message.ts';
import type { CallEffect } from './offered.ts';
import { createdTask } from './tasks.ts';

export interface TaskCall {
  readonly name: string;
  readonly effect: CallEffect;
  readonly is_modern: boolean;
  readonly going: GoingTasks;
  /** The server whose questions are passed on. */
  readonly asks: string | null;
  /** Told of a call that became a task, once it was begun. */
  readonly follow: (begun: Result<'mcp.call'>) => void;
}

/**
 * A call whose client follows tasks. What waits for a human is a task at once. What a grant covers is one if it takes longer than a moment;
 * with a handshake it is one in any case, since the client asked for it.
 */
export async function callAsTask(
  caller: McpCaller,
  { name, effect, is_modern, going, asks, follow }: TaskCall,
  { signal, abort, onProgress, input }: ToolCallOptions,
): Promise<Called> {
  try {
    const { intent_id, calling } = await known(going, (options, stop) => {
      abort?.addEventListener('abort', () => stop.abort(abort.reason), { once: true });
      return beginTool(caller, name, effect, { ...options, signal, onProgress });
    });
    const begun = await Promise.race([
      calling,
      after(is_modern ? mcpLimits.task_hold_ms : 0, null, { ref: false }),
    ]);
    const has_run = begun !== null && (begun.how === 'granted' || begun.how === 'again');
    if (is_modern && has_run) return await held(caller, begun, { signal, input, asks }, caller.hold_ms);
    calling.then(follow, () => {});
    return { result: await taskFor(caller, intent_id, is_modern), intent_id, is_final: false };
  } catch (error) {
    if (!is_modern || signal.aborted || rpcOf(error) !== null) throw error;
    return { result: refusedCall(error), intent_id: null, is_final: true };
  }
}

async function taskFor(caller: McpCaller, intent_id: string, is_modern: boolean) {
  return (await createdTask(caller, intent_id, { is_modern, input: null })) as JsonObject & Called['result'];
}
