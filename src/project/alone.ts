import { closeSync, constants, openSync } from 'node:fs';
import { withLockedFile } from '../effect/lock.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/**
 * Does something while no other process of this host holds the lock. The kernel lets go of it when this process ends, however it
 * ends.
 */
export async function alone<T>(path: string, act: () => Promise<T>): Promise<T> {
  create(path);
  let has_begun = false;
  const begin = () => {
    has_begun = true;
    return act();
  };
  try {
    return await withLockedFile(path, begin, { timeout_ms: limits.alone_ms });
  } catch (error) {
    if (!has_begun && isHeld(error)) refuse('SERVICE_RUNNING');
    throw error;
  }
}

function isHeld(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'LOCK_UNAVAILABLE' && error.facts.held === true;
}

function create(path: string): void {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600));
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
    refuse('LOCK_UNAVAILABLE', `${path} cannot be made (${errno}).`, { path, errno });
  }
}
