import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Refusal, refuse } from '../../refusal.ts';
import { connect, type Database, makeDurable } from './database.ts';
import { storeRefusal } from './failure.ts';
import { CREATION, MIGRATIONS, migrate, requireVersion } from './schema.ts';

export function exists(path: string): boolean {
  return sizeOf(path) !== null;
}

/**
 * Makes an empty store, whole or not at all: it is built under another name, synced, and then given its own. The link
 * fails when the name is taken, so two processes cannot both make the store.
 */
export async function createFile(path: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    // SQLite gives its WAL and index files the mode of the database: no other user reads any of them.
    closeSync(openSync(draft, 'wx', 0o600));
    await build(draft);
    sync(draft);
    linkSync(draft, path);
    sync(dirname(path));
  } catch (error) {
    // Another process was first. Whether it made the same ledger is for the caller to see.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw storeRefusal(error);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
}

/** Without prepared statements: the driver keeps a connection half open until those are collected as garbage. */
async function build(draft: string): Promise<void> {
  const db = await connect(draft, 'write');
  try {
    db.run(() => {
      makeDurable(db);
      db.exec(`BEGIN IMMEDIATE; ${CREATION}; COMMIT;`);
    });
  } finally {
    db.close();
  }
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export async function openToWrite(path: string, busy_ms?: number): Promise<Database> {
  requireFile(path);
  try {
    // SQLite would open what it may not write to read only, in silence. It also needs to write beside the file.
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw storeRefusal(error);
  }
  const db = await connect(path, 'write', busy_ms);
  return closedOnFailure(db, () => {
    db.run(() => {
      requireVersion(db, MIGRATIONS.length);
      makeDurable(db);
    });
    migrate(db);
  });
}

export async function openReadOnly(path: string, busy_ms?: number): Promise<Database> {
  requireFile(path);
  try {
    return requireCurrent(await connect(path, 'read', busy_ms));
  } catch (error) {
    // A reader, too, needs a lock file beside the store. Where none can be made, on a backup or read-only disk, the file
    // alone is read, but only if nothing waits in its WAL: otherwise it would be an older state than the true one.
    const is_unlockable = error instanceof Refusal && UNLOCKABLE.has(error.code);
    if (!is_unlockable || canWrite(dirname(path)) || (sizeOf(`${path}-wal`) ?? 0) > 0) throw error;
    return requireCurrent(await connect(path, 'immutable', busy_ms));
  }
}

const UNLOCKABLE: ReadonlySet<string> = new Set(['FILE_UNREADABLE', 'STORE_READ_ONLY', 'WRITE_FAILED']);

function requireCurrent(db: Database): Database {
  return closedOnFailure(db, () => {
    const version = db.run(() => requireVersion(db, MIGRATIONS.length));
    if (version < MIGRATIONS.length)
      refuse('STORE_READ_ONLY', 'The store has an older form. Open it once to write.', { version });
  });
}

/** SQLite follows links. One at the store or at a file beside it would take the ledger somewhere else. */
function requireFile(path: string): void {
  try {
    requireRealFile(path);
  } catch (error) {
    throw storeRefusal(error);
  }
}

function requireRealFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    const beside = lstatSync(path + suffix, { throwIfNoEntry: false });
    if (beside?.isSymbolicLink()) refuse('FILE_IS_SYMLINK', `${path}${suffix} is a symbolic link.`, { path });
  }
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) refuse('STORE_MISSING', `There is no store at ${path}.`);
  if (!found.isFile()) refuse('FILE_NOT_REGULAR', `The store at ${path} is not a file.`);
}

function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function closedOnFailure(db: Database, act: () => void): Database {
  try {
    act();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
