import { Cancelled, type Result } from '../keyturn.ts';
import type { ToolCallOptions } from './call.ts';

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
    found?.stop.abort(new Cancelled());
    await found?.done;
    return found !== undefined;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#going.values()].map(({ done }) => done));
  }
}

/** As soon as it is known which intent a call is. What a grant covers goes on in this process. */
export async function known(
  going: GoingTasks,
  begin: (options: ToolCallOptions, stop: AbortController) => Promise<Result<'mcp.call'>>,
): Promise<{ readonly intent_id: string; readonly calling: Promise<Result<'mcp.call'>> }> {
  const stop = new AbortController();
  let onBegun = (_intent_id: string) => {};
  const begun = new Promise<string>((done) => {
    onBegun = done;
  });
  const calling = begin({ signal: stop.signal, abort: stop.signal, onBegun }, stop);
  const intent_id = await Promise.race([begun, calling.then((one) => one.intent_id)]);
  going.add(intent_id, stop, calling);
  return { intent_id, calling };
}
