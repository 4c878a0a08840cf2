import type { Paint } from './paint.ts';

/** A piece of a value, with the style it is painted in. */
export type Span = string | readonly [style: Parameters<Paint>[0], text: string];
export type Field = readonly [name: string, value: string | readonly Span[]];

export interface Sheet {
  readonly paint: Paint;
  readonly columns: number;
  /** How to see what was cut off. */
  readonly whole: string;
}

/** Where the width is not known: nobody's terminal is narrower by much, and a pager wraps what is wider. */
export const COLUMNS = 100;

const VALUE_CHARS = 2000;

/**
 * `name: value` lines for a person who decides. Whoever chose a value may hope that a long one wraps at the edge of the
 * terminal and goes on as if it were the next field: so no value ever reaches the first column. What is cut off is
 * said loudly.
 */
export function fieldLines(pairs: readonly Field[], sheet: Sheet, indent = ''): string[] {
  const width = indent.length + Math.max(0, ...pairs.map(([name]) => name.length)) + 2;
  return pairs.flatMap(([name, value]) => {
    const spans = typeof value === 'string' ? [value] : value;
    const head = `${indent}${name}:`.padEnd(width);
    return folded(`${head}${rendered(spans, sheet)}`, sheet.columns, width);
  });
}

function rendered(spans: readonly Span[], { paint, whole }: Sheet): string {
  let left = VALUE_CHARS;
  let cut = 0;
  const parts = spans.map((span) => {
    const [style, text] = typeof span === 'string' ? [null, span] : span;
    const characters = [...text];
    const shown = spacesCounted(characters.slice(0, left).join(''));
    cut += Math.max(0, characters.length - left);
    left = Math.max(0, left - characters.length);
    return style === null || shown === '' ? shown : paint(style, shown);
  });
  const more = cut === 0 ? '' : paint('alarm', `… ${cut} more characters; ${whole}`);
  return `${parts.join('')}${more}`;
}

/** Blanks are how a value would push something out of sight, or to where a field begins. */
function spacesCounted(text: string): string {
  return text.replaceAll('\t', '\\x09').replace(/ {3,}/g, (run) => `[␠×${run.length}]`);
}

/** One line as several, none wider than the terminal, each but the first behind a mark in the margin. */
export function folded(line: string, columns: number, hang = 2): string[] {
  const margin = `${' '.repeat(hang - 2)}│ `;
  const width = Math.max(columns - 1, hang + 8);
  const rows: string[] = [''];
  let used = 0;
  for (const token of line.match(TOKEN) ?? []) {
    const taken = widthOf(token);
    if (used + taken > width) {
      rows.push(margin);
      used = hang;
    }
    rows[rows.length - 1] += token;
    used += taken;
  }
  return rows;
}

// A colour of ours, which takes no room, or one character.
const TOKEN = /\x1b\[[0-9;]*m|[\s\S]/gu;

/** Never too little: a line that is folded early harms nobody. */
function widthOf(token: string): number {
  if (token.startsWith('\x1b')) return 0;
  if (token === '\t') return 8;
  return (token.codePointAt(0) as number) < 0x1100 ? 1 : 2;
}
