import { OpenFolders } from '../../durable/open-folders.ts';
import { looksLikeDatabase } from '../../effect/sql/database.ts';
import { type Hold, type HoldOptions, holdDatabases } from '../../effect/sql/hold.ts';
import { planLimits } from '../../limits.ts';
import { type ReasonCode, Refusal } from '../../refusal.ts';
import { nothingIfMissing } from '../state/see.ts';

/** What DuckDB cannot open here it cannot lock: such a file is replaced as any other one. */
const UNLOCKABLE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'SQL_DATABASE_CORRUPT',
  'SQL_DATABASE_VERSION',
  'SQL_DATABASE_ENCRYPTED',
]);

type LockOptions = Pick<HoldOptions, 'sandbox' | 'machine'>;

/** Replaces, moves or removes the databases at these paths while no other process can write to them. */
export async function whileLocked<T>(
  root: string,
  databases: readonly string[],
  act: () => Promise<T>,
): Promise<T> {
  const lock = await lockAll(root, databases);
  try {
    const done = await act();
    await lock?.confirm();
    return done;
  } finally {
    await lock?.release();
  }
}

/** Locks those of the paths at which a database is; null where there is none. */
export async function lockFound(
  root: string,
  paths: readonly string[],
  options: LockOptions = {},
): Promise<Hold | null> {
  return lockAll(root, databasesAmong(root, paths), options);
}

function databasesAmong(root: string, paths: readonly string[]): string[] {
  const folders = new OpenFolders(root);
  try {
    return paths.filter((path) => isDatabaseIn(folders, path));
  } finally {
    folders.close();
  }
}

function isDatabaseIn(folders: OpenFolders, path: string): boolean | null {
  try {
    return looksLikeDatabase(folders.at(path));
  } catch (error) {
    return nothingIfMissing(error);
  }
}

/**
 * One child for all of them. One with a log beside it, or that another process has open for writing, is refused: its contents are not
 * those of the file, and what that process commits after the file is replaced would be lost. Where one cannot be locked, each is tried
 * alone, to find the others.
 */
async function lockAll(
  root: string,
  paths: readonly string[],
  options: LockOptions = {},
): Promise<Hold | null> {
  if (paths.length === 0) return null;
  try {
    return await holdDatabases(root, paths, { ...options, max_bytes: planLimits.file_bytes });
  } catch (error) {
    if (!(error instanceof Refusal && UNLOCKABLE.has(error.code))) throw error;
    if (paths.length === 1) return null;
    const lockable: string[] = [];
    for (const path of paths) if (await canBeLocked(root, path, options)) lockable.push(path);
    if (lockable.length === paths.length) throw error; // another process changes them meanwhile
    return lockAll(root, lockable, options);
  }
}

async function canBeLocked(root: string, path: string, options: LockOptions): Promise<boolean> {
  const lock = await lockAll(root, [path], options);
  await lock?.release();
  return lock !== null;
}
