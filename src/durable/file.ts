import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../refusal.ts';
import { type Errnos, fileCall } from './walk.ts';

/**
 * The durable-file verbs. Each returns only when its change survives a power cut, and refuses otherwise: after a
 * failed fsync it is unknown what the disk holds, so nothing may be acknowledged. All calls are synchronous: a crash
 * test can then kill between any two of them.
 */

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY, O_DIRECTORY, O_RDONLY } = constants;

/** Creates a file that must not exist. */
export function createDurably(path: string, bytes: Uint8Array, mode = 0o600): void {
  durably(path, () => {
    writeNewFile(path, bytes, mode);
    syncFolder(dirname(path));
  });
}

/** The same, from parts that are made one after another. */
export async function streamDurably(
  path: string,
  parts: AsyncIterable<Uint8Array>,
  mode = 0o600,
): Promise<void> {
  let fd = -1;
  durably(path, () => {
    fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  });
  try {
    for await (const bytes of parts) durably(path, () => writeAll(fd, bytes));
    durably(path, () => {
      fchmodSync(fd, mode);
      fsyncSync(fd);
      syncFolder(dirname(path));
    });
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Puts new bytes under a name, all or nothing: a reader sees the old file or the new one. */
export function replaceDurably(path: string, bytes: Uint8Array, mode = 0o600): void {
  const folder = dirname(path);
  // Unpredictable and exclusive: an attacker cannot put a link where the temporary file will be.
  const temporary = join(folder, `.${basename(path)}.${randomBytes(12).toString('hex')}`);
  durably(path, () => {
    writeNewFile(temporary, bytes, mode);
    try {
      renameSync(temporary, path);
    } catch (error) {
      unlinkSync(temporary);
      throw error;
    }
    syncFolder(folder);
  });
}

/**
 * Appends one record in one write, to an open descriptor (opened with O_APPEND) or to a path: all of it or nothing.
 */
export function appendDurably(target: number | string, bytes: Uint8Array, mode = 0o600): void {
  durably(typeof target === 'string' ? target : 'the open file', () => {
    if (typeof target === 'string') appendToPath(target, bytes, mode);
    else appendRecord(target, bytes);
  });
}

/** Removes a file, for good. */
export function removeDurably(path: string): void {
  durably(path, () => {
    unlinkSync(path);
    syncFolder(dirname(path));
  });
}

/** Gives a file or a folder another name in the same folder. A name that is taken by a folder with content is refused. */
export function moveDurably(from: string, to: string): void {
  durably(to, () => {
    renameSync(from, to);
    syncFolder(dirname(to));
  });
}

/** Makes one folder; the one above it must exist. A folder that exists already is refused. */
export function makeFolderDurably(path: string, mode = 0o700): void {
  durably(path, () => {
    mkdirSync(path, mode);
    syncFolder(path);
    syncFolder(dirname(path));
  });
}

function writeNewFile(path: string, bytes: Uint8Array, mode: number): void {
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    writeAll(fd, bytes);
    fchmodSync(fd, mode); // whatever the umask says: the mode is part of the promise
    fsyncSync(fd);
  } catch (error) {
    // The file is ours and half written. A name that leads to half a file is worse than none.
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function appendToPath(path: string, bytes: Uint8Array, mode: number): void {
  const { fd, created } = openForAppend(path, mode);
  try {
    appendRecord(fd, bytes);
  } finally {
    closeSync(fd);
  }
  if (created) syncFolder(dirname(path));
}

function appendRecord(fd: number, bytes: Uint8Array): void {
  const before = fstatSync(fd).size;
  const written = writeSync(fd, bytes);
  if (written !== bytes.length) {
    takeBack(fd, before, written);
    refuse('DISK_FULL', `Only ${written} of ${bytes.length} bytes could be appended.`);
  }
  fdatasyncSync(fd);
}

/** A disk that fills up takes part of a record. Half a line would make every later check fail, so it is removed, unless another process has appended since. */
function takeBack(fd: number, before: number, written: number): void {
  if (fstatSync(fd).size === before + written) ftruncateSync(fd, before);
}

function openForAppend(path: string, mode: number): { fd: number; created: boolean } {
  const flags = O_WRONLY | O_APPEND | O_NOFOLLOW;
  try {
    return { fd: openSync(path, flags), created: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Not exclusive: two processes may both find it missing, and both may append.
  return { fd: openSync(path, flags | O_CREAT, mode), created: true };
}

/** A new name is durable only when its folder is. */
export function syncFolder(path: string): void {
  const fd = openSync(path, O_RDONLY | O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Whatever else went wrong, the change is not known to be durable: WRITE_FAILED. */
const DURABLE: Errnos = { codes: { ENOSPC: 'DISK_FULL', EDQUOT: 'DISK_FULL' }, fallback: 'WRITE_FAILED' };

const durably = (path: string, act: () => void): void => fileCall(path, act, DURABLE);
