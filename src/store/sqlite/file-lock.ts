import { closeSync, constants, openSync } from 'node:fs';
import { sqliteLimits } from '../../limits.ts';
import { storeRefusal } from './failure.ts';

/** An exclusive lock between processes. The kernel drops it when the process that holds it dies, however it dies. */
export interface FileLock {
  /** Waits for the lock, acts, and gives it back. `act` does not wait for anything. */
  hold<T>(act: () => T): T;
  close(): void;
}

/**
 * Node cannot lock a file, and to start flock(1) takes longer than what is done under the lock. SQLite locks its own
 * files, so an empty database of which nothing is ever written is used as the lock.
 */
export async function openFileLock(path: string): Promise<FileLock> {
  const { DatabaseSync } = await import('@photostructure/sqlite');
  const mapped = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw storeRefusal(error);
    }
  };
  const db = mapped(() => {
    const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
    closeSync(openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600));
    const opened = new DatabaseSync(path, { timeout: sqliteLimits.file_lock_ms });
    try {
      // Otherwise each lock would make and remove a journal: a change in the folder of the store, after which the next commit looks for its files.
      opened.exec('PRAGMA journal_mode = MEMORY');
    } catch (error) {
      opened.close();
      throw error;
    }
    return opened;
  });
  return {
    hold: (act) => {
      mapped(() => db.exec('BEGIN EXCLUSIVE'));
      try {
        return act();
      } finally {
        db.exec('ROLLBACK');
      }
    },
    close: () => db.close(),
  };
}
