import { type BigIntStats, closeSync, fstatSync, readSync } from 'node:fs';
import { openToRead, type Place, statAt } from '../../durable/beneath-write.ts';
import { fileCall } from '../../durable/walk.ts';
import { refuse } from '../../refusal.ts';

/** An open file at a place, regular and with one name. */
export interface OpenFile {
  readonly fd: number;
  readonly stats: BigIntStats;
}

export function openFile(place: Place): OpenFile | null {
  const fd = openToRead(place);
  if (fd === null) return null;
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (!stats.isFile())
      refuse('FILE_NOT_REGULAR', `${place.path} is not a regular file.`, { path: place.path });
    if (stats.nlink > 1n)
      refuse('FILE_HARD_LINKED', `${place.path} has more than one name.`, { path: place.path });
    return { fd, stats };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Opens the DuckDB file at a place; null where there is none. What the file itself can tell is asked here, before a byte of it is
 * copied and before DuckDB sees it: whether it is one, whole, in clear, and of a size that may be worked on.
 */
export function openDatabase(place: Place, max_bytes: number): OpenFile | null {
  const file = openFile(place);
  // Also beside a file that does not exist: DuckDB would replay the log into the new one.
  try {
    requireNoLog(place);
    if (file === null) return null;
    if (file.stats.size > BigInt(max_bytes))
      refuse('SQL_FILE_TOO_LARGE', `${place.path} has ${file.stats.size} bytes.`, { path: place.path });
    requireHeader(file.fd, place.path);
    return file;
  } catch (error) {
    if (file !== null) closeSync(file.fd);
    throw error;
  }
}

/** The same as a look. */
export function requireDatabase(place: Place, max_bytes: number): void {
  const file = openDatabase(place, max_bytes);
  if (file !== null) closeSync(file.fd);
}

/**
 * A log beside the file holds changes that the file does not: then the digest that a human
 * approved is not the digest of the database, and whatever replaces the file breaks it.
 */
export function requireNoLog(place: Place): void {
  const log = logBeside(place);
  if (log !== null) refuse('SQL_DATABASE_HAS_LOG', `${log} exists.`, { path: log });
}

export function logBeside(place: Place): string | null {
  const ending = LOGS.find((log) => statAt(place, `${place.name}${log}`) !== null);
  return ending === undefined ? null : `${place.path}${ending}`;
}

const LOGS = ['.wal', '.wal.checkpoint', '.wal.recovery'];

/** The names that DuckDB gives to the logs of a database. */
export function logsOf(database: string): string[] {
  return LOGS.map((ending) => `${database}${ending}`);
}

/** The main header of a DuckDB file: 8 bytes of checksum, the magic word, 8 bytes of version, then flags, the first for encryption. */
const HEADER_BYTES = 28;
const MAGIC_AT = 8;
const MAGIC = Buffer.from('DUCK');
const FLAGS_AT = 20;
const ENCRYPTED = 1n;

function headerOf(fd: number, shown: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  fileCall(shown, () => readSync(fd, header, 0, HEADER_BYTES, 0));
  return header;
}

/** Whether contents that begin with these bytes call themselves a DuckDB database. */
export function isDatabase(head: Uint8Array): boolean {
  return MAGIC.equals(head.subarray(MAGIC_AT, MAGIC_AT + MAGIC.length));
}

function requireHeader(fd: number, shown: string): void {
  const header = headerOf(fd, shown);
  if (!isDatabase(header)) refuse('SQL_DATABASE_FOREIGN', `${shown} is no DuckDB database.`, { path: shown });
  if ((header.readBigUInt64LE(FLAGS_AT) & ENCRYPTED) !== 0n)
    refuse('SQL_DATABASE_ENCRYPTED', `${shown} is encrypted.`, { path: shown });
}

/** Whether the file at this place calls itself a DuckDB database. False where there is none, or none that can be read. */
export function looksLikeDatabase(place: Place): boolean {
  if (!statAt(place)?.isFile()) return false;
  const fd = openToRead(place);
  if (fd === null) return false;
  try {
    return isDatabase(headerOf(fd, place.path));
  } finally {
    closeSync(fd);
  }
}
