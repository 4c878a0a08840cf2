import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Digest } from '../canonical/digest.ts';
import { limits } from '../limits.ts';

/** The first bytes of a file that is only ever appended to. */
export interface Beginning {
  readonly bytes: number;
  readonly sha256: Digest;
}

/** All that the file holds now. The caller holds the lock and has just read the file whole. */
export function beginningOf(path: string): Beginning {
  return withFile(path, (fd) => {
    const bytes = fstatSync(fd).size;
    return { bytes, sha256: digestOf(fd, bytes) };
  });
}

/** Whether the file still begins with that. A file that is gone begins with nothing. */
export function beginsWith(path: string, { bytes, sha256 }: Beginning): boolean {
  try {
    return withFile(path, (fd) => digestOf(fd, bytes) === sha256);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function withFile<T>(path: string, act: (fd: number) => T): T {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return act(fd);
  } finally {
    closeSync(fd);
  }
}

/** Of the first `bytes`, or of fewer when the file ends before. */
function digestOf(fd: number, bytes: number): Digest {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(limits.read_piece_bytes);
  for (let at = 0; at < bytes; ) {
    const count = readSync(fd, block, 0, Math.min(block.length, bytes - at), at);
    if (count === 0) break;
    hash.update(block.subarray(0, count));
    at += count;
  }
  return hash.digest('hex');
}
