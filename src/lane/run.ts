import type { ChildOutcome } from '../effect/child.ts';
import { type Watching, watchWhile } from '../effect/watching.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { compareEffects, type ToolEffect } from '../tool/effect.ts';
import { appendLine, locked } from './append.ts';
import { type Beginning, beginningOf, beginsWith } from './beginning.ts';
import { executedForm } from './form.ts';
import { readLines } from './lines.ts';
import { type LaneRunRequest, type ReadyCall, requirePreconditions } from './precondition.ts';
import type { Finished } from './report.ts';

/** The human, who sees the effect and says y or not, and the world outside. */
export interface RunSetting {
  readonly confirm: (effect: ToolEffect) => Promise<boolean>;
  readonly clock: () => Date;
  readonly abort: AbortSignal;
  /** Opened after the y, and asked before the claim and while the tool runs. Without it nothing can be frozen. */
  readonly freezes?: (effect: ToolEffect) => Promise<Freezes>;
}

/** What can stop the lane inside a project. */
export interface Freezes {
  requireFree(): Promise<void>;
  close(): Promise<void>;
}

/** Everything that a run checks, and nothing that it does. */
export async function previewRun(request: LaneRunRequest): Promise<ToolEffect> {
  const { effect, prepared } = await requirePreconditions(request);
  prepared.close();
  return effect;
}

/** The adapter of 001 on the plain files: check, ask, look again and claim, run once, record, stop. */
export async function runIntent(request: LaneRunRequest, setting: RunSetting): Promise<Finished> {
  const seen = await requirePreconditions(request);
  seen.prepared.close();
  if (!(await setting.confirm(seen.effect))) refuse('CONFIRMATION_DECLINED');

  const freezes = await setting.freezes?.(seen.effect);
  try {
    await freezes?.requireFree();
    return await watchedRun(request, seen, setting, freezes);
  } finally {
    await freezes?.close();
  }
}

async function watchedRun(
  request: LaneRunRequest,
  seen: ReadyCall,
  { clock, abort }: RunSetting,
  freezes: Freezes | undefined,
): Promise<Finished> {
  const watch = watchWhile<Refusal>({
    look: async () => (await freezes?.requireFree()) ?? null,
    failed: (error) => (error instanceof Refusal ? error : new Refusal('INTERNAL', String(error))),
    late: () => new Refusal('STORE_UNREACHABLE'),
    abort,
  });
  try {
    return await runClaimed(request, await claim(request, seen, clock, watch), clock, watch);
  } finally {
    watch.stop();
  }
}

type RunWatch = Watching<Refusal>;

async function runClaimed(
  request: LaneRunRequest,
  claimed: Claim,
  clock: RunSetting['clock'],
  watch: RunWatch,
): Promise<Finished> {
  try {
    const run = await claimed.prepared.run({ abort: watch.signal });
    return await record(request, claimed, clock, { run, failure: failureOf(run, watch.found()) });
  } catch (error) {
    // Whatever went wrong after the claim: it cannot be said that nothing happened.
    if (error instanceof Refusal && error.code === 'RECORDING_FAILED') throw error;
    return refuse('RECORDING_FAILED');
  } finally {
    claimed.prepared.close();
  }
}

interface Claim extends ReadyCall {
  /** `executed.jsonl` as it was when the claim had been appended. */
  readonly held: Beginning;
}

/**
 * All of it again, because the human may have taken an hour, and with the folder locked, because another process may
 * be here too. The claim is on the disk before the tool starts: from then on any reader sees this id as executed.
 */
function claim(
  request: LaneRunRequest,
  seen: ReadyCall,
  clock: RunSetting['clock'],
  { signal, found }: RunWatch,
): Promise<Claim> {
  return locked(request.queue, async () => {
    const ready = await requirePreconditions(request);
    try {
      compareEffects(seen.effect, ready.effect);
      if (signal.aborted) throw found() ?? new Refusal('CONFIRMATION_DECLINED', 'The run was interrupted.');
      appendLine(request.queue.executed, {
        id: request.id,
        timestamp: clock().toISOString(),
        tool: ready.effect.tool,
        exit_code: null,
        outcome: 'started',
      });
      return { ...ready, held: beginningOf(request.queue.executed) };
    } catch (error) {
      ready.prepared.close();
      throw error;
    }
  });
}

async function record(
  request: LaneRunRequest,
  { effect, held }: Claim,
  clock: RunSetting['clock'],
  { run, failure }: Pick<Finished, 'run' | 'failure'>,
): Promise<Finished> {
  const line = {
    id: request.id,
    timestamp: clock().toISOString(),
    tool: effect.tool,
    exit_code: run.exit_code,
    outcome: failure === null ? 'success' : 'failure',
  } as const;
  await locked(request.queue, async () => {
    // A writer that does not know our lock may have left half a line. Ours must not continue it.
    await readLines(request.queue.executed, executedForm, request.id);
    const kept = beginsWith(request.queue.executed, held);
    // Also without the claim: this line keeps the id blocked.
    appendLine(request.queue.executed, line);
    if (!kept) refuse('RECORDING_FAILED', CLAIM_LOST);
  });
  return { ...line, failure, run };
}

/** A tool without a sandbox can write there: the claim of this run, or the records of other runs, may be gone. */
const CLAIM_LOST =
  'executed.jsonl no longer begins with what it held when the tool started: lines were changed or taken away.';

/** Exit code 0 and nothing else is a success. */
function failureOf(run: ChildOutcome, stopped_by: Refusal | null): Refusal | null {
  if (run.aborted && stopped_by !== null) return stopped_by;
  const code = failureCode(run);
  return code === null ? null : new Refusal(code);
}

function failureCode(run: ChildOutcome): ReasonCode | null {
  if (!run.started) return 'TOOL_NOT_STARTED';
  if (run.timed_out) return 'TOOL_TIMED_OUT';
  if (run.signal !== null || run.exit_code === null) return 'TOOL_KILLED';
  return run.exit_code === 0 ? null : 'TOOL_EXIT_NONZERO';
}
