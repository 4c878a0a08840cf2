import { fitted } from './fold.ts';
import { showAll } from './pager.ts';
import { say } from './say.ts';
import type { Terminal } from './terminal.ts';

export interface Presenting {
  readonly json: boolean;
  /** For the terminal alone: it does not go to standard output. */
  readonly more?: readonly string[];
  readonly abort?: AbortSignal;
}

/**
 * Shows what a question is about. Its lines go to standard output, where a script reads them, and always to the terminal
 * of the human who will answer: standard output may be a file, or another terminal.
 */
export async function present(
  terminal: Terminal,
  lines: readonly string[],
  { json, more = [], abort }: Presenting,
): Promise<void> {
  const shown = lines.flatMap((line) => fitted(line, terminal.columns));
  const there = !json && terminal.shows_stdout;
  if (!json) say(1, there ? shown : lines);
  await showAll(terminal, [...(there ? [] : shown), ...more], abort);
}
