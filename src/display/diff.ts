import { visible } from '../canonical/visible.ts';
import type { Diff } from '../plan/report/diff.ts';
import { type Block, type Origin, worded } from './shown.ts';

export interface DiffOf {
  readonly path: string;
  /** Who chose the path and what the file becomes. */
  readonly from: Origin;
  /** False where there is no such file before, or after. */
  readonly was: boolean;
  readonly will_be: boolean;
}

/** A diff as people know it, with the two lines that name the file. */
export function diffBlock({ path, from, was, will_be }: DiffOf, diff: Diff, left_out = 0): Block {
  const said =
    diff.kind === 'binary' ? ['The file is binary. Its size and its hash are part of what is approved.'] : [];
  const hunks = diff.kind === 'binary' ? [] : (diff.hunks ?? []);
  return {
    kind: 'diff',
    title: [worded(path, from)],
    from,
    lines: [
      `--- ${was ? visible(`a/${path}`) : '/dev/null'}`,
      `+++ ${will_be ? visible(`b/${path}`) : '/dev/null'}`,
      ...said,
    ],
    hunks: hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(visible) })),
    left_out,
  };
}
