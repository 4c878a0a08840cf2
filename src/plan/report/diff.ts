import { isUtf8 } from 'node:buffer';
import { structuredPatch } from 'diff';
import { equalHead, equalTail, NEWLINE, newlinesIn } from '../input/equal-ends.ts';

/** The difference between two contents, as lines. Pure, but for the clock that stops it. */
export type Diff =
  | { readonly kind: 'binary' }
  | {
      readonly kind: 'text';
      readonly lines_added: number;
      readonly lines_removed: number;
      /** null where it would have taken too long; the counts are then those of the whole place that changed. */
      readonly hunks: readonly Hunk[] | null;
    };

export interface Hunk {
  readonly old_start: number;
  readonly old_lines: number;
  readonly new_start: number;
  readonly new_lines: number;
  /** Each begins with a space, `-`, `+` or `\`. */
  readonly lines: readonly string[];
}

export interface DiffOptions {
  readonly timeout_ms?: number;
}

const CONTEXT_LINES = 3;
const TIMEOUT_MS = 1000;
/** What a person could look at. Beyond, only the counts are told. */
const WINDOW_CHARS = 2 * 1024 * 1024;

export function diffOf(before: Uint8Array | null, after: Uint8Array | null, options: DiffOptions = {}): Diff {
  const from = before ?? NOTHING;
  const to = after ?? NOTHING;
  return isText(from) && isText(to) ? diffText(from, to, options) : { kind: 'binary' };
}

const NOTHING = new Uint8Array();

function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

function diffText(from: Uint8Array, to: Uint8Array, { timeout_ms = TIMEOUT_MS }: DiffOptions): Diff {
  const { start, from_end, to_end } = windowOf(from, to);
  const old_part = textOf(from.subarray(start, from_end));
  const new_part = textOf(to.subarray(start, to_end));
  const small = old_part.length + new_part.length <= WINDOW_CHARS;
  const options = { context: CONTEXT_LINES, timeout: timeout_ms };
  // It gives nothing back when the time is up.
  const patch = small
    ? structuredPatch('', '', old_part, new_part, undefined, undefined, options)
    : undefined;
  if (patch === undefined)
    return {
      kind: 'text',
      lines_added: countLines(new_part),
      lines_removed: countLines(old_part),
      hunks: null,
    };
  const skipped = newlinesIn(from.subarray(0, start));
  const hunks = patch.hunks.map((hunk) => ({
    old_start: hunk.oldStart + skipped,
    old_lines: hunk.oldLines,
    new_start: hunk.newStart + skipped,
    new_lines: hunk.newLines,
    lines: hunk.lines,
  }));
  return { kind: 'text', lines_added: marked(hunks, '+'), lines_removed: marked(hunks, '-'), hunks };
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

function countLines(text: string): number {
  return newlinesIn(Buffer.from(text)) + (text === '' || text.endsWith('\n') ? 0 : 1);
}

function marked(hunks: readonly Hunk[], mark: string): number {
  return hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(mark)).length, 0);
}

/** The lines of a unified diff, without the two that name the file. */
export function hunkLines(hunks: readonly Hunk[]): string[] {
  return hunks.flatMap(({ old_start, old_lines, new_start, new_lines, lines }) => [
    `@@ -${range(old_start, old_lines)} +${range(new_start, new_lines)} @@`,
    ...lines,
  ]);
}

/** Of an empty range, unified diffs name the line before it. */
function range(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${lines === 0 ? start - 1 : start},${lines}`;
}
