import { diffArrays } from 'diff';
import { planLimits } from '../../limits.ts';

/** A run of lines that stay, go or come. In a run of changes what goes stands before what comes. */
export interface LineEdit {
  readonly mark: ' ' | '-' | '+';
  readonly lines: readonly string[];
}

/**
 * How one list of lines becomes the other, by the two lists alone: no clock ends the search. Blocks of lines that each list has once
 * are anchors: first single lines, then blocks where those do not divide the place far enough. What lies between two anchors is
 * searched for its fewest edits if these can be few, and is otherwise walked through once. So the time grows with the number of lines.
 */
export function lineEdits(before: readonly string[], after: readonly string[]): LineEdit[] {
  const edits: LineEdit[] = [];
  divide({ before, after }, BLOCKS, edits);
  return edits;
}

interface Gap {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** How many lines a block has, one level after the other. */
const BLOCKS: readonly number[] = [1, 4];

function divide(gap: Gap, blocks: readonly number[], edits: LineEdit[]): void {
  const { before, after } = gap;
  const [lines, ...longer] = blocks;
  const anchors = lines === undefined ? [] : anchorsOf(before, after, lines);
  let [from, to] = [0, 0];
  for (const [old_at, new_at] of anchors) {
    // Blocks overlap: a line that is in two of them stays once.
    const over = Math.max(0, from - old_at, to - new_at);
    if (over >= lines!) continue;
    settle(
      { before: before.slice(from, old_at + over), after: after.slice(to, new_at + over) },
      longer,
      edits,
    );
    edits.push({ mark: ' ', lines: before.slice(old_at + over, old_at + lines!) });
    [from, to] = [old_at + lines!, new_at + lines!];
  }
  settle({ before: before.slice(from), after: after.slice(to) }, longer, edits);
}

/** A gap in which few edits are enough is searched; one that needs more is divided further, or walked through. */
function settle(gap: Gap, blocks: readonly number[], edits: LineEdit[]): void {
  const { before, after } = gap;
  if (before.length === 0 && after.length === 0) return;
  const fewest = before.length + after.length - 2 * sharedLines(before, after);
  const found = fewest > planLimits.diff_gap_edits ? undefined : searched(gap);
  if (found) edits.push(...found);
  else if (fewest === before.length + after.length) replace(edits, before, after);
  else if (blocks.length > 0) divide(gap, blocks, edits);
  else walk(gap, edits);
}

function replace(edits: LineEdit[], before: readonly string[], after: readonly string[]): void {
  if (before.length > 0) edits.push({ mark: '-', lines: before });
  if (after.length > 0) edits.push({ mark: '+', lines: after });
}

/** Goes through both lists once: where they differ, on to the nearest place at which two lines in a row are equal. */
function walk({ before, after }: Gap, edits: LineEdit[]): void {
  const [old_ids, new_ids] = numbered(before, after) as [Uint32Array, Uint32Array];
  let [i, j] = [0, 0];
  let [from, to] = [0, 0];
  while (i < before.length && j < after.length) {
    if (old_ids[i] !== new_ids[j]) {
      const [old_on, new_on] = nearestEqual(old_ids, i, new_ids, j) ?? [1, 1];
      [i, j] = [i + old_on, j + new_on];
      continue;
    }
    replace(edits, before.slice(from, i), after.slice(to, j));
    const start = i;
    while (i < before.length && j < after.length && old_ids[i] === new_ids[j]) [i, j] = [i + 1, j + 1];
    edits.push({ mark: ' ', lines: before.slice(start, i) });
    [from, to] = [i, j];
  }
  replace(edits, before.slice(from), after.slice(to));
}

function nearestEqual(old_ids: Uint32Array, i: number, new_ids: Uint32Array, j: number): Pair | null {
  for (let away = 1; away <= 2 * planLimits.diff_forward_lines; away++) {
    for (
      let a = Math.max(0, away - planLimits.diff_forward_lines);
      a <= Math.min(away, planLimits.diff_forward_lines);
      a++
    ) {
      const [x, y] = [i + a, j + away - a];
      if (x >= old_ids.length || y >= new_ids.length || old_ids[x] !== new_ids[y]) continue;
      // At the end of both lists both are undefined.
      if (old_ids[x + 1] === new_ids[y + 1]) return [a, away - a];
    }
  }
  return null;
}

/** The same number for the same line: numbers are compared faster. */
function numbered(...lists: readonly (readonly string[])[]): Uint32Array[] {
  const known = new Map<string, number>();
  return lists.map((lines) =>
    Uint32Array.from(lines, (text) => {
      const id = known.get(text) ?? known.size;
      known.set(text, id);
      return id;
    }),
  );
}

function searched({ before, after }: Gap): LineEdit[] | undefined {
  const found = diffArrays([...before], [...after], { maxEditLength: planLimits.diff_gap_edits });
  return found?.map(({ added, removed, value }) => ({
    mark: added ? '+' : removed ? '-' : ' ',
    lines: value,
  }));
}

/** How many lines the two lists have in common, in whatever order: no sequence of edits keeps more. */
function sharedLines(before: readonly string[], after: readonly string[]): number {
  const left = new Map<string, number>();
  for (const text of before) left.set(text, (left.get(text) ?? 0) + 1);
  let shared = 0;
  for (const text of after) {
    const count = left.get(text) ?? 0;
    if (count === 0) continue;
    left.set(text, count - 1);
    shared += 1;
  }
  return shared;
}

type Pair = readonly [old_at: number, new_at: number];

/** Pairs of places, in order, of blocks that stand once in each list: the longest such row that keeps both orders. */
function anchorsOf(before: readonly string[], after: readonly string[], lines: number): Pair[] {
  const new_places = placesOf(after, lines);
  const pairs = [...placesOf(before, lines)].flatMap(([text, old_at]): Pair[] => {
    const new_at = new_places.get(text);
    return old_at === TWICE || new_at === undefined || new_at === TWICE ? [] : [[old_at, new_at]];
  });
  return longestRow(pairs.sort(([a], [b]) => a - b));
}

const TWICE = -1;

/** Lines end with a line feed, so that a block is the text of no other block. */
function placesOf(all: readonly string[], lines: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let at = 0; at + lines <= all.length; at++) {
    const text = lines === 1 ? all[at]! : all.slice(at, at + lines).join('');
    places.set(text, places.has(text) ? TWICE : at);
  }
  return places;
}

/** Patience sorting: the longest subsequence whose second places grow, too. */
function longestRow(pairs: readonly Pair[]): Pair[] {
  const tops: number[] = [];
  const previous: number[] = [];
  for (const [i, [, at]] of pairs.entries()) {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tops[middle]!]![1] < at) low = middle + 1;
      else high = middle;
    }
    previous[i] = low === 0 ? -1 : tops[low - 1]!;
    tops[low] = i;
  }
  const row: Pair[] = [];
  for (let i = tops.at(-1) ?? -1; i >= 0; i = previous[i]!) row.push(pairs[i]!);
  return row.reverse();
}
