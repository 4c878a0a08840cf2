/** Columns of equal width. On a terminal the last column gives way, so that no row takes two lines. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined = process.stdout.isTTY ? process.stdout.columns : undefined,
): string[] {
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  return [headings, ...rows].map((row) =>
    within(row.map((cell, i) => cell.padEnd(widths[i]!)).join('  '), columns),
  );
}

function within(line: string, columns: number | undefined): string {
  const text = line.trimEnd();
  if (columns === undefined || columns < 20 || text.length <= columns) return text;
  return `${text.slice(0, columns - 1)}…`;
}

/** `name: value` lines, the values in one column. */
export function fields(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length)) + 2;
  return pairs.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`);
}
