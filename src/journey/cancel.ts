import { refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import { lifeOf, lostOrNot } from './life.ts';
import { isRunGoing } from './live.ts';
import { askRunToStop } from './run-words.ts';

/**
 * The proposer wants its run to end: the process that runs it is asked to, on any host that shares the ledger. It is no act: nothing is recorded
 * but how the run ended (RUN_CANCELLED where it was ended half way). False where the run is over, or nothing here reaches its host.
 */
export async function cancelRun(context: Context, execution_id: string): Promise<boolean> {
  const { intent_id } =
    (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const { state, is_lost } = await lostOrNot(context, await requireIntent(context, intent_id));
  const run = state.runs.at(-1);
  if (is_lost || !run || !isRunGoing(state, execution_id)) return false;
  const is_here = lifeOf(context, execution_id, run.executor) === 'alive';
  if (!is_here && context.service_state === null) return false;
  await askRunToStop(context, execution_id);
  return true;
}
