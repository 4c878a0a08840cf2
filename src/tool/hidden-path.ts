import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { contains } from '../effect/mounts.ts';
import { refuse } from '../refusal.ts';
import type { ToolEffect } from './effect.ts';
import type { Tool } from './registry.ts';

interface Place {
  readonly root: string;
  /** What no tool sees. */
  readonly hidden_paths: readonly string[];
}

/**
 * Refuses a path that names a file of the project which the sandbox hides: the run could only fail. A path that is not there yet, or that is
 * there in a folder of the sandbox, may be meant from another folder than the working folder: of these nothing is certain. Of what no tool
 * sees, the proposer must not learn what is there: that is refused in either case.
 */
export function requirePathsInSandbox(
  { parameters }: Pick<Tool, 'parameters'>,
  effect: ToolEffect,
  { root, hidden_paths }: Place,
): void {
  const { sandbox, argv, chosen, cwd } = effect;
  // What is beneath /usr every tool sees.
  if (sandbox === 'none' || contains('/usr', root)) return;
  const binds = [...sandbox.read, ...sandbox.write];
  for (const { parameter, element, start, end } of chosen) {
    const value = argv[element]!;
    if (parameters[parameter]?.type !== 'path' || start > 0 || end < value.length) continue;
    const path = resolve(cwd, value);
    const is_shown = binds.some(
      (bind) => contains(bind, path) || contains(path, bind) || existsSync(resolve(bind, value)),
    );
    const is_kept = hidden_paths.some((hidden) => contains(hidden, path));
    if (!is_shown && contains(root, path) && (is_kept || existsSync(path)))
      refuse(
        'ARGUMENT_INVALID',
        `The argument "${parameter}" names ${path}, which the sandbox of "${effect.tool}" hides: it shows ${binds.join(', ') || 'no files of the project'}.`,
        { parameter, path },
      );
  }
}
