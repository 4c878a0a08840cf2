import { folded, inColumn, stdoutColumns, textWidth } from './fold.ts';

export interface TableShape {
  /** Undefined where nothing has to fit: there is no terminal. */
  readonly columns?: number | undefined;
  /** The last column is prose, and is cut where it does not fit. */
  readonly prose?: boolean;
}

/** What is left of prose where it is cut; with less room it has a line of its own. */
const LEAST_PROSE = 20;
const INDENT = '  ';

/** Columns of equal width. Those that do not fit the terminal go on in further lines, beneath the first ones. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns = stdoutColumns(), prose = false }: TableShape = {},
): string[] {
  const widths = headings.map((heading, i) =>
    Math.max(textWidth(heading), ...rows.map((row) => textWidth(row[i] ?? ''))),
  );
  if (columns === undefined) return [headings, ...rows].map((row) => lineOf(row, widths));
  if (prose) widths.push(Math.min(widths.pop()!, proseRoom(widths, columns)));
  const groups = grouped(widths, columns);
  return [headings, ...rows].flatMap((row) =>
    groups.flatMap(([from, to], i) => {
      const line = lineOf(row.slice(from, to), widths.slice(from, to));
      return line === '' && i > 0 ? [] : folded(`${i > 0 ? INDENT : ''}${line}`, columns, 4);
    }),
  );
}

function lineOf(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, i) => inColumn(cell, widths[i]!))
    .join('  ')
    .trimEnd();
}

/** The mark where it is cut can be two columns wide. */
function proseRoom(before: readonly number[], columns: number): number {
  const room = columns - 2 - before.reduce((total, width) => total + width + 2, 0);
  return room >= LEAST_PROSE ? room : Math.max(LEAST_PROSE, columns - 2 - INDENT.length);
}

/** Which columns share a line, as [first, beyond the last]. */
function grouped(widths: readonly number[], columns: number): [number, number][] {
  const groups: [number, number][] = [];
  let used = columns;
  widths.forEach((width, i) => {
    if (used + width > columns - 1) {
      groups.push([i, i]);
      used = groups.length > 1 ? INDENT.length : 0;
    }
    groups.at(-1)![1] = i + 1;
    used += width + 2;
  });
  return groups;
}

/** `name: value` lines, the values in one column. A command to copy is not folded. */
export function fields(
  pairs: readonly (readonly [name: string, value: string])[],
  columns = stdoutColumns(),
): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length)) + 2;
  return pairs.flatMap(([name, value]) => {
    const line = `${`${name}:`.padEnd(width)}${value}`;
    const is_whole = columns === undefined || !value.includes(' ') || value.startsWith('keyturn ');
    return is_whole ? [line] : folded(line, columns, width);
  });
}
