import { withPlace } from '../../durable/beneath-write.ts';
import { looksLikeDatabase } from '../../effect/sql/database.ts';
import { type Hold, holdDatabases } from '../../effect/sql/hold.ts';
import { type ReasonCode, Refusal } from '../../refusal.ts';
import { planLimits } from '../limits.ts';
import type { Checkpoint } from './manifest.ts';

/** What DuckDB cannot open no process writes to with DuckDB, and a rollback may replace it. */
const UNLOCKABLE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'SQL_DATABASE_CORRUPT',
  'SQL_DATABASE_VERSION',
  'SQL_DATABASE_ENCRYPTED',
]);

/**
 * Takes a database that SQL left back while no other process can write to it. One with a log beside it, or that another process has
 * open, is refused: its contents are not those of the file.
 */
export async function whileLocked<T>(
  root: string,
  checkpoint: Checkpoint,
  act: () => Promise<T>,
): Promise<T> {
  const hold = await lockOf(root, checkpoint);
  try {
    const done = await act();
    await hold?.confirm();
    return done;
  } finally {
    await hold?.release();
  }
}

async function lockOf(root: string, { states, file_path }: Checkpoint): Promise<Hold | null> {
  // Only SQL leaves what cannot be foretold.
  if (!states.includes('unknown') || !(await withPlace(root, file_path, looksLikeDatabase))) return null;
  try {
    return await holdDatabases(root, [file_path], { max_bytes: planLimits.file_bytes });
  } catch (error) {
    if (error instanceof Refusal && UNLOCKABLE.has(error.code)) return null;
    throw error;
  }
}
