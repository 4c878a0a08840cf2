import { isAscii, isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { JsonObject } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Form } from './form.ts';

/**
 * Every line of a queue file, each one validated; `null` when there is no such file. With `only`, the lines of that
 * id. One bad line anywhere refuses the whole file: a reader who skipped it could skip the line that says no. A blank
 * line says nothing, and is passed over.
 */
export async function readLines<T extends { readonly id: string }>(
  path: string,
  form: Form<T>,
  only?: string,
): Promise<readonly T[] | null> {
  const fd = openForReading(path);
  if (fd === null) return null;
  try {
    const found: T[] = [];
    for (const candidate of scan(fd, basename(path), form.exact, only)) {
      const line = await parse(candidate, form);
      if (only === undefined || line.id === only) found.push(line);
    }
    return found;
  } finally {
    closeSync(fd);
  }
}

function openForReading(path: string): number | null {
  let fd: number;
  try {
    // Not blocking: a FIFO without a writer must not hang a check.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') refuse('FILE_IS_SYMLINK', `${basename(path)} is a symbolic link.`);
    return refuse('FILE_UNREADABLE', `${basename(path)} cannot be read (${code}).`);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return refuse('FILE_NOT_REGULAR', `${basename(path)} is not a regular file.`);
}

/** A line that must be parsed: it is not in the exact form, or it may be about the id that is looked for. */
interface Candidate {
  readonly text: string;
  readonly place: string;
  readonly exact: boolean;
}

/** Holds every line against the exact form, and yields those that need more than that. */
function* scan(fd: number, name: string, form: string, only: string | undefined): Generator<Candidate> {
  const pattern = new RegExp(`${form}\\r?\\n`, 'y');
  let number = 0;
  for (const text of blocks(fd, name)) {
    // The exact form has no escapes, so a line of this id shows the id as it is.
    let hit = only === undefined ? -1 : text.indexOf(only);
    for (let at = 0; at < text.length; ) {
      number += 1;
      pattern.lastIndex = at;
      const exact = pattern.test(text);
      const end = exact ? pattern.lastIndex : text.indexOf('\n', at) + 1;
      const wanted = hit >= at && hit < end;
      if (wanted) hit = text.indexOf(only as string, end);
      if (wanted || !exact || only === undefined) {
        const line = text.slice(at, end - 1);
        if (!BLANK.test(line)) yield { text: line, place: `${name} line ${number}`, exact };
      }
      at = end;
    }
  }
}

/** As JSON knows white space. Any other character that looks like it is a malformed line. */
const BLANK = /^[ \t\r]*$/;

async function parse<T>({ text, place, exact }: Candidate, form: Form<T>): Promise<T> {
  try {
    const value: unknown = exact ? JSON.parse(text) : await parseStrictly(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      refuse('SHAPE_INVALID', 'The line is not a JSON object.');
    return form.parse(value as JsonObject);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('QUEUE_MALFORMED', `${place}: ${error.message}`, { place, cause: error.code });
  }
}

/** Loaded when a line asks for it: most queues have none, and a small check should cost little. */
async function parseStrictly(text: string): Promise<unknown> {
  const { parseJson } = await import('../canonical/json.ts');
  return parseJson(text, limits.queue_line_bytes);
}

/** The text of the file in blocks of whole lines: memory stays flat over any length. */
function* blocks(fd: number, name: string): Generator<string> {
  const buffer = Buffer.allocUnsafe(limits.read_piece_bytes);
  let kept = 0;
  let total = 0;
  for (;;) {
    const count = readBlock(fd, buffer, kept, name);
    if (count === 0) break;
    total += count;
    if (total > limits.queue_file_bytes)
      refuse('INPUT_TOO_LARGE', `${name} has more than ${limits.queue_file_bytes} bytes.`);
    const filled = kept + count;
    const whole = buffer.lastIndexOf(10, filled - 1) + 1;
    if (filled - whole > limits.queue_line_bytes)
      refuse('QUEUE_MALFORMED', `${name} has a line without an end.`);
    if (whole > 0) yield decode(buffer.subarray(0, whole), name);
    buffer.copyWithin(0, whole, filled);
    kept = filled - whole;
  }
  if (kept > 0) refuse('QUEUE_MALFORMED', `The last line of ${name} has no end.`);
}

function readBlock(fd: number, buffer: Buffer, kept: number, name: string): number {
  try {
    return readSync(fd, buffer, kept, buffer.length - kept, null);
  } catch (error) {
    return refuse('FILE_UNREADABLE', `${name} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function decode(bytes: Buffer, name: string): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) refuse('QUEUE_MALFORMED', `${name} is not valid UTF-8.`);
  return bytes.toString('utf8');
}
