export interface Row {
  readonly figure: string;
  readonly measured: string;
  readonly asked: string;
  readonly verdict: 'ok' | 'MISSED';
  /** What it was measured against, in the same run. */
  readonly baseline: string;
}

const HEADINGS = {
  figure: 'figure',
  measured: 'measured',
  asked: 'asked for',
  verdict: '',
  baseline: 'baseline',
};
const COLUMNS = ['figure', 'measured', 'asked', 'verdict', 'baseline'] as const;

export function tableOf(rows: readonly Row[]): string {
  const all = [HEADINGS, ...rows];
  const widths = COLUMNS.map((column) => Math.max(...all.map((row) => row[column].length)));
  const lines = all.map((row) =>
    COLUMNS.map((column, i) => row[column].padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
