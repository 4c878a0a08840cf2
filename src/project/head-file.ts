import { closeSync, constants, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { createDurably, replaceDurably } from '../durable/file.ts';
import { Refusal, refuse } from '../refusal.ts';

/** How far the ledger was when this host last wrote to it. `last` is the hash of the last entry, which covers all others. */
export interface KeptHead {
  readonly origin: string;
  readonly size: number;
  readonly last: Digest;
}

const FORMAT = 'keyturn-kept-head/1';
const TEXT = /^keyturn-kept-head\/1\n([^\n]{1,255})\n(0|[1-9][0-9]{0,15})\n([0-9a-f]{64})\n([0-9a-f]{16})\n$/;
const MOST_BYTES = 1024;
/** A reader and a writer can meet in the middle of a line. The writer is done at once, so the second look is whole. */
const LOOKS = 3;

/** The last line shows a file that was written by halves. It proves nothing: whoever may write the file can write it. */
function textOf({ origin, size, last }: KeptHead): string {
  const text = `${FORMAT}\n${origin}\n${size}\n${last}\n`;
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
    const [, origin, size, last] = TEXT.exec(text) ?? [];
    const head = { origin: origin ?? '', size: Number(size), last: last ?? '' };
    if (Number.isSafeInteger(head.size) && textOf(head) === text) return head;
    if (look === LOOKS) refuse('KEPT_HEAD_INVALID', `${path} is damaged.`, { path });
  }
}

function textIn(path: string): string {
  try {
    return Buffer.from(readRegularFile(path, MOST_BYTES).bytes).toString('utf8');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const problem = error.code === 'FILE_NOT_FOUND' ? 'is missing' : `cannot be read (${error.code})`;
    return refuse('KEPT_HEAD_INVALID', `${path} ${problem}.`, { path, found: error.code });
  }
}

/**
 * Writes over the head in its place, so that a power cut leaves the old one, the new one, or a damaged line, and never an
 * empty file. A head only grows, so nothing is left behind its end.
 */
export function overwriteHeadFile(path: string, head: KeptHead, { sync }: { sync: boolean }): void {
  try {
    const fd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      writeSync(fd, Buffer.from(textOf(head)), 0, undefined, 0);
      if (sync) fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
    refuse(errno === 'ENOSPC' ? 'DISK_FULL' : 'WRITE_FAILED', `${path}: ${errno}`, { path, errno });
  }
}
