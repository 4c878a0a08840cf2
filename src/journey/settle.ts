import { isAlive } from '../effect/process.ts';
import type { Event } from '../event/event.ts';
import { BLOCKS } from '../gate/next.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';

export interface ResolveRequest {
  readonly execution_id: string;
  readonly outcome: 'happened' | 'did_not_happen';
  readonly reason: string;
  readonly signer: Signer;
  /** A human's word for a run whose host this machine cannot see. */
  readonly host_is_dead?: boolean;
}

/** Settles a run in doubt by a human's word. Never guessed, never while the process may still be at work. */
export async function resolve(
  context: Context,
  request: ResolveRequest,
): Promise<Event<'execution.resolved'>> {
  const { execution_id, outcome, reason, signer } = request;
  requireHuman(await context.store.principal(signer.name), signer.public_key);
  const execution = (await context.store.execution(execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const state = await requireIntent(context, execution.intent_id);
  const run = state.runs.at(-1);
  if (run?.execution_id !== execution_id || BLOCKS[state.status] !== 'RUN_IN_DOUBT')
    refuse('RESOLVE_NOT_DUE');
  requireDead(state, run, request.host_is_dead ?? false);
  const facts = { execution_id, attempt: run.attempt, outcome, reason };
  const resolved = signAct(
    context.origin,
    'execution.resolved',
    state.intent_id,
    facts,
    signer,
    context.clock(),
  );
  await context.store.commit({ events: [resolved] });
  return resolved;
}

function requireDead(state: IntentState, run: Run, host_is_dead: boolean): void {
  if (state.status === 'partial') return;
  const life = isAlive(run.executor);
  if (life === 'alive') refuse('RUN_STILL_ALIVE', `Process ${run.executor.pid} is still running.`);
  if (life === 'other-host' && !host_is_dead)
    refuse('RUN_STILL_ALIVE', `The run belongs to host ${run.executor.host}.`);
}

export interface RetryRequest {
  readonly intent_id: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** Authorises exactly one new attempt after a failure. */
export async function retry(context: Context, request: RetryRequest): Promise<Event<'retry.authorised'>> {
  const { intent_id, reason, signer } = request;
  requireHuman(await context.store.principal(signer.name), signer.public_key);
  const state = await requireIntent(context, intent_id);
  const run = state.runs.at(-1);
  if (BLOCKS[state.status] === 'RUN_IN_DOUBT') refuse('RUN_IN_DOUBT');
  if (state.status !== 'failed' || run === undefined) refuse('RETRY_NOT_DUE');
  const facts = { attempt: state.attempt + 1, after: run.execution_id, hash: state.hash, reason };
  const authorised = signAct(context.origin, 'retry.authorised', intent_id, facts, signer, context.clock());
  await context.store.commit({ events: [authorised] });
  return authorised;
}
