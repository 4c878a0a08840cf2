import { withPlace } from '../../durable/beneath-write.ts';
import { looksLikeDatabase } from '../../effect/sql/database.ts';
import { type Hold, type HoldOptions, holdDatabases } from '../../effect/sql/hold.ts';
import { type ReasonCode, Refusal } from '../../refusal.ts';
import { planLimits } from '../limits.ts';
import { nothingIfMissing } from '../state/see.ts';

/** What DuckDB cannot open no process writes to with DuckDB, so it may be replaced without a lock. */
const UNLOCKABLE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'SQL_DATABASE_CORRUPT',
  'SQL_DATABASE_VERSION',
  'SQL_DATABASE_ENCRYPTED',
]);

type LockOptions = Pick<HoldOptions, 'sandbox' | 'machine'>;

/** Replaces, moves or removes what is at these paths while no other process can write to a database among them. */
export async function whileLocked<T>(
  root: string,
  paths: readonly string[],
  act: () => Promise<T>,
): Promise<T> {
  const locks = await lockFound(root, paths);
  try {
    const done = await act();
    await confirmAll(locks);
    return done;
  } finally {
    await releaseAll(locks);
  }
}

/**
 * Locks each of the paths at which a database is. One with a log beside it, or that another process has open for writing, is
 * refused: its contents are not those of the file, and what that process commits after the file is replaced would be lost.
 */
export async function lockFound(
  root: string,
  paths: readonly string[],
  options: LockOptions = {},
): Promise<readonly Hold[]> {
  const locks: Hold[] = [];
  try {
    for (const path of paths) {
      if (await withPlace(root, path, looksLikeDatabase).catch(nothingIfMissing))
        locks.push(...(await lockOne(root, path, options)));
    }
    return locks;
  } catch (error) {
    await releaseAll(locks);
    throw error;
  }
}

async function lockOne(root: string, path: string, options: LockOptions): Promise<Hold[]> {
  try {
    return [await holdDatabases(root, [path], { ...options, max_bytes: planLimits.file_bytes })];
  } catch (error) {
    if (error instanceof Refusal && UNLOCKABLE.has(error.code)) return [];
    throw error;
  }
}

export async function confirmAll(locks: readonly Hold[]): Promise<void> {
  for (const lock of locks) await lock.confirm();
}

export async function releaseAll(locks: readonly Hold[]): Promise<void> {
  for (const lock of locks) await lock.release();
}
