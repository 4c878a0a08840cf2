/** The lines of a text. A line ends with LF or CRLF; a lone CR is an ordinary character. */
export interface LineTable {
  /** Where each line starts. */
  readonly starts: readonly number[];
  readonly length: number;
}

export function linesOf(text: string): LineTable {
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const newline = text.indexOf('\n', at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return { starts, length: text.length };
}

/** Where a line (from 0) ends, its ending included. */
export function lineEnd(lines: LineTable, index: number): number {
  return lines.starts[index + 1] ?? lines.length;
}

/** The ending of the line that ends here; nothing when the text does. */
export function endingBefore(text: string, end: number): string {
  if (text[end - 1] !== '\n') return '';
  return text[end - 2] === '\r' ? '\r\n' : '\n';
}

/** The line ending nearest to a place: that of the line before it, else of its own line, else LF. */
export function endingNear(text: string, at: number): string {
  const before = text.lastIndexOf('\n', at - 1);
  if (at > 0 && before >= 0) return endingBefore(text, before + 1);
  const after = text.indexOf('\n', at);
  return after >= 0 ? endingBefore(text, after + 1) : '\n';
}

/** Where the text between two places ends without its blanks. Only these four: a line separator is text. */
export function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && ' \t\r\n'.includes(text.charAt(at - 1))) at -= 1;
  return at;
}
