import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { withoutInherited } from './child.ts';
import { ownProgram } from './own-program.ts';

/** A part of Keyturn that works beside this process, and ends when this one does. */
export type Beside = ChildProcess;

/** Starts it. It has no environment, no open file and no terminal. Null where this installation lacks it. */
export function startBeside(module: string, source: string, built: string): Beside | null {
  const program = ownProgram(module, source, built);
  if (program === null) return null;
  const nothing = openSync('/dev/null', 'r');
  try {
    return spawn(process.execPath, [...program.options, program.path], {
      cwd: '/',
      env: {},
      detached: true, // a Ctrl-C at the terminal is for us
      serialization: 'advanced',
      stdio: withoutInherited(['ignore', 'ignore', 'ignore', 'ipc'], nothing),
    });
  } finally {
    closeSync(nothing);
  }
}
