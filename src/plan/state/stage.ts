import { closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, futimesSync, writeSync } from 'node:fs';
import {
  createAt,
  openToRead,
  type Place,
  pathForChild,
  removeAt,
  syncOpen,
} from '../../durable/beneath-write.ts';
import { fileCall } from '../../durable/walk.ts';
import { setTimes, type Times } from '../../effect/attributes.ts';
import { refuse } from '../../refusal.ts';
import { beginLook, endLook, readThrough, type Seen } from './see.ts';

/** What a new file gets besides its content. */
export interface NewFileAttributes {
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  readonly times?: Times | undefined;
}

export interface Company {
  /** Gives the file what only a child can give it, before it is on the disk. */
  readonly wear?: ((name: string) => Promise<void>) | undefined;
  /** No other action runs meanwhile, so a sync off the main thread would only cost a switch. */
  readonly alone?: boolean;
}

/**
 * Writes a complete file under a temporary name in the folder of the place and returns when its content is on disk. What
 * follows is one rename: a reader, or a crash, meets the old file or the new one.
 */
export async function stageBytes(
  place: Place,
  temporary: string,
  bytes: Uint8Array,
  { alone = false, wear, ...attributes }: NewFileAttributes & Company,
): Promise<void> {
  const fill = (fd: number) => {
    writeAll(fd, bytes);
    dress(fd, place.path, attributes);
  };
  await stage(place, temporary, { alone, wear }, fill);
}

/** Copies an open file and hashes it on the way. The caller compares the hash before it puts the copy anywhere. */
export async function stageCopy(
  place: Place,
  temporary: string,
  from: Place,
  attributes: (source: Seen) => NewFileAttributes,
  wear?: (source: Seen, name: string) => Promise<void>,
): Promise<Seen | null> {
  const source_fd = openToRead(from);
  if (source_fd === null) return null;
  try {
    let source: Seen | undefined;
    let dressed: NewFileAttributes | undefined;
    const finish = async (name: string) => {
      await wear?.(source!, name);
      const { times } = dressed!;
      if (times && !(isPlainTime(times.atime_ns) && isPlainTime(times.mtime_ns)))
        await setTimes(pathForChild(place, name), times);
    };
    await stage(place, temporary, { wear: finish }, (fd) => {
      const look = beginLook(source_fd, from.path);
      const read = readThrough(look, (piece) => writeAll(fd, piece));
      source = endLook(look, read);
      dressed = attributes(source);
      dress(fd, place.path, dressed);
    });
    return source!;
  } finally {
    closeSync(source_fd);
  }
}

async function stage(
  place: Place,
  temporary: string,
  { alone = false, wear }: Company,
  fill: (fd: number) => void,
): Promise<void> {
  const fd = createAt(place, temporary);
  try {
    fileCall(place.path, () => fill(fd));
    await wear?.(temporary);
    if (alone) fileCall(place.path, () => fsyncSync(fd));
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
function dress(fd: number, shown: string, { mode, owner, times }: NewFileAttributes): void {
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
    refuse('PERMISSION_DENIED', `${shown} belongs to another user and would change its owner.`, {
      path: shown,
    });
  }
}

/** Node takes a time before 1970 for none, and a double cannot hold the microseconds of one that is far in the future. */
function isPlainTime(ns: bigint): boolean {
  return ns >= 0n && ns < 2n ** 32n * 1_000_000_000n;
}

/**
 * Node takes seconds as a double and cuts them to whole microseconds. Half a microsecond more, so that a double just
 * below the wanted one is not cut to the microsecond before. What is below a microsecond is lost.
 */
function seconds(ns: bigint): number {
  return (Number(ns / 1000n) + 0.5) / 1e6;
}
