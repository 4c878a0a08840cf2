import { visible } from '../canonical/visible.ts';
import type { Hunk } from '../plan/report/hunk.ts';

/**
 * Whether these parts, as they are drawn, are the difference of two texts: every line in them is the line of its text, and outside of
 * them the two are the same. Who draws a diff that a service made asks this before anything is signed.
 */
export function isDiffOf(before: string | null, after: string | null, hunks: readonly Hunk[]): boolean {
  const [old, now] = [linesOf(before), linesOf(after)];
  let [i, j] = [0, 0];
  const sameUntil = (end: number) => {
    while (i < end && old[i] === now[j] && i < old.length) [i, j] = [i + 1, j + 1];
    return i === end;
  };
  for (const { old_start, new_start, lines } of hunks) {
    if (old_start - 1 < i || !sameUntil(old_start - 1) || j !== new_start - 1) return false;
    for (let at = 0; at < lines.length; at++) {
      const mark = lines[at]![0];
      if (mark !== ' ' && mark !== '-' && mark !== '+') return false;
      const text = mark === '+' ? now[j] : old[i];
      if (text === undefined || (mark === ' ' && text !== now[j])) return false;
      if (visible(mark + text.replace(/\n$/, '')) !== lines[at]) return false;
      // A last line without a line feed says so.
      if (!text.endsWith('\n') && !lines[++at]?.startsWith('\\')) return false;
      if (mark !== '+') i++;
      if (mark !== '-') j++;
    }
  }
  return sameUntil(old.length) && j === now.length;
}

function linesOf(text: string | null): readonly string[] {
  return text === null || text === '' ? [] : text.split(/(?<=\n)/);
}
