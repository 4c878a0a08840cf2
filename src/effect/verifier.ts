import { accessSync, closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type ChildOutcome, runChild } from './child.ts';
import { type Confined, openConfined } from './confine.ts';
import { executableForm } from './executable-form.ts';
import { findProgram, inspectMachine, type Machine } from './machine.ts';
import { judgeSandboxed, requireSandbox } from './sandbox.ts';

/**
 * Asks an external approval verifier, and refuses everything but a clear yes. `command` is one path (or a name that
 * PATH finds) and fixed arguments, separated by blanks; the id and the hash follow. Only the exit code counts: 0 is yes,
 * 1 is no, all else is neither.
 */
export async function runVerifier(
  command: string | readonly string[],
  intent_id: string,
  hash: string,
  timeout_ms: number = limits.verifier_timeout_ms,
): Promise<void> {
  const [name = '', ...fixed] = typeof command === 'string' ? command.trim().split(/\s+/) : command;
  const env = process.env as Record<string, string>;
  const program = requireCallable(name, env.PATH ?? '');
  const confined = confine([program, ...fixed, intent_id, hash], name);
  try {
    const { argv, fds, filter } = confined;
    const bounds = { cwd: '/', timeout_ms, stdout_bytes: 0, stderr_bytes: limits.verifier_stderr_bytes };
    requireYes(
      judgeSandboxed(await runChild({ argv, fds, filter, with_status: true, env, ...bounds })),
      name,
    );
  } finally {
    confined.close();
  }
}

/**
 * A verifier answers a question: it may read what its user may read and ask over the network, and it writes nothing. It
 * runs as the user of Keyturn, whose queue it reads.
 */
function confine(argv: readonly string[], name: string): Confined {
  const machine: Machine = { ...inspectMachine(), system: [{ path: '/' }], network: [] };
  const profile = { network: true, read: [realpathSync('/tmp')], write: [] };
  try {
    requireSandbox(profile, null, machine);
    const cwd = realpathSync(process.cwd());
    return openConfined(
      { profile, limits: null, cwd, argv, programs: [], hidden: [], protected: [] },
      machine,
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('VERIFIER_NOT_CALLABLE', `${name} cannot be confined: ${error.message}`);
  }
}

function requireYes(outcome: ChildOutcome, name: string): void {
  if (!outcome.started) refuse('VERIFIER_NOT_CALLABLE', `${name} cannot be started: ${outcome.error}`);
  if (outcome.timed_out) refuse('VERIFIER_ERROR', `${name} did not answer in time.`);
  if (outcome.exit_code === 1) refuse('VERIFIER_DENIED');
  if (outcome.exit_code !== 0)
    refuse('VERIFIER_ERROR', `${name} ended with ${outcome.exit_code ?? outcome.signal}.`);
}

function requireCallable(name: string, search_path: string): string {
  const path = name.includes('/') ? resolve(name) : findProgram(name, search_path.split(':').filter(Boolean));
  const stats = path ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (!path || !stats) refuse('VERIFIER_NOT_FOUND', `${name || 'The verifier'} does not exist.`);
  if (!stats.isFile() || (stats.mode & 0o111) === 0 || !isAllowed(path)) {
    refuse('VERIFIER_NOT_CALLABLE', `${name} is not an executable file.`);
  }
  requireStartable(path);
  return path;
}

function isAllowed(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Not only the verifier: the C library gives a script to /bin/sh when the kernel cannot start its interpreter. */
function requireStartable(path: string): void {
  let next: string | null = path;
  for (let depth = 0; next !== null; depth++) {
    if (depth > limits.interpreters)
      refuse(
        'VERIFIER_NOT_CALLABLE',
        `${path}: it has more than ${limits.interpreters} interpreters of interpreters.`,
      );
    next = startedBy(next);
  }
}

/** What the kernel starts in order to run this file; `null` when it starts the file itself. */
function startedBy(path: string): string | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    // Executable but not readable: only a binary can be that. Anything else fails when it is started.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return null;
    return refuse('VERIFIER_NOT_CALLABLE', `${path} cannot be opened.`);
  }
  try {
    return executableForm(fd, path).next;
  } catch (error) {
    return refuse('VERIFIER_NOT_CALLABLE', (error as Error).message);
  } finally {
    closeSync(fd);
  }
}
