import type { Outcome } from '../effect/child.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { compareEffects, type Effect } from '../tool/effect.ts';
import { appendLine, locked } from './append.ts';
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

  const ready = await claim(request, seen, setting);
  try {
    const run = await ready.prepared.run({ abort: setting.abort });
    return await record(request, ready.effect.tool, run, setting);
  } catch {
    // Whatever went wrong after the claim: nobody can say that nothing happened.
    return refuse('RECORDING_FAILED');
  } finally {
    ready.prepared.close();
  }
}

/**
 * All of it again, because the human may have taken an hour, and with the folder locked, because another process may
 * be here too. The claim is on the disk before the tool starts: from then on any reader sees this id as executed.
 */
function claim(request: RunRequest, seen: Ready, setting: RunSetting): Promise<Ready> {
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
      return ready;
    } catch (error) {
      ready.prepared.close();
      throw error;
    }
  });
}

async function record(
  request: RunRequest,
  tool: string,
  run: Outcome,
  setting: RunSetting,
): Promise<Finished> {
  const code = failureOf(run);
  const line = {
    id: request.id,
    timestamp: setting.clock().toISOString(),
    tool,
    exit_code: run.exit_code,
    outcome: code === null ? 'success' : 'failure',
  } as const;
  await locked(request.queue, async () => {
    // A writer that does not know our lock may have left half a line. Ours must not continue it.
    await readLines(request.queue.executed, executedForm, request.id);
    appendLine(request.queue.executed, line);
  });
  return { ...line, code, run };
}

/** Exit code 0 and nothing else is a success. */
function failureOf(run: Outcome): ReasonCode | null {
  if (!run.started) return 'TOOL_NOT_STARTED';
  if (run.timed_out) return 'TOOL_TIMED_OUT';
  if (run.signal !== null || run.exit_code === null) return 'TOOL_KILLED';
  return run.exit_code === 0 ? null : 'TOOL_EXIT_NONZERO';
}
