/** How many letters may be wrong, and how long a word is that is still compared: the effort grows with its square. */
const MOST_EDITS = 2;
const LONGEST = 64;

/** ` Did you mean "…"?`, where a known name is spelled nearly like the one that was given; otherwise nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  if (given.length > LONGEST) return '';
  let best: string[] = [];
  let least = MOST_EDITS;
  for (const name of known) {
    const edits = editsBetween(given.toLowerCase(), name.toLowerCase());
    // Where half of it is wrong, it is another word.
    if (edits > least || edits * 2 >= Math.max(given.length, name.length)) continue;
    best = edits < least ? [name] : [...best, name];
    least = edits;
  }
  return best.length === 0 ? '' : ` Did you mean ${best.map((name) => `"${name}"`).join(' or ')}?`;
}

/** Letters to add, remove, replace or swap with the next one. */
function editsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MOST_EDITS) return MOST_EDITS + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next[j] = Math.min(
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + (same ? 0 : 1),
        swapped ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
