import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync, writeFileSync } from 'node:fs';
import { type ReasonCode, refuse } from '../refusal.ts';

/** The bytes of a file that the person named, or of standard input for `-`. Never more than `max_bytes`. */
export function readInput(path: string, max_bytes: number): Uint8Array {
  const fd = path === '-' ? 0 : open(path);
  try {
    return readAll(fd, path, max_bytes);
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}

function open(path: string): number {
  const fd = openNamed(path);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return refuse('FILE_NOT_REGULAR', `${path} is not a regular file. Standard input is named "-".`);
}

/** Not blocking: a FIFO without a writer must not hang a command. */
function openNamed(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return refuse(
      code === 'ENOENT' ? 'FILE_NOT_FOUND' : 'FILE_UNREADABLE',
      `${path} cannot be opened (${code}).`,
    );
  }
}

function readAll(fd: number, shown: string, max_bytes: number): Uint8Array {
  const chunks: Buffer[] = [];
  for (let total = 0; ; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSome(fd, chunk, shown);
    if (count === 0) return Buffer.concat(chunks);
    total += count;
    if (total > max_bytes) refuse('INPUT_TOO_LARGE', `${shown} has more than ${max_bytes} bytes.`);
    chunks.push(chunk.subarray(0, count));
  }
}

function readSome(fd: number, chunk: Buffer, shown: string): number {
  for (;;) {
    try {
      return readSync(fd, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') refuse('FILE_UNREADABLE', `${shown} cannot be read (${code}).`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/** Creates a file for the person. What exists is never overwritten: it may be the head that proves a forgery. */
export async function writeOutput(
  path: string,
  content: Uint8Array | string | AsyncIterable<Uint8Array>,
  mode = 0o644,
): Promise<void> {
  let fd: number;
  try {
    fd = openSync(path, 'wx', mode);
  } catch (error) {
    return refuse(...whyNotWritten(path, error));
  }
  try {
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(fd, content);
    else for await (const chunk of content) writeFileSync(fd, chunk);
  } catch (error) {
    // A part of it could be taken for all of it.
    unlinkSync(path);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    refuse(...whyNotWritten(path, error));
  } finally {
    closeSync(fd);
  }
}

/**
 * A new file, taken before the content is made and gone again if that fails: a human who asked for a token in a file must not
 * sign for one that then cannot be written. Only its owner can read it.
 */
export async function writeSecret<T>(path: string, make: () => Promise<readonly [string, T]>): Promise<T> {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    return refuse(...whyNotWritten(path, error));
  }
  try {
    const [text, made] = await make();
    writeFileSync(fd, text);
    return made;
  } catch (error) {
    unlinkSync(path);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return refuse(...whyNotWritten(path, error));
  } finally {
    closeSync(fd);
  }
}

function whyNotWritten(path: string, error: unknown): [ReasonCode, string] {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') return ['DISK_FULL', `${path}: the disk is full.`];
  return [
    'WRITE_FAILED',
    code === 'EEXIST'
      ? `${path} exists already. It is never overwritten: choose another name.`
      : `${path} cannot be written (${code}).`,
  ];
}
