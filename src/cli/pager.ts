import { refuse } from '../refusal.ts';
import type { Terminal } from './terminal.ts';

/** Room for the question, and for its answer. */
const QUESTION_ROWS = 2;
const ROWS_MIN = 8;

/**
 * Shows everything that a question is about, page by page where it does not fit. A person who stops half way is not asked:
 * a yes would cover what they did not see.
 */
export async function showAll(
  terminal: Terminal,
  lines: readonly string[],
  abort?: AbortSignal,
): Promise<void> {
  const rows = Math.max(terminal.rows - QUESTION_ROWS, ROWS_MIN);
  if (lines.length > rows) terminal.write(`${lines.length} lines, in pages of ${rows}.\n`);
  let at = 0;
  for (let step = rows; at < lines.length; at += step) {
    if (at > 0 && step === rows) {
      const typed = await terminal.ask(
        `-- ${lines.length - at} of ${lines.length} lines to come. Enter: next page, a: all of them, q: stop -- `,
        abort,
      );
      if (typed === 'a') step = lines.length;
      else if (typed !== '') refuse('SHOWN_IN_PART');
    }
    terminal.write(
      lines
        .slice(at, at + step)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
}
