import { closeSync, constants, fdatasync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { createDurably, replaceDurably } from '../durable/file.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { ClockMark } from './steady-clock.ts';

/** How far the ledger was when this host last wrote to it. `last` is the hash of the last entry, which covers all others. */
export interface KeptHead {
  readonly origin: string;
  readonly size: number;
  readonly last: Digest;
  /** What the clock said then; null where a server knows the time. */
  readonly mark: ClockMark | null;
}

const FORMAT = 'keyturn-kept-head/1';
const TEXT =
  /^keyturn-kept-head\/1\n([^\n]{1,255})\n(0|[1-9][0-9]{0,15})\n([0-9a-f]{64})\n(.{96})\n[0-9a-f]{16}\n$/;
const MARK = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z) ([0-9a-z-]{1,40}) (\d{1,16}) *$/;
/** One width, so that a later head is never shorter than the one it is written over. */
const MARK_CHARS = 96;

/** The last line shows a file that was written by halves. It proves nothing: a program that may write the file can write it too. */
function textOf({ origin, size, last, mark }: KeptHead): string {
  const words = mark === null ? 'none' : `${mark.at} ${mark.boot_id} ${mark.up_ms}`;
  const text = `${FORMAT}\n${origin}\n${size}\n${last}\n${words.padEnd(MARK_CHARS)}\n`;
  return `${text}${sha256(text).slice(0, 16)}\n`;
}

export function createHeadFile(path: string, head: KeptHead): void {
  createDurably(path, Buffer.from(textOf(head)));
}

/** Puts another head in the place of the one that is there, whatever that one says. */
export function replaceHeadFile(path: string, head: KeptHead): void {
  replaceDurably(path, Buffer.from(textOf(head)));
}

/** Missing or damaged is a refusal: without it, a ledger that was cut off would look like one that is whole. */
export function readHeadFile(path: string, origin: string): KeptHead {
  const head = parsed(path);
  if (head.origin !== origin)
    refuse('KEPT_HEAD_INVALID', `${path} belongs to another ledger, ${head.origin}.`, { path });
  return head;
}

function parsed(path: string): KeptHead {
  for (let look = 1; ; look++) {
    const text = textIn(path);
    const [, origin = '', size, last = '', mark = ''] = TEXT.exec(text) ?? [];
    const head = { origin, size: Number(size), last, mark: markOf(mark) };
    if (Number.isSafeInteger(head.size) && textOf(head) === text) return head;
    if (look === limits.head_looks) refuse('KEPT_HEAD_INVALID', `${path} is damaged.`, { path });
  }
}

function markOf(text: string): ClockMark | null {
  const [, at, boot_id, up_ms] = MARK.exec(text) ?? [];
  return at && boot_id ? { at, boot_id, up_ms: Number(up_ms) } : null;
}

function textIn(path: string): string {
  try {
    return Buffer.from(readRegularFile(path, limits.head_file_bytes).bytes).toString('utf8');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const problem = error.code === 'FILE_NOT_FOUND' ? 'is missing' : `cannot be read (${error.code})`;
    return refuse('KEPT_HEAD_INVALID', `${path} ${problem}.`, { path, found: error.code });
  }
}

/** A head that was written. What it says is durable once `syncHead` has ended. */
export interface WrittenHead {
  readonly path: string;
  readonly fd: number;
}

/**
 * Writes over the head in its place, so that a power cut leaves the old one, the new one, or a damaged line, and never an
 * empty file. A head only grows, so nothing is left behind its end.
 */
export function overwriteHeadFile(path: string, head: KeptHead): WrittenHead {
  let fd: number | null = null;
  try {
    fd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    const bytes = Buffer.from(textOf(head));
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, undefined, done);
    return { path, fd };
  } catch (error) {
    if (fd !== null) closeSync(fd);
    return refuseWrite(path, error);
  }
}

const synced = promisify(fdatasync);

/** Off the main thread: everything else of the process goes on meanwhile. */
export async function syncHead({ path, fd }: WrittenHead): Promise<void> {
  try {
    await synced(fd);
  } catch (error) {
    refuseWrite(path, error);
  }
}

export function closeHead({ fd }: WrittenHead): void {
  closeSync(fd);
}

function refuseWrite(path: string, error: unknown): never {
  const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
  return refuse(errno === 'ENOSPC' ? 'DISK_FULL' : 'WRITE_FAILED', `${path}: ${errno}`, { path, errno });
}
