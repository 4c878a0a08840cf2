import { isAlive } from '../effect/process.ts';
import type { Run } from '../gate/state.ts';
import type { Context } from './context.ts';

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
