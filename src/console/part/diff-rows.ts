import type { ShownHunk } from '../../display/shown.ts';
import { planLimits } from '../../limits.ts';

/** One line of a diff, on one side or on both. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+' | '\\';
  readonly old_no: number | null;
  readonly new_no: number | null;
  readonly text: string;
  /** The line that it stands against, where a line was changed. */
  readonly other?: string;
}

export type DiffRow =
  | { readonly hunk: string }
  | { readonly old: DiffLine | null; readonly now: DiffLine | null };

/** Lines in pairs: what was removed beside what was added in its place. What follows directly on the hunk before has no head. */
export function diffRows(hunks: readonly ShownHunk[], before?: ShownHunk): DiffRow[] {
  return hunks.flatMap((hunk, i) => {
    const { old_start, old_lines, new_start, new_lines, lines } = hunk;
    const rows: DiffRow[] = follows(hunk, i === 0 ? before : hunks[i - 1])
      ? []
      : [{ hunk: hunkWords(old_start, old_lines, new_start, new_lines) }];
    let [old_no, new_no] = [old_start, new_start];
    let removed: DiffLine[] = [];
    let added: DiffLine[] = [];
    const flush = () => {
      for (let i = 0; i < Math.max(removed.length, added.length); i++) {
        const [old, now] = [removed[i] ?? null, added[i] ?? null];
        rows.push({
          old: old && now ? { ...old, other: now.text } : old,
          now: now && old ? { ...now, other: old.text } : now,
        });
      }
      [removed, added] = [[], []];
    };
    for (const line of lines) {
      const [sign, text] = [line[0] as DiffLine['sign'], line.slice(1)];
      if (sign === '-') removed.push({ sign, text, old_no: old_no++, new_no: null });
      else if (sign === '+') added.push({ sign, text, old_no: null, new_no: new_no++ });
      else {
        flush();
        const same =
          sign === '\\'
            ? { sign, text, old_no: null, new_no: null }
            : { sign, text, old_no: old_no++, new_no: new_no++ };
        rows.push({ old: same, now: same });
      }
    }
    flush();
    return rows;
  });
}

function follows({ old_start, new_start }: ShownHunk, before: ShownHunk | undefined): boolean {
  return (
    before !== undefined &&
    before.old_start + before.old_lines === old_start &&
    before.new_start + before.new_lines === new_start
  );
}

function hunkWords(old_start: number, old_lines: number, new_start: number, new_lines: number): string {
  const range = (start: number, count: number) =>
    count <= 1 ? `${start}` : `${start} to ${start + count - 1}`;
  if (old_lines === 0) return `New lines ${range(new_start, new_lines)}`;
  if (new_lines === 0) return `Lines ${range(old_start, old_lines)}, removed`;
  const [a, b] = [range(old_start, old_lines), range(new_start, new_lines)];
  return a === b ? `Lines ${a}` : `Lines ${a}, new ${b}`;
}

/** So many rows are drawn at once. */
const CHUNK = 60;

/** Rows that are here; or hunks of which the lines are read when they come near. */
export type DiffPart =
  | { readonly rows: readonly DiffRow[] }
  | { readonly from: number; readonly apart: readonly ShownHunk[]; readonly before: ShownHunk | undefined };

export function diffParts(hunks: readonly ShownHunk[]): DiffPart[] {
  const parts: DiffPart[] = [];
  for (let at = 0; at < hunks.length; ) {
    const from = at;
    const is_apart = hunks[at]!.apart !== undefined;
    for (let lines = 0; at < hunks.length && (hunks[at]!.apart !== undefined) === is_apart; at++) {
      lines += hunks[at]!.apart ?? 0;
      if (lines > planLimits.slice_lines && at > from) break;
    }
    const some = hunks.slice(from, at);
    if (is_apart) parts.push({ from, apart: some, before: hunks[from - 1] });
    else {
      const rows = diffRows(some, hunks[from - 1]);
      for (let i = 0; i < rows.length; i += CHUNK) parts.push({ rows: rows.slice(i, i + CHUNK) });
    }
  }
  return parts;
}

/** How many rows a part has, as far as that is known before its lines are. */
export function heightOf(part: DiffPart, wide: boolean): number {
  if ('rows' in part) return part.rows.length;
  const rows = ({ apart = 0, old_lines, new_lines }: ShownHunk) =>
    wide ? Math.max(old_lines, new_lines) : apart;
  return part.apart.reduce((sum, hunk) => sum + rows(hunk), 0);
}
