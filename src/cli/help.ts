import { buildProgram } from './program.ts';

const COLUMNS = 80;

/** What `keyturn --help` prints. A build has this text in the place of this file, so that to print it loads nothing. */
export function helpText(): string {
  const written: string[] = [];
  buildProgram(async () => {})
    .configureOutput({ writeOut: (text) => void written.push(text), getOutHelpWidth: () => COLUMNS })
    .outputHelp();
  return written.join('').trimEnd();
}
