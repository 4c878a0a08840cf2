import type { Json } from '../canonical/json.ts';
import { isRunLocked } from '../effect/run-lock.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { type RunWord, runWordOf } from '../gate/status-word.ts';
import { parseArgument } from '../tool/arguments.ts';
import { toolNamed } from '../tool/select.ts';
import type { Context } from './context.ts';
import { isRunning, type Life, lifeOf, lostOrNot } from './life.ts';
import { allIntents } from './list.ts';
import { runLock } from './tool.ts';

/** A run that started and whose end is not recorded, or that was killed half way. */
export interface InDoubt {
  readonly state: IntentState;
  readonly run: Run;
  /** Whether the process that took the claim, or anything that the run started, is still at work. A tool that was killed is `dead`. */
  readonly life: Life;
  /** As lists say it: what outlived the process that started it is in doubt. */
  readonly status_word: RunWord;
}

export async function inDoubt(context: Context): Promise<InDoubt[]> {
  const found: InDoubt[] = [];
  for (const status of ['claimed', 'partial'] as const)
    for await (const read of allIntents(context, ['status', [status]])) {
      const { state, is_lost } = await lostOrNot(context, read);
      const run = state.runs.at(-1);
      if (!run || state.status !== status) continue;
      const life = status === 'partial' ? 'dead' : lifeOfAll(context, run, is_lost);
      const is_running = !is_lost && (await isRunning(context, state));
      found.push({ state, run, life, status_word: runWordOf(status, is_running) });
    }
  return found;
}

/** A tool can outlive the process that started it, and a human who looks at the world meanwhile looks too early. */
function lifeOfAll(context: Context, { execution_id, executor }: Run, is_lost: boolean): Life {
  if (is_lost) return isRunLocked(runLock(context, execution_id)) ? 'alive' : 'dead';
  return lifeOf(context, execution_id, executor);
}

/** Gives each text the type of its parameter. What has no parameter stays text, and is refused by name later. */
export function readArguments(
  { registry }: Context,
  tool: string,
  texts: ReadonlyMap<string, string>,
): Record<string, Json> {
  const { parameters } = toolNamed(registry(), tool);
  const typed = [...texts].map(([name, text]): [string, Json] => {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    return [name, parameter ? parseArgument(parameter, text, name) : text];
  });
  return Object.fromEntries(typed);
}
