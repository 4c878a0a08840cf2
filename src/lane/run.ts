import type { Outcome } from '../effect/child.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { compareEffects, type Effect } from '../tool/effect.ts';
import { appendLine, locked } from './append.ts';
import { type Beginning, beginningOf, beginsWith } from './beginning.ts';
import { executedForm } from './form.ts';
import { readLines } from './lines.ts';
import { type Ready, type RunRequest, requirePreconditions } from './precondition.ts';
import type { Finished } from './report.ts';

/** The human, who sees the effect and says y or not, and the world outside. */
export interface RunSetting {
  readonly confirm: (effect: Effect) => Promise<boolean>;
  readonly clock: () => Date;
  readonly abort: AbortSignal;
}

/** Everything that a run checks, and nothing that it does. */
export async function previewRun(request: RunRequest): Promise<Effect> {
  const { effect, prepared } = await requirePreconditions(request);
  prepared.close();
  return effect;
}

/** The adapter of 001 on the plain files: check, ask, look again and claim, run once, record, stop. */
export async function runIntent(request: RunRequest, setting: RunSetting): Promise<Finished> {
  const seen = await requirePreconditions(request);
  seen.prepared.close();
  if (!(await setting.confirm(seen.effect))) refuse('CONFIRMATION_DECLINED');

  const claimed = await claim(request, seen, setting);
  try {
    const run = await claimed.prepared.run({ abort: setting.abort });
    return await record(request, claimed, run, setting);
  } catch (error) {
    // Whatever went wrong after the claim: it cannot be said that nothing happened.
    if (error instanceof Refusal && error.code === 'RECORDING_FAILED') throw error;
    return refuse('RECORDING_FAILED');
  } finally {
    claimed.prepared.close();
  }
}

interface Claim extends Ready {
  /** `executed.jsonl` as it was when the claim had been appended. */
  readonly held: Beginning;
}

/**
 * All of it again, because the human may have taken an hour, and with the folder locked, because another process may
 * be here too. The claim is on the disk before the tool starts: from then on any reader sees this id as executed.
 */
function claim(request: RunRequest, seen: Ready, setting: RunSetting): Promise<Claim> {
  return locked(request.queue, async () => {
    const ready = await requirePreconditions(request);
    try {
      compareEffects(seen.effect, ready.effect);
      if (setting.abort.aborted) refuse('CONFIRMATION_DECLINED', 'The run was interrupted.');
      appendLine(request.queue.executed, {
        id: request.id,
        timestamp: setting.clock().toISOString(),
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
  request: RunRequest,
  { effect, held }: Claim,
  run: Outcome,
  setting: RunSetting,
): Promise<Finished> {
  const code = failureOf(run);
  const line = {
    id: request.id,
    timestamp: setting.clock().toISOString(),
    tool: effect.tool,
    exit_code: run.exit_code,
    outcome: code === null ? 'success' : 'failure',
  } as const;
  await locked(request.queue, async () => {
    // A writer that does not know our lock may have left half a line. Ours must not continue it.
    await readLines(request.queue.executed, executedForm, request.id);
    const kept = beginsWith(request.queue.executed, held);
    // Also without the claim: this line keeps the id blocked.
    appendLine(request.queue.executed, line);
    if (!kept) refuse('RECORDING_FAILED', CLAIM_LOST);
  });
  return { ...line, code, run };
}

/** A tool without a sandbox can write there: the claim of this run, or the records of other runs, may be gone. */
const CLAIM_LOST =
  'executed.jsonl no longer begins with what it held when the tool started: lines were changed or taken away.';

/** Exit code 0 and nothing else is a success. */
function failureOf(run: Outcome): ReasonCode | null {
  if (!run.started) return 'TOOL_NOT_STARTED';
  if (run.timed_out) return 'TOOL_TIMED_OUT';
  if (run.signal !== null || run.exit_code === null) return 'TOOL_KILLED';
  return run.exit_code === 0 ? null : 'TOOL_EXIT_NONZERO';
}
