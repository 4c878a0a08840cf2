import { createHash } from 'node:crypto';
import { type BigIntStats, closeSync, fstatSync, readSync } from 'node:fs';
import { sha256 } from '../../canonical/digest.ts';
import { attempt, openToRead, type Place, withPlace } from '../../durable/beneath-write.ts';
import { refuse } from '../../refusal.ts';
import { planLimits } from '../limits.ts';
import type { FileState, PathChange } from '../model.ts';

/** What was found at a path: its state, and what a restore must bring back besides. */
export interface Seen {
  readonly state: FileState;
  readonly uid: number;
  readonly gid: number;
  readonly mtime_ns: bigint;
  readonly atime_ns: bigint;
  /** Changes whenever the file does, so that a second look need not hash again. */
  readonly identity: string;
}

export interface Content extends Seen {
  readonly bytes: Uint8Array;
}

/** A file may have a second name only while our own link and unlink are half done. */
export type SecondNames = ReadonlySet<string>;

export const fileId = (stats: BigIntStats): string => `${stats.dev}:${stats.ino}`;

/** Hashes what is at the place without holding it in memory; null when nothing is there. */
export function seeAt(place: Place, ours?: SecondNames): Seen | null {
  return withOpen(place, ours, (fd, stats) => {
    const sha256 = hashOpen(fd, place.path, Number(stats.size));
    return seen(fd, stats, sha256, place.path);
  });
}

/** Reads and hashes what is at the place; null when nothing is there. */
export function readAt(place: Place): Content | null {
  return withOpen(place, undefined, (fd, stats) => {
    const bytes = readOpen(fd, place.path, Number(stats.size));
    return { ...seen(fd, stats, sha256(bytes), place.path), bytes };
  });
}

/** `seeAt` for a path whose folder may be missing too. */
export async function see(root: string, path: string, ours?: SecondNames): Promise<Seen | null> {
  return orNothing(() => withPlace(root, path, (place) => seeAt(place, ours)));
}

export async function read(root: string, path: string): Promise<Content | null> {
  return orNothing(() => withPlace(root, path, readAt));
}

async function orNothing<T>(look: () => Promise<T | null>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if ((error as { code?: string }).code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

function withOpen<T>(
  place: Place,
  ours: SecondNames | undefined,
  use: (fd: number, stats: BigIntStats) => T,
): T | null {
  const fd = openToRead(place);
  if (fd === null) return null;
  try {
    const stats = fstatSync(fd, { bigint: true });
    requirePlain(stats, place.path, ours);
    return use(fd, stats);
  } finally {
    closeSync(fd);
  }
}

export function requirePlain(stats: BigIntStats, shown: string, ours?: SecondNames): void {
  if (!stats.isFile()) refuse('FILE_NOT_REGULAR', `${shown} is not a regular file.`, { path: shown });
  if (stats.nlink > 1n && !ours?.has(fileId(stats)))
    refuse('FILE_HARD_LINKED', `${shown} has more than one name.`, { path: shown });
  if (stats.size > planLimits.file_bytes)
    refuse('PLAN_LIMIT_EXCEEDED', `${shown} has ${stats.size} bytes.`, { path: shown });
}

/** Looks at the open file again: a file that changed while it was read has no one hash. */
export function seen(fd: number, before: BigIntStats, digest: string, shown: string): Seen {
  const after = fstatSync(fd, { bigint: true });
  if (identityOf(before) !== identityOf(after))
    refuse('PLAN_DRIFT', `${shown} changed while it was read.`, { path: shown });
  return {
    state: { sha256: digest, size: Number(after.size), mode: Number(after.mode & 0o7777n) },
    uid: Number(after.uid),
    gid: Number(after.gid),
    mtime_ns: before.mtimeNs,
    atime_ns: before.atimeNs,
    identity: identityOf(after),
  };
}

export function identityOf(stats: BigIntStats): string {
  return `${fileId(stats)}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

const CHUNK_BYTES = 1024 * 1024;

function hashOpen(fd: number, shown: string, size: number): string {
  if (size < CHUNK_BYTES) return sha256(readOpen(fd, shown, size));
  const hash = createHash('sha256');
  eachChunk(fd, shown, size, (chunk) => hash.update(chunk));
  return hash.digest('hex');
}

/** Hands each piece of an open file to `take`. The buffer is used again for the next piece. */
export function eachChunk(
  fd: number,
  shown: string,
  size: number,
  take: (chunk: Uint8Array) => void,
): number {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1));
  let total = 0;
  for (;;) {
    const n = attempt(shown, () => readSync(fd, buffer, 0, buffer.length, total));
    if (n === 0) return total;
    total += n;
    if (total > planLimits.file_bytes) refuse('PLAN_LIMIT_EXCEEDED', `${shown} grew beyond the limit.`);
    take(buffer.subarray(0, n));
  }
}

/** The size is that of a moment ago; `seen` refuses when it is no longer true. */
function readOpen(fd: number, shown: string, size: number): Uint8Array {
  const buffer = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const n = attempt(shown, () => readSync(fd, buffer, length, size - length, length));
    if (n === 0) break;
    length += n;
  }
  return buffer.subarray(0, length);
}

export function sameState(a: FileState | null, b: FileState | null): boolean {
  if (a === null || b === null) return a === b;
  return a.sha256 === b.sha256 && a.size === b.size && a.mode === b.mode;
}

/** An action may depend on a file that it does not change: then only its content is fixed. */
export function isPin({ before, after }: PathChange): boolean {
  return before !== 'unknown' && after !== 'unknown' && sameState(before, after);
}
