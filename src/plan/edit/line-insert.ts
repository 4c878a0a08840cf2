import { refuse } from '../../refusal.ts';
import { endingBefore, endingNear, linesOf } from './line.ts';
import type { LineInsert } from './operation.ts';
import type { Edit } from './splice.ts';

/**
 * New lines before a line, or after the last. They take the line ending of the line beside them, and a file without a
 * final newline stays without one.
 */
export function insertLines(text: string, { line_number, content }: LineInsert): Edit {
  const { starts } = linesOf(text);
  if (line_number > starts.length + 1) {
    refuse('EDIT_LINE_OUT_OF_RANGE', `The file has ${starts.length} lines.`, { line_number });
  }
  const at = starts[line_number - 1] ?? text.length;
  const ending = endingNear(text, at);
  const added = newLines(content);
  const unended = at > 0 && endingBefore(text, at) === '';
  if (unended && added.at(-1) === '')
    refuse('EDIT_TARGET_UNFIT', 'A file without a final newline cannot end with an empty line.');
  const inserted = unended ? ending + added.join(ending) : added.map((line) => line + ending).join('');
  return { splices: [{ start: at, end: at, text: inserted }], output: report(added.length, line_number) };
}

/** A newline at the end of the content ends its last line and begins no other. */
function newLines(content: string): string[] {
  return content.replace(/\r?\n$/, '').split(/\r?\n/);
}

function report(count: number, line: number): string {
  return `${count} ${count === 1 ? 'line' : 'lines'} inserted at line ${line} successfully`;
}
