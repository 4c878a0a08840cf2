import { isAlive } from '../effect/process.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { limits } from '../limits.ts';
import { type Context, requireIntent } from './context.ts';
import { isSaidToGoOn, sayingThatItGoesOn } from './run-words.ts';

export type Life = ReturnType<typeof isAlive>;

/** Whether something still works on this run. What this very object claimed, it knows best: its process lives on after a run. */
export function lifeOf(
  { process: here, at_work }: Context,
  execution_id: string,
  executor: Run['executor'],
): Life {
  if (executor.instance === undefined || executor.instance !== here.instance) return isAlive(executor);
  return [...at_work].some((one) => one.execution_id === execution_id) ? 'alive' : 'dead';
}

/** What a process said that it works on: the last run of an intent, or its rollback. */
export type OpenWork = Pick<Run, 'execution_id' | 'executor' | 'claimed_at'>;

/** Null where the ledger has the end of both. */
export function openWork({ status, runs, rollback }: IntentState): OpenWork | null {
  const run = runs.at(-1);
  if (run === undefined) return null;
  if (status === 'claimed') return run;
  return status === 'rolling_back' && rollback !== null ? { ...run, ...rollback } : null;
}

/** Whether the process still works on it. One on another host does until that host is silent for too long. No decision uses it. */
export async function isAtWork(context: Context, work: OpenWork): Promise<boolean> {
  const life = lifeOf(context, work.execution_id, work.executor);
  return life === 'other-host' ? !(await isSilent(context, work)) : life === 'alive';
}

/**
 * Whether the process that claimed the last run works on it, as each status word, count and notification has it. What outlived that process
 * is in doubt, like what died with it.
 */
export async function isRunning(context: Context, state: IntentState): Promise<boolean> {
  const work = state.status === 'claimed' ? openWork(state) : null;
  return work !== null && isAtWork(context, work);
}

/**
 * The intent, and whether its last run is lost: nothing works on it, and no end of it is recorded. A process records the end and is
 * gone a moment later, so the record is read again after it was found gone.
 */
export async function lostOrNot(
  context: Context,
  state: IntentState,
): Promise<{ readonly state: IntentState; readonly is_lost: boolean }> {
  const run = state.runs.at(-1);
  if (state.status !== 'claimed' || run === undefined) return { state, is_lost: false };
  if (lifeOf(context, run.execution_id, run.executor) !== 'dead') return { state, is_lost: false };
  const now = await requireIntent(context, state.intent_id);
  const is_same = now.status === 'claimed' && now.runs.at(-1)?.execution_id === run.execution_id;
  return is_same ? { state: now, is_lost: true } : lostOrNot(context, now);
}

/** Remembers for as long as it takes that this process works on an execution, and tells other hosts. */
export async function atWork<T>(context: Context, execution_id: string, act: () => Promise<T>): Promise<T> {
  const { at_work } = context;
  // Two may try the same execution: each takes away only its own mark.
  const mark = { execution_id };
  at_work.add(mark);
  try {
    return await sayingThatItGoesOn(context, execution_id, act);
  } finally {
    at_work.delete(mark);
  }
}

async function isSilent(context: Context, { execution_id, claimed_at }: OpenWork): Promise<boolean> {
  const since_ms = context.clock().getTime() - Date.parse(claimed_at);
  return since_ms > limits.beat_missed_ms && !(await isSaidToGoOn(context, execution_id));
}
