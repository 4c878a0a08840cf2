import type { Paint } from './paint.ts';

/** A piece of a value, with the style it is painted in. */
export type Span = string | readonly [style: Parameters<Paint>[0], text: string];
export type Field = readonly [name: string, value: string | readonly Span[]];

export interface Drawing {
  readonly paint: Paint;
  readonly columns: number;
}

/** Where the width is not known: few terminals are much narrower, and a pager wraps what is wider. */
export const COLUMNS = 100;

/** What has to fit into a line of standard output. Undefined where there is no terminal. */
export function stdoutColumns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || COLUMNS : undefined;
}

/**
 * `name: value` lines for a person who decides. An attacker who chose a value may hope that a long one wraps at the edge of the
 * terminal and goes on as if it were the next field: so no value ever reaches the first column. None is cut.
 */
export function fieldLines(
  pairs: readonly Field[],
  drawing: Drawing,
  indent = '',
  width = fieldWidth(pairs, indent),
): string[] {
  return pairs.flatMap(([name, value]) => {
    const spans = typeof value === 'string' ? [value] : value;
    const head = `${indent}${name}:`.padEnd(width);
    return folded(`${head}${rendered(spans, drawing)}`, drawing.columns, width);
  });
}

/** Where the values of these fields begin. */
export function fieldWidth(pairs: readonly Field[], indent = ''): number {
  return indent.length + Math.max(0, ...pairs.map(([name]) => name.length)) + 2;
}

function rendered(spans: readonly Span[], { paint }: Drawing): string {
  return spans
    .map((span) => {
      const [style, text] = typeof span === 'string' ? [null, span] : span;
      const shown = spacesCounted(text);
      return style === null || shown === '' ? shown : paint(style, shown);
    })
    .join('');
}

/** With blanks a value could push text off the screen, or to where a field begins. */
function spacesCounted(text: string): string {
  return text.replaceAll('\t', '\\x09').replace(/ {3,}/g, (run) => `[␠×${run.length}]`);
}

/**
 * One line as several, none wider than the terminal, each but the first behind a mark of its own in the margin: where a
 * long line of a diff goes on, it must not look like the next line of the file. Behind a space where there is one; only a word that
 * no row has room for is cut. All characters are kept, but for spaces at the very end that have no room.
 */
export function folded(line: string, columns: number, hang = 2): string[] {
  const left = Math.max(2, Math.min(hang, Math.floor(columns / 2)));
  const width = Math.max(columns - 1, left + 2);
  const margin = `${' '.repeat(left - 2)}${MARK}`;
  const rows: string[] = [''];
  let used = 0;
  let is_empty = false;
  const begin = () => {
    rows.push(margin);
    used = left;
    is_empty = true;
  };
  for (const [word] of line.matchAll(WORD)) {
    const tokens = word.match(TOKEN) ?? [];
    const needed = tokens.reduce((sum, token) => sum + widthOf(token), 0);
    // A space may take the last column: at the start of a row it would leave too little room for a word that just fits.
    const room = word === ' ' ? width + 1 : width;
    if (!is_empty && used > left && used + needed > room && left + needed <= width) begin();
    for (const token of tokens) {
      const taken = widthOf(token);
      if (taken > 0 && used + taken > room) begin();
      rows[rows.length - 1] += token;
      used += taken;
      if (taken > 0 && token !== ' ') is_empty = false;
    }
  }
  if (!is_empty) return rows;
  const colours = rows.pop()!.match(COLOUR) ?? [];
  rows[rows.length - 1] += colours.join('');
  return rows;
}

/** A line for a terminal. What fits is left as it is: it was folded before, or is a row of a table. */
export function fitted(line: string, columns: number): string[] {
  // Where a table cuts a cell, it counts its mark as one column.
  const shown = line.replace(COLOUR, '').replaceAll('…', '.');
  return textWidth(shown) <= columns ? [line] : folded(line, columns);
}

/** The same for several lines, where they are shown on a terminal. */
export function foldedOn(stream: NodeJS.WriteStream, lines: readonly string[]): string[] {
  if (!stream.isTTY) return [...lines];
  return lines.flatMap((line) => fitted(line, stream.columns || COLUMNS));
}

/** It stands where a row goes on. Each terminal shows it in one column. */
const MARK = '↪ ';
const COLOUR = /\x1b\[[0-9;]*m/g;
const WORD = / |[^ ]+/g;
// A colour of ours, which takes no room, or one character.
const TOKEN = /\x1b\[[0-9;]*m|[\s\S]/gu;

/** Never too little: a line that is folded early does no harm. */
export function widthOf(token: string): number {
  if (token.startsWith('\x1b')) return 0;
  if (token === '\t') return 8;
  return token === MARK[0] || (token.codePointAt(0) as number) < 0x1100 ? 1 : 2;
}

export function textWidth(text: string): number {
  return [...text].reduce((sum, one) => sum + widthOf(one), 0);
}

/** As wide as the column: padded, or cut with a mark. */
export function inColumn(text: string, width: number): string {
  const taken = textWidth(text);
  if (taken <= width) return text + ' '.repeat(width - taken);
  let used = 0;
  const kept = [...text].filter((one) => {
    used += widthOf(one);
    return used < width;
  });
  return `${kept.join('')}…`.padEnd(width);
}
