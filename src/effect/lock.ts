import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { runChild } from './child.ts';
import { inspectMachine, type Machine } from './machine.ts';

export interface LockOptions {
  readonly timeout_ms?: number;
  readonly machine?: Machine;
}

/** flock(1) exits with this when another process held the lock for the whole wait. */
export const CONFLICT = 75;

/**
 * Does something while holding an exclusive kernel lock on a file or folder that exists.
 *
 * Node cannot lock, so flock(1) does it on a descriptor that it inherits: a lock belongs to the open file, not to the
 * process, so it stays ours when flock(1) ends. The kernel drops it when this process dies, however it dies.
 */
export async function withLockedFile<T>(
  path: string,
  act: () => Promise<T> | T,
  options: LockOptions = {},
): Promise<T> {
  const { flock } = options.machine ?? inspectMachine();
  if (!flock) refuse('LOCK_UNAVAILABLE', 'util-linux (flock) is not installed.');
  const fd = openToLock(path);
  try {
    await lockDescriptor(flock, fd, path, options.timeout_ms ?? limits.store_busy_ms);
    requireSameFile(fd, path);
    return await act();
  } finally {
    closeSync(fd);
  }
}

function openToLock(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return refuse('LOCK_UNAVAILABLE', `${path} cannot be opened: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Locks an open file. The lock lasts until every copy of this descriptor is closed. */
export async function lockDescriptor(
  flock: string,
  fd: number,
  path: string,
  timeout_ms: number,
): Promise<void> {
  const seconds = (timeout_ms / 1000).toFixed(3);
  const outcome = await runChild({
    argv: [flock, '--exclusive', '--timeout', seconds, '--conflict-exit-code', String(CONFLICT), '3'],
    fds: [fd],
    env: {},
    cwd: '/',
    timeout_ms: timeout_ms + limits.flock_late_ms,
    stdout_bytes: 0,
    stderr_bytes: 1024,
  });
  if (outcome.exit_code === 0) return;
  if (outcome.exit_code === CONFLICT) {
    refuse('LOCK_UNAVAILABLE', `Another process has held ${path} for ${seconds} s.`, { path, held: true });
  }
  refuse('LOCK_UNAVAILABLE', `${path} could not be locked.`, { path });
}

/** While we waited, the file may have been replaced: then no other process uses the lock that we hold. */
function requireSameFile(fd: number, path: string): void {
  const ours = fstatSync(fd);
  const named = statSync(path, { throwIfNoEntry: false });
  if (named?.ino !== ours.ino || named.dev !== ours.dev) {
    refuse('LOCK_UNAVAILABLE', `${path} was replaced while it was being locked.`, { path });
  }
}
