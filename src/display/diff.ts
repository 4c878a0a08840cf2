import { visible } from '../canonical/visible.ts';
import type { Diff } from '../plan/report/diff.ts';
import { type Hunk, slicesOf, weightOf } from '../plan/report/hunk.ts';
import { type Block, type Origin, type ShownHunk, worded } from './shown.ts';

export interface DiffOf {
  readonly path: string;
  /** Who chose the path and what the file becomes. */
  readonly from: Origin;
  /** False where there is no such file before, or after. */
  readonly was: boolean;
  readonly will_be: boolean;
}

/** How many more lines of diffs are told with what is shown. The others are read apart. */
export interface DiffRoom {
  lines: number;
}

export const BINARY = 'The file is binary. Its size and its hash are part of what is approved.';

/** The two lines that name the file. */
export function namesOf(path: string, was: boolean, will_be: boolean): readonly [string, string] {
  return [
    `--- ${was ? visible(`a/${path}`) : '/dev/null'}`,
    `+++ ${will_be ? visible(`b/${path}`) : '/dev/null'}`,
  ];
}

/** A diff as people know it, with the two lines that name the file. */
export function diffBlock(
  { path, from, was, will_be }: DiffOf,
  diff: Diff,
  left_out = 0,
  room: DiffRoom | null = null,
): Block {
  const said = diff.kind === 'binary' ? [BINARY] : [];
  const hunks = diff.kind === 'binary' ? [] : (diff.hunks ?? []);
  return {
    kind: 'diff',
    title: [worded(path, from)],
    from,
    lines: [...namesOf(path, was, will_be), ...said],
    hunks: room === null ? hunks.map(visibleHunk) : slicesOfAll(hunks).map((one) => within(room, one)),
    left_out,
  };
}

/** All of a diff, in parts of which each can be read by itself. */
export function slicesOfAll(hunks: readonly Hunk[]): Hunk[] {
  return hunks.flatMap((hunk) => slicesOf(hunk));
}

export function visibleHunk(hunk: Hunk): Hunk {
  return { ...hunk, lines: hunk.lines.map(visible) };
}

function within(room: DiffRoom, hunk: Hunk): ShownHunk {
  if (room.lines <= 0)
    return { ...hunk, lines: [], apart: hunk.lines.filter((line) => line[0] !== '\\').length };
  room.lines -= weightOf(hunk.lines);
  return visibleHunk(hunk);
}
