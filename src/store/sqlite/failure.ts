import { type ReasonCode, Refusal } from '../../refusal.ts';

/** The one place where an error of SQLite, or of the file system under it, becomes a reason code. */
export function storeRefusal(error: unknown): unknown {
  if (isSqliteError(error)) return new Refusal(sqliteCode(error), `The store says: ${error.message}.`);
  const code = SYSTEM[(error as NodeJS.ErrnoException)?.code ?? ''];
  return code ? new Refusal(code, (error as Error).message) : error;
}

interface SqliteError extends Error {
  readonly errcode: number;
  readonly sqliteExtendedCode?: number;
  readonly systemErrno?: number;
}

export function isSqliteError(error: unknown): error is SqliteError {
  return (error as NodeJS.ErrnoException)?.code === 'ERR_SQLITE_ERROR';
}

/** Another connection is in the way. Read from the error of SQLite, or from what it became. */
export function isBusy(error: unknown): boolean {
  const refusal = storeRefusal(error);
  return refusal instanceof Refusal && refusal.code === 'STORE_BUSY';
}

/** A row that must be unique is there already. */
export function isConstraint(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === CONSTRAINT;
}

const CONSTRAINT = 19;

const SYSTEM: Readonly<Record<string, ReasonCode>> = {
  ENOENT: 'STORE_MISSING',
  ENOTDIR: 'STORE_MISSING',
  EEXIST: 'PROJECT_EXISTS',
  EACCES: 'STORE_READ_ONLY',
  EPERM: 'STORE_READ_ONLY',
  EROFS: 'STORE_READ_ONLY',
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  EIO: 'WRITE_FAILED',
};

const PRIMARY: Readonly<Record<number, ReasonCode>> = {
  // SQLITE_ERROR and SQLITE_CONSTRAINT: our statements are fixed, so tables or rows are not the ones we made.
  1: 'STORE_CORRUPT',
  19: 'STORE_CORRUPT',
  5: 'STORE_BUSY',
  6: 'STORE_BUSY',
  8: 'STORE_READ_ONLY',
  10: 'WRITE_FAILED',
  11: 'STORE_CORRUPT',
  13: 'DISK_FULL',
  14: 'FILE_UNREADABLE',
  26: 'STORE_CORRUPT',
};

const IOERR_READ = 266;
const IOERR_SHORT_READ = 522;
const ENOSPC = 28;
const EDQUOT = 122;

function sqliteCode(error: SqliteError): ReasonCode {
  const extended = error.sqliteExtendedCode ?? error.errcode;
  if (error.systemErrno === ENOSPC || error.systemErrno === EDQUOT) return 'DISK_FULL';
  if (extended === IOERR_READ) return 'FILE_UNREADABLE';
  if (extended === IOERR_SHORT_READ) return 'STORE_CORRUPT';
  return PRIMARY[extended & 0xff] ?? 'INTERNAL';
}
