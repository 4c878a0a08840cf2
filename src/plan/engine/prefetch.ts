import { planLimits } from '../../limits.ts';
import { dropStaged, type PreparedAction, type Stager } from '../handler/apply.ts';
import type { Handlers } from '../handler/handlers.ts';
import type { ActionEffect, FileState, PlanEffect } from '../model.ts';
import type { ActionType } from '../operation.ts';
import type { Halt } from './halt.ts';

/** Statements and pipelines look into folders, and must not meet a file that waits there. */
const LOOKS_AROUND: ReadonlySet<ActionType> = new Set<ActionType>(['SQL_EXECUTE', 'PIPELINE_RUN']);

/**
 * Edits that are prepared before their turn, so that the new contents of several reach the disk together, beside their places.
 * Nothing is changed by it. What cannot be prepared is left to the action itself, which says why.
 */
export class Prefetch {
  readonly #prepared = new Map<ActionEffect, Promise<PreparedAction | null>>();
  #ended = false;

  /** Each begins when the one four places before it is ready. */
  begin({ actions }: PlanEffect, handlers: Handlers, stager: Stager, halt: Halt): void {
    const edits = candidates(actions, handlers);
    for (const [i, action] of edits.entries()) {
      const before = this.#prepared.get(edits[i - planLimits.concurrent_actions]!) ?? Promise.resolve();
      const ready = before
        .then(() => (this.#ended || halt.reason() ? null : prepare(handlers, action, stager)))
        .catch(() => null);
      this.#prepared.set(action, ready);
    }
  }

  /**
   * When all of them are on the disk, or were left to their actions. A rename waits for a sync of another file in the same folder, so
   * the renames come after the last sync.
   */
  async ready(): Promise<void> {
    await Promise.all(this.#prepared.values());
  }

  has(action: ActionEffect): boolean {
    return this.#prepared.has(action);
  }

  /** What was prepared of an action: from here on it is the action's own. */
  async take(action: ActionEffect): Promise<PreparedAction | null> {
    const prepared = (await this.#prepared.get(action)) ?? null;
    this.#prepared.delete(action);
    return prepared;
  }

  /** Begins nothing more and removes what no action took. What cannot be removed is found by its name later. */
  async end(root: string): Promise<void> {
    this.#ended = true;
    for (const [{ changes }, ready] of this.#prepared) {
      const prepared = await ready;
      if (prepared) await dropStaged(root, changes[0]!.path, prepared).catch(() => null);
    }
  }
}

function prepare<T extends ActionType>(handlers: Handlers, action: ActionEffect<T>, stager: Stager) {
  return handlers[action.action_type].prepare!(action, stager);
}

/** Only the first change of a path: what the others begin with is not there yet. */
function candidates(actions: readonly ActionEffect[], handlers: Handlers): ActionEffect[] {
  if (
    actions.some(
      (action) => LOOKS_AROUND.has(action.action_type) || action.timeout_ms < planLimits.prefetch_timeout_ms,
    )
  )
    return [];
  const mentioned = new Set<string>();
  let total = 0;
  return actions.filter(({ action_type, changes }) => {
    const first = changes.every(({ path }) => !mentioned.has(path));
    for (const { path } of changes) mentioned.add(path);
    const size = Math.max(...changes.flatMap(({ before, after }) => [sizeOf(before), sizeOf(after)]));
    if (!first || !handlers[action_type].prepare) return false;
    if (size > planLimits.together_bytes || total + size > planLimits.prefetch_bytes) return false;
    total += size;
    return true;
  });
}

function sizeOf(state: FileState | null | 'unknown'): number {
  return state === null || state === 'unknown' ? 0 : state.size;
}
