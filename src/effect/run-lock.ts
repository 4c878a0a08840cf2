import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import { refuse } from '../refusal.ts';

/**
 * Tells whether anything of a run is still at work, also after Keyturn itself was killed.
 *
 * The lock of a run is a FIFO. A tool without a sandbox inherits its reading end, so it has a reader until the last process that
 * inherited it has ended, whatever session or group that moved to; otherwise the sandbox holds it until it has ended. A FIFO without a
 * reader cannot be opened for writing. A tool that closes
 * descriptors that it does not know gives the lock away: that is one of the things that `sandbox: none` gives away.
 */

const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** For the tool or its sandbox. Read-only: a tool must not be able to write into Keyturn's folder through it. */
export function openRunLock(path: string): number {
  return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/** Whether a process that belongs to this run is still there. A file that does not exist was never locked. */
export function isRunLocked(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return false;
  if (!stats.isFIFO()) refuse('LOCK_UNAVAILABLE', `${path} is not a FIFO.`, { path });
  try {
    closeSync(openSync(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENXIO' || code === 'ENOENT') return false;
    return refuse('LOCK_UNAVAILABLE', `${path} could not be looked at: ${code}`, { path });
  }
}
