import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { scratch } from '../support/scratch.ts';

export interface Seen {
  /** What the person at the terminal saw. */
  readonly screen: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export interface Visit {
  readonly cwd?: string;
  /** Leaves standard output and standard error at the terminal, as for a person. */
  readonly everything?: boolean;
  /** Called with all that was shown so far; a string is typed, once for each prompt. */
  readonly type: (screen: string) => string | null | Promise<string | null>;
  /** Called with the process id of the command as soon as it runs. */
  readonly started?: (pid: number) => void;
}

export const ENTER = '\r';
export const END_OF_INPUT = '\x04';

/**
 * Runs a command at a real pseudo-terminal, with standard output and standard error in files and standard input closed
 * off: only the terminal itself can answer.
 */
export function atTerminal(program: string, words: readonly string[], visit: Visit): Promise<Seen> {
  const folder = scratch();
  // Descriptor 9 keeps the terminal open, which otherwise hangs up before a process has opened it by its name.
  const files = visit.everything ? '' : `>'${folder}/out' 2>'${folder}/err'`;
  const script = `exec "$0" "$@" 9<>/dev/tty ${files} </dev/null`;
  const terminal = spawn('/bin/sh', ['-c', script, process.execPath, program, ...words], {
    cols: 500,
    rows: 100,
    cwd: visit.cwd ?? folder,
    env: { ...process.env, TERM: 'dumb' } as Record<string, string>,
  });
  visit.started?.(terminal.pid);
  let screen = '';
  let prompts = 0;
  terminal.onData(async (data) => {
    screen += data;
    const asked = screen.match(PROMPT)?.length ?? 0;
    if (asked <= prompts) return;
    prompts = asked;
    const typed = await visit.type(plain(screen));
    if (typed !== null) terminal.write(typed);
  });
  return new Promise((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      const read = (name: string) => (visit.everything ? '' : readFileSync(join(folder, name), 'utf8'));
      resolve({
        screen: plain(screen),
        stdout: read('out'),
        stderr: read('err'),
        code: signal ? 128 + signal : exitCode,
      });
    });
  });
}

const PROMPT = /\(y\/n\) |approve nothing: /g;

/** As text: the line ends and cursor movements of the terminal taken out. */
function plain(screen: string): string {
  return screen
    .replaceAll('\r\n', '\n')
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
    .replaceAll('\r', '');
}
