import { askToStop } from '../effect/spool.ts';
import { refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import { lifeOf, lostOrNot } from './life.ts';
import { isRunGoing } from './live.ts';

/**
 * The proposer wants its run to end: the process that runs it on this host is asked to. It is no act: nothing is recorded but how the run
 * ended. False where the run is over, or on another host.
 */
export async function cancelRun(context: Context, execution_id: string): Promise<boolean> {
  const { intent_id } =
    (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const { state, is_lost } = await lostOrNot(context, await requireIntent(context, intent_id));
  const run = state.runs.at(-1);
  if (is_lost || !run || !isRunGoing(state, execution_id)) return false;
  if (lifeOf(context, execution_id, run.executor) !== 'alive') return false;
  await askToStop(context.runs_folder, execution_id);
  return true;
}
