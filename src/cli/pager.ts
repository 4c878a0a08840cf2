import { Refusal, refuse } from '../refusal.ts';
import { fitted } from './fold.ts';
import { atTerminal, hasTerminal, type Terminal } from './terminal.ts';
import { isControllingTerminal } from './tty.ts';

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
      const typed = await askPage(terminal, `${lines.length - at} of ${lines.length} lines to come`, abort);
      if (typed === 'q') refuse('SHOWN_IN_PART');
      if (typed === 'a') step = lines.length;
    }
    terminal.write(
      lines
        .slice(at, at + step)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
}

/** Anything else is asked again: a `y` or a passphrase that was typed too early must not end up in the shell. */
async function askPage(terminal: Terminal, left: string, abort?: AbortSignal): Promise<string> {
  for (;;) {
    const typed = await terminal.ask(`-- ${left}. Enter: next page, a: all of them, q: stop -- `, abort);
    if (['', 'a', 'q'].includes(typed)) return typed;
  }
}

/**
 * An answer that is only read, page by page where the terminal shows it. A person who stops has read enough. False where standard
 * output is no terminal of this person: then it is printed whole.
 */
export async function pageThrough(lines: readonly string[]): Promise<boolean> {
  if (!isControllingTerminal(1) || !hasTerminal()) return false;
  try {
    await atTerminal((terminal) =>
      showAll(
        terminal,
        lines.flatMap((line) => fitted(line, terminal.columns)),
      ),
    );
  } catch (error) {
    if (
      !(error instanceof Refusal) ||
      (error.code !== 'SHOWN_IN_PART' && error.code !== 'CONFIRMATION_DECLINED')
    )
      throw error;
  }
  return true;
}
