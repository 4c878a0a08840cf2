export interface Hunk {
  readonly old_start: number;
  readonly old_lines: number;
  readonly new_start: number;
  readonly new_lines: number;
  /** Each begins with a space, `-`, `+` or `\`. */
  readonly lines: readonly string[];
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
