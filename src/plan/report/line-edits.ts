import { diffArrays } from 'diff';

/** A run of lines that stay, go or come. In a run of changes what goes stands before what comes. */
export interface Edit {
  readonly mark: ' ' | '-' | '+';
  readonly lines: readonly string[];
}

/**
 * How one list of lines becomes the other. Lines that each list has once are anchors; only between them is searched, and
 * not for long. So the time grows with the number of lines, and the same two lists always give the same edits.
 */
export function lineEdits(before: readonly string[], after: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let [from, to] = [0, 0];
  for (const [old_at, new_at] of [...anchorsOf(before, after), [before.length, after.length] as const]) {
    edits.push(...gapEdits(before.slice(from, old_at), after.slice(to, new_at)));
    if (old_at < before.length) edits.push({ mark: ' ', lines: [before[old_at]!] });
    [from, to] = [old_at + 1, new_at + 1];
  }
  return edits;
}

/** How many edits are searched for between two anchors; where there are more, the whole place is replaced. */
const GAP_EDITS = 200;

function gapEdits(before: string[], after: string[]): Edit[] {
  if (before.length === 0 && after.length === 0) return [];
  const found = diffArrays(before, after, { maxEditLength: GAP_EDITS });
  if (!found)
    return [
      { mark: '-', lines: before },
      { mark: '+', lines: after },
    ];
  return found.map(({ added, removed, value }) => ({
    mark: added ? '+' : removed ? '-' : ' ',
    lines: value,
  }));
}

type Place = readonly [old_at: number, new_at: number];

/** Pairs of places, in order, of lines that stand once in each list: the longest such row that keeps both orders. */
function anchorsOf(before: readonly string[], after: readonly string[]): Place[] {
  const new_places = placesOf(after);
  const pairs = [...placesOf(before)].flatMap(([text, old_at]): Place[] => {
    const new_at = new_places.get(text);
    return old_at === TWICE || new_at === undefined || new_at === TWICE ? [] : [[old_at, new_at]];
  });
  return longestRow(pairs.sort(([a], [b]) => a - b));
}

const TWICE = -1;

function placesOf(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [at, text] of lines.entries()) places.set(text, places.has(text) ? TWICE : at);
  return places;
}

/** Patience sorting: the longest subsequence whose second places grow, too. */
function longestRow(pairs: readonly Place[]): Place[] {
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
  const row: Place[] = [];
  for (let i = tops.at(-1) ?? -1; i >= 0; i = previous[i]!) row.push(pairs[i]!);
  return row.reverse();
}
