import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, futimesSync, writeSync } from 'node:fs';
import {
  attempt,
  createAt,
  openToRead,
  type Place,
  removeAt,
  syncOpen,
} from '../../durable/beneath-write.ts';
import { refuse } from '../../refusal.ts';
import { eachChunk, requirePlain, type Seen, seen } from './see.ts';

/** What a new file gets besides its content. */
export interface Attributes {
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Nobody else works meanwhile, so a wait off the main thread would win nothing and cost a switch. */
  readonly alone?: boolean;
  readonly times?: { readonly atime_ns: bigint; readonly mtime_ns: bigint } | undefined;
}

/**
 * Writes a complete file under a temporary name in the folder of the place and returns when its content is on disk. What
 * follows is one rename: a reader, or a crash, meets the old file or the new one.
 */
export async function stageBytes(
  place: Place,
  temporary: string,
  bytes: Uint8Array,
  attributes: Attributes,
): Promise<void> {
  await stage(place, temporary, attributes, (fd) => writeAll(fd, bytes));
}

/** Copies an open file and hashes it on the way. The caller compares the hash before it puts the copy anywhere. */
export async function stageCopy(
  place: Place,
  temporary: string,
  from: Place,
  attributes: (source: Seen) => Attributes,
): Promise<Seen | null> {
  const source_fd = openToRead(from);
  if (source_fd === null) return null;
  try {
    const stats = attempt(from.path, () => fstatSync(source_fd, { bigint: true }));
    requirePlain(stats, from.path);
    let source: Seen | undefined;
    await stage(
      place,
      temporary,
      () => attributes(source!),
      (fd) => {
        const hash = createHash('sha256');
        eachChunk(source_fd, from.path, Number(stats.size), (chunk) => {
          hash.update(chunk);
          writeAll(fd, chunk);
        });
        source = seen(source_fd, stats, hash.digest('hex'), from.path);
      },
    );
    return source!;
  } finally {
    closeSync(source_fd);
  }
}

async function stage(
  place: Place,
  temporary: string,
  attributes: Attributes | (() => Attributes),
  fill: (fd: number) => void,
): Promise<void> {
  const fd = createAt(place, temporary);
  try {
    let alone = false;
    attempt(place.path, () => {
      fill(fd);
      const wanted = typeof attributes === 'function' ? attributes() : attributes;
      dress(fd, place.path, wanted);
      alone = wanted.alone ?? false;
    });
    if (alone) attempt(place.path, () => fsyncSync(fd));
    else await syncOpen(fd, place.path);
  } catch (error) {
    removeAt(place, temporary);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** The owner first: changing it clears bits of the mode. The times last: everything else changes them. */
function dress(fd: number, shown: string, { mode, owner, times }: Attributes): void {
  if (owner) {
    const own = fstatSync(fd);
    if (own.uid !== owner.uid || own.gid !== owner.gid) giveTo(fd, shown, owner);
  }
  fchmodSync(fd, mode);
  if (times) futimesSync(fd, seconds(times.atime_ns), seconds(times.mtime_ns));
}

function giveTo(fd: number, shown: string, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    refuse('PERMISSION_DENIED', `${shown} belongs to another user and would change hands.`, { path: shown });
  }
}

/**
 * Node takes seconds as a double and cuts them to whole microseconds. Half a microsecond more, so that a double just
 * below the wanted one is not cut to the microsecond before. What is below a microsecond is lost.
 */
function seconds(ns: bigint): number {
  return (Number(ns / 1000n) + 0.5) / 1e6;
}
