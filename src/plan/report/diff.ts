import { isUtf8 } from 'node:buffer';
import { planLimits } from '../../limits.ts';
import { equalHead, equalTail, NEWLINE, newlinesIn } from '../input/equal-ends.ts';
import type { Hunk } from './hunk.ts';
import { type LineEdit, lineEdits } from './line-edits.ts';

/** The difference between two contents, as lines. Pure: it depends on the two contents alone. */
export type Diff =
  | { readonly kind: 'binary' }
  | {
      readonly kind: 'text';
      readonly lines_added: number;
      readonly lines_removed: number;
      /** null where the place that changed is too large; the counts are then those of the whole place. */
      readonly hunks: readonly Hunk[] | null;
    };

const CONTEXT_LINES = 3;

export function diffOf(before: Uint8Array | null, after: Uint8Array | null): Diff {
  const from = before ?? NOTHING;
  const to = after ?? NOTHING;
  return isText(from) && isText(to) ? diffText(from, to) : { kind: 'binary' };
}

const NOTHING = new Uint8Array();

function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

function diffText(from: Uint8Array, to: Uint8Array): Diff {
  const { start, from_end, to_end } = windowOf(from, to);
  const old_part = from.subarray(start, from_end);
  const new_part = to.subarray(start, to_end);
  if (old_part.length + new_part.length > planLimits.diff_chars)
    return { kind: 'text', lines_added: linesIn(new_part), lines_removed: linesIn(old_part), hunks: null };
  const hunks =
    from.length === 0 || to.length === 0
      ? wholeHunk(from.length === 0 ? '+' : '-', textOf(from.length === 0 ? to : from))
      : hunksOf(lineEdits(linesOf(old_part), linesOf(new_part)), newlinesIn(from.subarray(0, start)));
  return { kind: 'text', lines_added: marked(hunks, '+'), lines_removed: marked(hunks, '-'), hunks };
}

/** A file that comes or goes: nothing has to be compared. */
function wholeHunk(mark: '+' | '-', text: string): Hunk[] {
  if (text === '') return [];
  const lines = text.split('\n').map((line) => mark + line);
  const count = text.endsWith('\n') ? lines.length - 1 : lines.length;
  if (count < lines.length) lines.pop();
  else lines.push(NO_NEWLINE);
  const [old_lines, new_lines] = mark === '+' ? [0, count] : [count, 0];
  return [{ old_start: 1, old_lines, new_start: 1, new_lines, lines }];
}

const NO_NEWLINE = '\\ No newline at end of file';

/** Each with its line feed, so that a last line without one is another line. */
function linesOf(bytes: Uint8Array): string[] {
  const lines = textOf(bytes).split(/(?<=\n)/);
  return lines[0] === '' ? [] : lines;
}

/** Groups edits with a few lines around them. `skipped` lines come before what was compared. */
function hunksOf(edits: readonly LineEdit[], skipped: number): Hunk[] {
  const rows = edits.flatMap(({ mark, lines }) => lines.map((text) => ({ mark, text })));
  const shown = rowsNear(rows.map(({ mark }) => mark !== ' '));
  const hunks: Hunk[] = [];
  let [old_at, new_at] = [skipped + 1, skipped + 1];
  let open: { -readonly [K in keyof Hunk]: Hunk[K] } & { lines: string[] } = emptyHunk(old_at, new_at);
  for (const [i, { mark, text }] of rows.entries()) {
    if (shown[i]) {
      if (!shown[i - 1]) {
        open = emptyHunk(old_at, new_at);
        hunks.push(open);
      }
      open.lines.push(...unified(mark, text));
      if (mark !== '+') open.old_lines += 1;
      if (mark !== '-') open.new_lines += 1;
    }
    if (mark !== '+') old_at += 1;
    if (mark !== '-') new_at += 1;
  }
  return hunks;
}

function emptyHunk(old_start: number, new_start: number) {
  return { old_start, old_lines: 0, new_start, new_lines: 0, lines: [] as string[] };
}

function unified(mark: string, text: string): string[] {
  return text.endsWith('\n') ? [`${mark}${text.slice(0, -1)}`] : [`${mark}${text}`, NO_NEWLINE];
}

/** Which rows are changed, or at most a few rows away from one that is. */
function rowsNear(changed: readonly boolean[]): boolean[] {
  const near = changed.map(() => false);
  for (const rows of [changed.keys(), [...changed.keys()].reverse()]) {
    let left = 0;
    for (const i of rows) {
      left = changed[i] ? CONTEXT_LINES + 1 : Math.max(0, left - 1);
      if (left > 0) near[i] = true;
    }
  }
  return near;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

/**
 * Only the lines that differ and a few around them: the library would look at all of a large file. Both ends stand at ends of lines, so
 * no character is cut.
 */
function windowOf(from: Uint8Array, to: Uint8Array): { start: number; from_end: number; to_end: number } {
  const same = equalHead(from, to);
  const tail = equalTail(from, to, Math.min(from.length, to.length) - same);
  const end = linesForward(from, from.length - tail, CONTEXT_LINES);
  // Both ends are in the equal tail, so the same number of bytes follows in each.
  return {
    start: linesBack(from, same, CONTEXT_LINES),
    from_end: end,
    to_end: to.length - (from.length - end),
  };
}

function linesBack(bytes: Uint8Array, at: number, lines: number): number {
  let start = at;
  for (let i = 0; i <= lines && start >= 0; i++)
    start = start === 0 ? -1 : bytes.lastIndexOf(NEWLINE, start - 1);
  return start + 1;
}

function linesForward(bytes: Uint8Array, at: number, lines: number): number {
  let end = at;
  for (let i = 0; i <= lines; i++) {
    const next = bytes.indexOf(NEWLINE, end);
    if (next < 0) return bytes.length;
    end = next + 1;
  }
  return end;
}

function linesIn(bytes: Uint8Array): number {
  return newlinesIn(bytes) + (bytes.length === 0 || bytes.at(-1) === NEWLINE ? 0 : 1);
}

function marked(hunks: readonly Hunk[], mark: string): number {
  return hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(mark)).length, 0);
}
