import type { Body, Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import { revoked } from './capability.ts';
import type { IntentState, Run } from './state.ts';

/** What events make of the run that goes on. */

const STATUS_OF = {
  success: 'succeeded',
  failure: 'failed',
  partial: 'partial',
  rolled_back: 'rolled_back',
} as const;

/** A claim is of the attempt that may run now. The attacker has an executor key, and would name a harmless tool where lists and stories tell of the run. */
export function requireAttempt(
  state: IntentState,
  { attempt, effect_digest, tool, reports }: Event<'execution.claimed'>['body'],
): void {
  if (attempt !== state.attempt || effect_digest !== state.effect_digest)
    refuse('TRANSITION_ILLEGAL', 'The attempt is not the next one.');
  if (tool !== state.tool || (reports !== null) !== (state.effect === 'plan'))
    refuse('TRANSITION_ILLEGAL', 'It is not what the attempt would run.');
}

export function checkpointed(state: IntentState, { body }: Event<'execution.checkpointed'>): IntentState {
  const run = ownRun(state, body);
  if (run.reports === null || run.manifest !== null)
    refuse('TRANSITION_ILLEGAL', 'A run of a plan has one checkpoint.');
  return { ...state, runs: [...state.runs.slice(0, -1), { ...run, manifest: body.manifest }] };
}

export function journalAnnounced(state: IntentState, { body }: Event<'execution.announced'>): IntentState {
  const run = ownRun(state, body);
  if (run.manifest === null) refuse('TRANSITION_ILLEGAL', 'A run announces nothing before its checkpoint.');
  return { ...state, runs: [...state.runs.slice(0, -1), { ...run, journal: body.journal }] };
}

export function finished(state: IntentState, event: Event<'execution.finished'>, at: string): IntentState {
  const { result, exit_code, reports, capability_id, attempt, tool } = event.body;
  const run = ownRun(state, event.body);
  if (capability_id !== run.capability_id || attempt !== run.attempt || tool !== run.tool)
    refuse('TRANSITION_ILLEGAL', 'It is the end of another run.');
  const status = STATUS_OF[result];
  // An executor that was revoked meanwhile names none: what it recorded before then stays.
  const journal = reports.journal ?? run.journal;
  return {
    ...state,
    status,
    runs: [...state.runs.slice(0, -1), { ...run, finished_at: at, result, exit_code, journal }],
  };
}

/** The run that a stop ends. A second stop is told who was first. */
export function requireStoppable({ status, runs }: IntentState, execution_id: string): Run {
  const run = runs.at(-1);
  if (status !== 'claimed' || run?.execution_id !== execution_id)
    refuse('STOP_NOT_DUE', undefined, { status });
  const { stopped } = run;
  if (stopped) refuse('RUN_STOPPED', `${stopped.by} stopped the run at ${stopped.at}.`, { ...stopped });
  return run;
}

/** Its capability is taken back, as a revocation would: whatever watches the run ends it. */
export function stopped(state: IntentState, { body }: Event<'execution.stopped'>, at: string): IntentState {
  const run = requireStoppable(state, body.execution_id);
  const after = revoked(state, run.capability_id);
  return { ...after, runs: [...state.runs.slice(0, -1), { ...run, stopped: { by: body.by, at } }] };
}

export function runOf({ body }: Event<'execution.claimed'>, at: string): Run {
  const { execution_id, capability_id, tool, attempt, executor, executor_key, reports } = body;
  return {
    execution_id,
    capability_id,
    tool,
    attempt,
    claimed_at: at,
    executor,
    executor_key,
    finished_at: null,
    result: null,
    exit_code: null,
    reports,
    manifest: null,
    journal: null,
    expired_at: null,
    stopped: null,
  };
}

export function sameRun(state: IntentState, execution_id: string): Run {
  const run = state.runs.at(-1);
  if (run?.execution_id !== execution_id) refuse('EXECUTION_NOT_FOUND');
  return run;
}

/** What became of a run is stated by the executor that claimed it. */
export function ownRun(
  state: IntentState,
  stated: Pick<Body<'execution.finished'>, 'execution_id' | 'executor_key'>,
): Run {
  const run = sameRun(state, stated.execution_id);
  if (run.executor_key !== stated.executor_key) refuse('EXECUTOR_UNKNOWN');
  return run;
}
