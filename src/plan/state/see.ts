import { createHash } from 'node:crypto';
import { type BigIntStats, closeSync, fstatSync, readSync } from 'node:fs';
import { sha256 } from '../../canonical/digest.ts';
import { openToRead, type Place, statAt, withPlace } from '../../durable/beneath-write.ts';
import type { OpenFiles } from '../../durable/open-files.ts';
import type { OpenFolders } from '../../durable/open-folders.ts';
import { fileCall } from '../../durable/walk.ts';
import { isDatabase } from '../../effect/sql/database.ts';
import { limits, planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { FileState } from '../model.ts';
import { ownMemory, type TakeMemory } from '../reused-memory.ts';

/** What was found at a path: its state, and what a restore must bring back besides. */
export interface Seen {
  readonly state: FileState;
  readonly uid: number;
  readonly gid: number;
  readonly mtime_ns: bigint;
  readonly atime_ns: bigint;
  /** Changes whenever the file does, so that a second look need not hash again. */
  readonly identity: string;
  /** Whether every later change gives another identity. One within the same tick of the clock would not. */
  readonly settled: boolean;
  /** Whether it calls itself a database: then it is replaced, moved or removed only while it is locked. */
  readonly database: boolean;
}

export interface Content extends Seen {
  readonly bytes: Uint8Array;
}

/** A file may have a second name only while our own link and unlink are half done. */
export type SecondNames = ReadonlySet<string>;

export const fileId = (stats: BigIntStats): string => `${stats.dev}:${stats.ino}`;

export const isOneOfOurs = (ours: SecondNames, { identity }: Seen): boolean =>
  ours.has(identity.split(':', 2).join(':'));

/** Hashes what is at the place without holding it in memory; null when nothing is there. */
export function seeAt(place: Place, ours?: SecondNames): Seen | null {
  return withOpen(place, (fd) => {
    const look = beginLook(fd, place.path, ours);
    return endLook(
      look,
      readThrough(look, () => {}),
    );
  });
}

/** Reads and hashes what is at the place; null when nothing is there. What was seen before and still is, is not hashed again. */
export function readAt(place: Place, known?: Seen, kept?: OpenFiles, take?: TakeMemory): Content | null {
  return withOpen(
    place,
    (fd) => {
      const look = beginLook(fd, place.path);
      const bytes = readOpen(fd, place.path, look.size, take);
      const same = known?.settled && known.identity === identityOf(look.stats);
      const read = { sha256: same ? known.state.sha256 : sha256(bytes), database: isDatabase(bytes) };
      return { ...endLook(look, read), bytes };
    },
    kept,
  );
}

/** What is at the place, with the hash of an earlier look where nothing has changed since. */
export function seeAgainAt(place: Place, known: Seen | null, ours?: SecondNames): Seen | null {
  if (known?.settled) {
    const stats = statAt(place);
    if (stats && identityOf(stats) === known.identity) return known;
  }
  return seeAt(place, ours);
}

/** `seeAt` for a path whose folder may be missing too. */
export async function see(root: string, path: string, ours?: SecondNames): Promise<Seen | null> {
  return withPlace(root, path, (place) => seeAt(place, ours)).catch(nothingIfMissing);
}

/** The same for one of many paths. */
export function seeIn(folders: OpenFolders, path: string, ours?: SecondNames): Seen | null {
  try {
    return seeAt(folders.at(path), ours);
  } catch (error) {
    return nothingIfMissing(error);
  }
}

export async function readContent(root: string, path: string, take?: TakeMemory): Promise<Content | null> {
  return withPlace(root, path, (place) => readAt(place, undefined, undefined, take)).catch(nothingIfMissing);
}

export function nothingIfMissing(error: unknown): null {
  if ((error as { code?: string }).code === 'FILE_NOT_FOUND') return null;
  throw error;
}

function withOpen<T>(place: Place, use: (fd: number) => T, kept?: OpenFiles): T | null {
  const fd = openToRead(place);
  if (fd === null) return null;
  try {
    return use(fd);
  } finally {
    if (kept) kept.keep(fd);
    else closeSync(fd);
  }
}

function requirePlain(stats: BigIntStats, shown: string, ours?: SecondNames): void {
  if (!stats.isFile()) refuse('FILE_NOT_REGULAR', `${shown} is not a regular file.`, { path: shown });
  if (stats.nlink > 1n && !ours?.has(fileId(stats)))
    refuse('FILE_HARD_LINKED', `${shown} has more than one name.`, { path: shown });
  if (stats.size > planLimits.file_bytes)
    refuse('PLAN_LIMIT_EXCEEDED', `${shown} has ${stats.size} bytes.`, { path: shown });
}

/** An open file that is about to be read. */
interface Look {
  readonly fd: number;
  readonly shown: string;
  readonly at_ms: number;
  readonly stats: BigIntStats;
  readonly size: number;
}

export function beginLook(fd: number, shown: string, ours?: SecondNames): Look {
  const at_ms = Date.now();
  const stats = fileCall(shown, () => fstatSync(fd, { bigint: true }));
  requirePlain(stats, shown, ours);
  return { fd, shown, at_ms, stats, size: Number(stats.size) };
}

/** Looks at the open file again: a file that changed while it was read has no one hash. */
export function endLook({ fd, shown, at_ms, stats: before }: Look, { sha256, database }: Read): Seen {
  const after = fileCall(shown, () => fstatSync(fd, { bigint: true }));
  const identity = identityOf(after);
  if (identityOf(before) !== identity)
    refuse('PLAN_DRIFT', `${shown} changed while it was read.`, { path: shown });
  return {
    state: { sha256, size: Number(after.size), mode: Number(after.mode & 0o7777n) },
    uid: Number(after.uid),
    gid: Number(after.gid),
    mtime_ns: before.mtimeNs,
    atime_ns: before.atimeNs,
    identity,
    settled: isSettled(after, at_ms),
    database,
  };
}

/** Whether a change after this moment would show in the times of the file. */
export function isSettled(stats: BigIntStats, at_ms: number): boolean {
  return at_ms - Number(stats.ctimeNs / 1_000_000n) > planLimits.settled_ms && hasFineTimes(stats);
}

/** Some file systems keep whole seconds. There a change can hide for long, so nothing is ever taken as settled. */
function hasFineTimes({ ctimeNs }: BigIntStats): boolean {
  return ctimeNs % 1_000_000_000n !== 0n;
}

export function identityOf(stats: BigIntStats): string {
  return `${fileId(stats)}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** What the content of a file says. */
export interface Read {
  readonly sha256: string;
  readonly database: boolean;
}

/**
 * Files are read in pieces, all of them into this: a buffer for each would fill the memory faster than it is collected. It is empty
 * again before anything else runs, because no look waits while it reads.
 */
const PIECE = Buffer.allocUnsafeSlow(limits.read_piece_bytes);

/** Calls `take` with each piece of an open file, and hashes it. `take` must be synchronous. */
export function readThrough({ fd, shown }: Look, take: (piece: Uint8Array) => void): Read {
  const hash = createHash('sha256');
  let database = false;
  for (let total = 0; ; ) {
    const n = fileCall(shown, () => readSync(fd, PIECE, 0, PIECE.length, total));
    const piece = PIECE.subarray(0, n);
    if (total === 0) database = isDatabase(piece);
    if (n === 0) return { sha256: hash.digest('hex'), database };
    total += n;
    if (total > planLimits.file_bytes) refuse('PLAN_LIMIT_EXCEEDED', `${shown} grew beyond the limit.`);
    hash.update(piece);
    take(piece);
  }
}

/** The size is that of a moment ago; `endLook` refuses when it is no longer true. */
export function readOpen(fd: number, shown: string, size: number, take = ownMemory): Uint8Array {
  const buffer = take(size);
  let length = 0;
  while (length < size) {
    const n = fileCall(shown, () => readSync(fd, buffer, length, size - length, length));
    if (n === 0) break;
    length += n;
  }
  return buffer.subarray(0, length);
}
