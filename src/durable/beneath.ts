import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';

/**
 * Reading files that somebody else may be changing.
 *
 * The attacker swaps a folder for a symbolic link between our check and our open. So nothing is checked by name: each
 * component is opened with O_NOFOLLOW from the descriptor of the one before, through /proc/self/fd, and what was opened
 * is what is looked at. Off Linux there is no such folder: components are then looked up by name again, and the promise
 * is weaker.
 */

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
// O_NONBLOCK: opening a named pipe must not wait for its writer. O_NOCTTY: no terminal becomes ours.
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

export interface FileRead {
  readonly bytes: Uint8Array;
  /** The permission bits. */
  readonly mode: number;
}

/** Reads one untrusted path whole: not a link itself, regular, and no larger than `max_bytes`. */
export function readRegularFile(path: string, max_bytes: number): FileRead {
  const fd = openOrRefuse(path, path, FILE);
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

/** Refuses a relative path that is not one plain walk downwards. Returns its components. */
export function componentsBeneath(relative: string): string[] {
  if (relative === '') refuse('PATH_ESCAPES', 'The path is empty.');
  if (/[\x00-\x1f\x7f]/.test(relative)) refuse('PATH_ESCAPES', 'The path has a control character.');
  const components = relative.split('/');
  for (const name of components) {
    if (name === '' || name === '.' || name === '..') {
      refuse('PATH_ESCAPES', `${JSON.stringify(relative)} is not a plain relative path.`);
    }
  }
  return components;
}

function openBeneath(root: string, relative: string): number {
  const components = componentsBeneath(relative);
  // The root itself is ours to choose, so a link may lead to it.
  let fd = openOrRefuse(root, root, O_RDONLY | O_DIRECTORY);
  let folder = root;
  for (const [i, name] of components.entries()) {
    const last = i === components.length - 1;
    try {
      const next = openOrRefuse(inside(fd, folder, name), relative, last ? FILE : FOLDER);
      closeSync(fd);
      fd = next;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    folder = join(folder, name);
  }
  return fd;
}

function inside(fd: number, folder: string, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}/${name}` : join(folder, name);
}

function openOrRefuse(path: string, shown: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    return refuse(whyNotOpened(path, (error as NodeJS.ErrnoException).code), `${shown} cannot be opened.`, {
      path: shown,
      errno: (error as NodeJS.ErrnoException).code ?? 'unknown',
    });
  }
}

function whyNotOpened(path: string, errno: string | undefined): ReasonCode {
  if (errno === 'ENOENT') return 'FILE_NOT_FOUND';
  if (errno === 'ELOOP') return 'FILE_IS_SYMLINK';
  // Linux says ENOTDIR for a link that should have been a folder. Only the reason is looked up by name here.
  if (errno === 'ENOTDIR') return isLink(path) ? 'FILE_IS_SYMLINK' : 'FILE_NOT_REGULAR';
  if (errno === 'ENXIO') return 'FILE_NOT_REGULAR'; // a socket
  return 'FILE_UNREADABLE';
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function readOpenFile(fd: number, shown: string, max_bytes: number): FileRead {
  const stats: Stats = fstatSync(fd);
  if (!stats.isFile()) refuse('FILE_NOT_REGULAR', `${shown} is not a regular file.`);
  if (stats.size > max_bytes) refuse('INPUT_TOO_LARGE', `${shown} has ${stats.size} bytes.`);
  try {
    return { bytes: readBounded(fd, stats.size, shown, max_bytes), mode: stats.mode & 0o7777 };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return refuse('FILE_UNREADABLE', `${shown}: ${(error as NodeJS.ErrnoException).code}`);
  }
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
