import { closeSync, constants, fstatSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { refuse } from '../refusal.ts';
import { componentsBeneath, fileCall, inside, openAt, READING, walk } from './walk.ts';

/** Reading files that another process may be changing. What was opened is what is looked at. */

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
// O_NONBLOCK: opening a named pipe must not wait for its writer. O_NOCTTY: no terminal becomes ours.
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

export interface FileRead {
  readonly bytes: Uint8Array;
  /** The permission bits. */
  readonly mode: number;
  /** The owner. */
  readonly uid: number;
}

/** Reads one untrusted path whole: not a link itself, regular, and no larger than `max_bytes`. */
export function readRegularFile(path: string, max_bytes: number): FileRead {
  const fd = openAt(path, path, FILE, READING);
  try {
    return readOpenFile(fd, path, max_bytes);
  } finally {
    closeSync(fd);
  }
}

/** Reads a file beneath a folder. No component may be a link, and the file may have no second name. */
export function readFileBeneath(root: string, relative: string, max_bytes: number): FileRead {
  const fd = openBeneath(root, relative);
  try {
    const stats = fstatSync(fd);
    if (stats.isFile() && stats.nlink > 1) refuse('FILE_HARD_LINKED', `${relative} has more than one name.`);
    return readOpenFile(fd, relative, max_bytes);
  } finally {
    closeSync(fd);
  }
}

function openBeneath(root: string, relative: string): number {
  const components = componentsBeneath(relative);
  const name = components.pop()!;
  const folder_fd = walk(root, components, relative, READING);
  try {
    return openAt(inside(folder_fd, join(root, ...components), name), relative, FILE, READING);
  } finally {
    closeSync(folder_fd);
  }
}

function readOpenFile(fd: number, shown: string, max_bytes: number): FileRead {
  const stats: Stats = fstatSync(fd);
  if (!stats.isFile()) refuse('FILE_NOT_REGULAR', `${shown} is not a regular file.`);
  if (stats.size > max_bytes)
    refuse('INPUT_TOO_LARGE', `${shown} has ${stats.size} bytes, and ${max_bytes} are accepted.`);
  const bytes = fileCall(shown, () => readBounded(fd, stats.size, shown, max_bytes), READING);
  return { bytes, mode: stats.mode & 0o7777, uid: stats.uid };
}

/** The size is a hint: the file may grow while it is read, and a file under /proc says 0. */
function readBounded(fd: number, size_hint: number, shown: string, max_bytes: number): Uint8Array {
  let buffer = Buffer.allocUnsafe(Math.max(size_hint + 1, 4096));
  let length = 0;
  for (;;) {
    const n = readSync(fd, buffer, length, buffer.length - length, length);
    if (n === 0) return buffer.subarray(0, length);
    length += n;
    if (length > max_bytes) refuse('INPUT_TOO_LARGE', `${shown} has more than ${max_bytes} bytes.`);
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}
