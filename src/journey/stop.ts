import type { Event } from '../event/event.ts';
import { requireStoppable } from '../gate/run.ts';
import { runWordOf } from '../gate/status-word.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import { runNamed } from './find.ts';
import { isRunning, lifeOf, lostOrNot } from './life.ts';
import { type InDoubt, inDoubt } from './look.ts';

export interface StopRequest {
  readonly execution_id: string;
  readonly reason: string;
  readonly signer: Signer;
}

/**
 * A human ends a run that goes on, wherever that is. It is like a freeze of this one run: no policy is asked, and any human may. What
 * watches the run finds that its capability was taken back and kills it; a plan rolls back. Whether the stop or the end of the
 * run came first, the ledger decides.
 */
export async function stop(
  context: Context,
  { execution_id, reason, signer }: StopRequest,
): Promise<Event<'execution.stopped'>> {
  const { origin, store, clock } = context;
  requireHuman(await store.find('principal', signer.name), signer.public_key);
  const { state } = await requireGoing(context, execution_id);
  const facts = { execution_id, reason };
  const stopped = await signAct(origin, 'execution.stopped', state.intent_id, facts, signer, clock());
  await store.commit({ events: [stopped] });
  return stopped;
}

/** The run that a person means: by its id or that of its intent, or the beginning of one; or the only one that goes on. */
export async function goingRun(context: Context, name: string | null): Promise<InDoubt> {
  return requireGoing(context, name === null ? await onlyRun(context) : await meant(context, name));
}

async function requireGoing(context: Context, execution_id: string): Promise<InDoubt> {
  const known = (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const { state, is_lost } = await lostOrNot(context, await requireIntent(context, known.intent_id));
  const last = state.runs.at(-1)!;
  // A process that is gone does not watch its run: a stop would be recorded, and end nothing.
  if (is_lost && last.execution_id === execution_id)
    refuse('RUN_IN_DOUBT', 'The process of the run is gone, so nothing is left to stop.', { execution_id });
  const life = lifeOf(context, last.execution_id, last.executor);
  const run = requireStoppable(state, execution_id);
  return { state, run, life, status_word: runWordOf('claimed', await isRunning(context, state)) };
}

async function onlyRun(context: Context): Promise<string> {
  const going = (await inDoubt(context)).filter(({ life }) => life !== 'dead');
  const [only, ...others] = going.map(({ run }) => run);
  if (only === undefined) refuse('STOP_NOT_DUE', 'No run goes on.');
  if (others.length === 0) return only.execution_id;
  const told = [only, ...others].map(({ execution_id, tool }) => `${execution_id} (${tool})`);
  return refuse('CLARIFICATION_NEEDED', `Several runs go on: ${told.join(', ')}. Name the one to stop.`);
}

async function meant(context: Context, name: string): Promise<string> {
  try {
    return await runNamed(context, name);
  } catch (error) {
    const is_none = error instanceof Refusal && error.code === 'EXECUTION_NOT_FOUND';
    const waits = is_none && (await context.store.keys('intent', name, 1)).length > 0;
    return waits ? refuse('STOP_NOT_DUE', 'The intent has not begun to run.') : Promise.reject(error);
  }
}
