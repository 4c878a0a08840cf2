import { setTimeout } from 'node:timers/promises';
import { isRunLocked } from '../effect/run-lock.ts';
import { removeSpool } from '../effect/spool.ts';
import type { Event } from '../event/event.ts';
import { retriedFrom } from '../gate/next.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { journeyLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import { lifeOf } from './life.ts';
import { runLock } from './tool.ts';

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
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const execution = (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const state = await requireIntent(context, execution.intent_id);
  const run = state.runs.at(-1);
  const { status: settles } = state;
  if (run?.execution_id !== execution_id || (settles !== 'claimed' && settles !== 'partial'))
    refuse('RESOLVE_NOT_DUE');
  if (state.status === 'claimed') requireDead(context, execution_id, run.executor, request.host_is_dead);
  // A human who looked before the tool ended did not see what it did after that: `did_not_happen` is refused while it lives.
  const most_ms =
    outcome === 'did_not_happen' && state.status === 'claimed' ? 0 : journeyLimits.run_ending_ms;
  await requireLetGo(context, execution_id, most_ms);
  const facts = { execution_id, attempt: run.attempt, settles, outcome, reason };
  const resolved = await signAct(
    context.origin,
    'execution.resolved',
    state.intent_id,
    facts,
    signer,
    context.clock(),
  );
  await context.store.commit({ events: [resolved] });
  await removeSpool(context.runs_folder, execution_id);
  return resolved;
}

/** Refuses to settle a run that may still be going on. A run on another host needs a human's word. */
export function requireDead(
  context: Context,
  execution_id: string,
  executor: Run['executor'],
  host_is_dead = false,
): void {
  const life = lifeOf(context, execution_id, executor);
  if (life === 'alive') refuse('RUN_STILL_ALIVE', `Process ${executor.pid} is still running.`);
  if (life === 'other-host' && !host_is_dead)
    refuse('RUN_STILL_ALIVE', `The run belongs to host ${executor.host}.`);
}

/** Nor while something that the run started is still there, although its process is not. */
export async function requireLetGo(
  context: Context,
  execution_id: string,
  most_ms: number = journeyLimits.run_ending_ms,
): Promise<void> {
  const until_ms = performance.now() + most_ms;
  while (isRunLocked(runLock(context, execution_id))) {
    if (performance.now() >= until_ms)
      refuse('RUN_STILL_ALIVE', 'The tool outlived the process that started it, and is still running.');
    await setTimeout(journeyLimits.run_ending_look_ms);
  }
}

export interface RetryRequest {
  readonly intent_id: string;
  readonly reason: string;
  readonly signer: Signer;
  /** Another tool that the approved intent names, instead of the one that failed. */
  readonly alternate?: string;
}

/** Authorises exactly one new attempt after a failure. */
export async function retry(context: Context, request: RetryRequest): Promise<Event<'retry.authorised'>> {
  const { intent_id, reason, signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const state = await requireIntent(context, intent_id);
  const run = state.runs.at(-1);
  if (run === undefined) refuse('RETRY_NOT_DUE');
  const from = retriedFrom(state);
  const { tool, effect_digest } = choiceOf(state, request.alternate);
  const facts = {
    attempt: state.attempt + 1,
    after: run.execution_id,
    from,
    hash: state.hash,
    effect_digest,
    tool,
    reason,
  };
  const authorised = await signAct(
    context.origin,
    'retry.authorised',
    intent_id,
    facts,
    signer,
    context.clock(),
  );
  await context.store.commit({ events: [authorised] });
  return authorised;
}

function choiceOf({ tool, effect_digest, choices }: IntentState, alternate: string | undefined) {
  if (alternate === undefined) return { tool, effect_digest };
  return choices.find((choice) => choice.tool === alternate) ?? refuse('ALTERNATE_NOT_NAMED');
}
