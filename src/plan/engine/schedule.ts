import { planLimits } from '../../limits.ts';
import type { ReasonCode } from '../../refusal.ts';
import type { ActionEffect, ExecutionOrder } from '../model.ts';

/** What one action came to, as far as those that depend on it care. */
export type ActionResult = 'SUCCESS' | 'FAILED' | 'SKIPPED';

interface Turn {
  /** Runs the action to its end. Never throws. */
  run(action: ActionEffect): Promise<ActionResult>;
  skip(action: ActionEffect, skip: Skip): void;
  /** Why nothing more may begin; null while it may. */
  stopped(): string | null;
}

export interface Skip {
  readonly reason: string;
  readonly code?: ReasonCode;
}

/**
 * Runs the actions: one at a time, or as many as are ready and allowed. An action waits for what it depends on, and for
 * every earlier action on the same path: the plan was simulated in this order, and only in this order its states are true.
 */
export async function runInOrder(
  actions: readonly ActionEffect[],
  order: ExecutionOrder,
  turn: Turn,
): Promise<void> {
  const most = order === 'sequential' ? 1 : planLimits.concurrent_actions;
  const waits = dependenciesOf(actions);
  const results = new Map<string, ActionResult>();
  const running = new Map<string, Promise<void>>();
  const waiting = [...actions];
  while (waiting.length > 0 || running.size > 0) {
    for (const action of nextReady(waiting, waits, results, most - running.size, most === 1)) {
      waiting.splice(waiting.indexOf(action), 1);
      const skip = whySkipped(waits.get(action)!, results) ?? stop(turn);
      if (skip !== null) {
        turn.skip(action, skip);
        results.set(action.action_id, 'SKIPPED');
        continue;
      }
      const ended = turn.run(action).then((result) => {
        results.set(action.action_id, result);
        running.delete(action.action_id);
      });
      running.set(action.action_id, ended);
    }
    if (running.size > 0) await Promise.race(running.values());
  }
}

function stop(turn: Turn): Skip | null {
  const reason = turn.stopped();
  return reason === null ? null : { reason };
}

function nextReady(
  waiting: readonly ActionEffect[],
  waits: ReadonlyMap<ActionEffect, readonly string[]>,
  results: ReadonlyMap<string, ActionResult>,
  room: number,
  in_order: boolean,
): ActionEffect[] {
  if (room <= 0) return [];
  const candidates = in_order ? waiting.slice(0, 1) : waiting;
  return candidates.filter((action) => waits.get(action)!.every((id) => results.has(id))).slice(0, room);
}

/** 004 section 5.3, in its words. */
function whySkipped(waits: readonly string[], results: ReadonlyMap<string, ActionResult>): Skip | null {
  const failed = waits.find((id) => results.get(id) === 'FAILED');
  if (failed !== undefined) return { reason: `Dependency ${failed} failed`, code: 'DEPENDENCY_FAILED' };
  const skipped = waits.find((id) => results.get(id) !== 'SUCCESS');
  if (skipped === undefined) return null;
  return { reason: `Dependency ${skipped} not completed`, code: 'DEPENDENCY_NOT_COMPLETED' };
}

/** Declared dependencies, and the last earlier action on each path. */
function dependenciesOf(actions: readonly ActionEffect[]): Map<ActionEffect, string[]> {
  const last = new Map<string, string>();
  const waits = new Map<ActionEffect, string[]>();
  for (const action of actions) {
    const earlier = action.changes.flatMap(({ path }) => last.get(path) ?? []);
    waits.set(action, [...new Set([...action.depends_on, ...earlier])]);
    for (const { path } of action.changes) last.set(path, action.action_id);
  }
  return waits;
}
