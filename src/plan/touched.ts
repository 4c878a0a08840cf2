import { realpathSync } from 'node:fs';
import { logsOf } from '../effect/sql/database.ts';
import { isWithin, projectPaths } from '../intent/path.ts';
import type { ToolEffect } from '../tool/effect.ts';
import { foldPath } from './input/glob.ts';
import { pathsOf } from './input/rules.ts';
import type { ActionEffect, PipelineStep, PlanEffect } from './model.ts';

/** What a plan writes and reads, as `projectPaths` names it. A path stands for itself and for all that is beneath it. */
export interface Touched {
  readonly writes: readonly string[];
  readonly reads: readonly string[];
}

/** All of the project, and all that is outside of it. */
const ANYTHING: Touched = { writes: ['.', '/'], reads: [] };

/** Everything that a run of the plan, or its rollback, may write or read. */
export function touchedBy(effect: PlanEffect, root: string): Touched {
  const real = realpathSync.native(root);
  const { actions, folders, validation } = effect;
  return joined([
    ...actions.map(touchedByAction),
    ...actions.flatMap(({ steps }) => steps.map((step) => touchedByStep(step, real))),
    { writes: folders, reads: validation.map(({ path }) => path) },
  ]);
}

/** The same for a rollback alone, which runs no pipeline again. */
export function touchedByUndo(effect: PlanEffect, root: string): Touched {
  const actions = effect.actions.map((action) => ({ ...action, steps: [] }));
  return touchedBy({ ...effect, actions }, root);
}

function touchedByAction(action: ActionEffect): Touched {
  // Its target is the name of a pipeline, and its steps say what it touches.
  if (action.action_type === 'PIPELINE_RUN') return { writes: [], reads: [] };
  const named = pathsOf(action);
  const writes = named.filter((one) => one.writes).map(({ path }) => path);
  const beside = action.action_type === 'SQL_EXECUTE' ? logsOf(action.target) : [];
  return { writes: [...writes, ...beside], reads: named.map(({ path }) => path) };
}

/** Only a sandbox bounds what a tool writes. */
function touchedByStep(step: PipelineStep, root: string): Touched {
  if (step.kind === 'sql') return { writes: [step.database, ...logsOf(step.database)], reads: [step.file] };
  const { sandbox } = step;
  if (sandbox === 'none') return ANYTHING;
  const named = (paths: readonly string[]) => paths.flatMap((path) => projectPaths(root, path));
  return { writes: named(sandbox.write), reads: named([...sandbox.read, ...loadedBy(step)]) };
}

function loadedBy({ executables, covers }: ToolEffect): string[] {
  const covered = covers?.files.map(([path]) => `${covers.root}/${path}`) ?? [];
  return [...executables.map(({ path }) => path), ...covered];
}

/** Folded, because some file systems take two names that differ only in case for one file. */
function joined(all: readonly Touched[]): Touched {
  const of = (key: keyof Touched) => [...new Set(all.flatMap((one) => one[key]).map(foldPath))];
  return { writes: of('writes'), reads: of('reads') };
}

/** Whether neither writes what the other one touches. Two may read the same. */
export function areApart(a: Touched, b: Touched): boolean {
  return !share(a.writes, b.writes) && !share(a.writes, b.reads) && !share(a.reads, b.writes);
}

function share(some: readonly string[], others: readonly string[]): boolean {
  return some.some((one) => others.some((other) => isWithin(one, other) || isWithin(other, one)));
}
