import { planLimits } from '../../limits.ts';

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

const LINE_CHARS = 100;

/** In lines of usual length. */
export function weightOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + heft(line), 0);
}

function heft(line: string | undefined): number {
  return line === undefined ? 0 : Math.max(1, line.length / LINE_CHARS);
}

/**
 * A long hunk as several that follow each other, each a hunk of its own. Where many lines are replaced, each has some of the old lines
 * and the new ones that stand in their place.
 */
export function slicesOf(hunk: Hunk, most: number = planLimits.slice_lines): Hunk[] {
  if (weightOf(hunk.lines) <= most) return [hunk];
  if (hunk.old_lines === 0 || hunk.new_lines === 0) return oneSided(hunk, most);
  const slices: Hunk[] = [];
  let [old_start, new_start] = [hunk.old_start, hunk.new_start];
  let lines: string[] = [];
  let goes: string[] = [];
  let comes: string[] = [];
  let weight = 0;
  const close = () => {
    const all = [...lines, ...goes, ...comes].flatMap((line) => line.split('\n'));
    const [old_lines, new_lines] = [counted(all, '+'), counted(all, '-')];
    if (all.length > 0) slices.push({ old_start, old_lines, new_start, new_lines, lines: all });
    [old_start, new_start] = [old_start + old_lines, new_start + new_lines];
    [lines, goes, comes, weight] = [[], [], [], 0];
  };
  for (const { old, now } of runsOf(hunk.lines)) {
    for (let i = 0; i < Math.max(old.length, now.length); i++) {
      const before = old[i];
      const after = now[i];
      const more = heft(before) + heft(after);
      if (weight + more > most) close();
      weight += more;
      if (before !== undefined) goes.push(before);
      if (after !== undefined) comes.push(after);
    }
    lines = [...lines, ...goes, ...comes];
    [goes, comes] = [[], []];
  }
  close();
  return slices;
}

/** A file that comes or goes: most of what is large is one of these, and nothing has to be paired. */
function oneSided({ old_start, old_lines, new_start, lines }: Hunk, most: number): Hunk[] {
  const slices: Hunk[] = [];
  const is_old = old_lines > 0;
  let [from, weight] = [0, 0];
  const close = (to: number) => {
    const some = lines.slice(from, to);
    const count = some.at(-1)?.startsWith('\\') ? some.length - 1 : some.length;
    const place = is_old
      ? { old_start: old_start + from, old_lines: count, new_start, new_lines: 0 }
      : { old_start, old_lines: 0, new_start: new_start + from, new_lines: count };
    slices.push({ ...place, lines: some });
    [from, weight] = [to, 0];
  };
  for (let i = 0; i < lines.length; i++) {
    const more = heft(lines[i]);
    if (weight > 0 && weight + more > most && !lines[i]!.startsWith('\\')) close(i);
    weight += more;
  }
  close(lines.length);
  return slices;
}

/** Lines in their order: such as stay by themselves (as `old`), then what goes with what comes in its place. A `\` stays with its line. */
function* runsOf(lines: readonly string[]): Generator<{ readonly old: string[]; readonly now: string[] }> {
  let at = 0;
  const take = (mark: string) => {
    const taken: string[] = [];
    for (; lines[at]?.startsWith(mark); at++) {
      const is_last = lines[at + 1]?.startsWith('\\');
      taken.push(is_last ? `${lines[at]}\n${lines[++at]}` : lines[at]!);
    }
    return taken;
  };
  while (at < lines.length) {
    const same = take(' ');
    if (same.length > 0) yield { old: same, now: [] };
    const [old, now] = [take('-'), take('+')];
    if (old.length + now.length > 0) yield { old, now };
    else if (same.length === 0) yield { old: [lines[at++]!], now: [] };
  }
}

/** How many of the lines are on one side, which those with the mark of the other side are not. */
function counted(lines: readonly string[], other: string): number {
  return lines.filter((line) => line[0] !== other && line[0] !== '\\').length;
}
