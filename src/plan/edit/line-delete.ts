import { refuse } from '../../refusal.ts';
import { endingBefore, lineEnd, linesOf } from './line.ts';
import type { LineDelete } from './operation.ts';
import type { Edit } from './splice.ts';

/** Deletes whole lines. A file without a final newline stays without one. */
export function deleteLines(text: string, { start_line, end_line }: LineDelete): Edit {
  const lines = linesOf(text);
  if (end_line > lines.starts.length) {
    refuse('EDIT_LINE_OUT_OF_RANGE', `The file has ${lines.starts.length} lines.`, { start_line, end_line });
  }
  const first = lines.starts[start_line - 1]!;
  const end = lineEnd(lines, end_line - 1);
  // The last line had no ending of its own, so the line before gives up its own.
  const unended = endingBefore(text, end) === '';
  const start = unended ? first - endingBefore(text, first).length : first;
  return { splices: [{ start, end, text: '' }], output: report(start_line, end_line) };
}

function report(start: number, end: number): string {
  return start === end
    ? `Line ${start} deleted successfully`
    : `Lines ${start} to ${end} deleted successfully`;
}
