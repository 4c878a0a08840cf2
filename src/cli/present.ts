import { folded } from './fold.ts';
import { say } from './say.ts';
import type { Terminal } from './terminal.ts';

/**
 * Shows what a question is about. Its lines go to standard output, where a script reads them, and always to the eyes
 * that will answer: standard output may be a file, or the terminal of somebody else.
 */
export function present(
  terminal: Terminal,
  lines: readonly string[],
  { json, more = [] }: { readonly json: boolean; readonly more?: readonly string[] },
): void {
  const shown = lines.flatMap((line) => folded(line, terminal.columns));
  const there = !json && terminal.shows_stdout;
  if (!json) say(1, there ? shown : lines);
  terminal.write([...(there ? [] : shown), ...more].map((line) => `${line}\n`).join(''));
}
