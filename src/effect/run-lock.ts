import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { refuse } from '../refusal.ts';
import { CONFLICT, lockDescriptor } from './lock.ts';
import { inspectMachine, type Machine } from './machine.ts';

/**
 * Tells whether anything of a run without a sandbox is still at work, also after Keyturn itself was killed.
 *
 * The tool inherits a descriptor of the lock file. The lock belongs to that open file, so it lasts until the last process
 * that inherited it has ended, whatever session or group it moved to. A tool that closes descriptors that it does not
 * know gives the lock away: that is one of the things that `sandbox: none` gives away.
 */

const { O_RDONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Each run has a file of its own, so nobody else holds it. Some versions of flock(1) do not take 0. */
const LOCK_MS = 1_000;

/** Takes the lock of one run. The descriptor is for the tool; the caller closes its own copy when the run has ended. */
export async function lockRun(path: string, machine: Machine = inspectMachine()): Promise<number> {
  const flock = requireFlock(machine);
  const fd = openLock(path, O_CREAT);
  if (fd === null) return refuse('LOCK_UNAVAILABLE', `${path} cannot be made.`, { path });
  try {
    await lockDescriptor(flock, fd, path, LOCK_MS);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Refuses before anything is claimed. */
export function requireFlock({ flock }: Machine): string {
  return flock ?? refuse('LOCK_UNAVAILABLE', 'util-linux (flock) is not installed.');
}

/** Whether a process that belongs to this run is still there. A file that does not exist was never locked. */
export function isRunLocked(path: string, machine: Machine = inspectMachine()): boolean {
  const fd = openLock(path, 0);
  if (fd === null) return false;
  try {
    // Shared: two who ask at once must not take each other for the run.
    const options = ['--shared', '--nonblock', '--conflict-exit-code', String(CONFLICT), '3'];
    const { status } = spawnSync(requireFlock(machine), options, {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', fd],
    });
    if (status === 0) return false;
    return status === CONFLICT || refuse('LOCK_UNAVAILABLE', `${path} could not be looked at.`, { path });
  } finally {
    closeSync(fd);
  }
}

/** Read-only: the tool must not be able to write into Keyturn's folder through it. Null when there is no such file. */
function openLock(path: string, create: number): number | null {
  try {
    if (create) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | create, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    return refuse('LOCK_UNAVAILABLE', `${path} cannot be opened: ${code}`, { path });
  }
}
