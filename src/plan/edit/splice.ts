import { isUtf8 } from 'node:buffer';
import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { ownMemory } from '../reused-memory.ts';

/** One change: what is from `start` to `end` becomes `text`. Places count UTF-16 units of the text without its mark. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What an operation wants: where the text changes, and what to tell the reader. */
export interface Edit {
  readonly splices: readonly Splice[];
  readonly output: string;
}

export interface SourceText {
  readonly bytes: Buffer;
  /** The byte order mark is no part of the text, and every edit keeps it. */
  readonly mark_bytes: number;
}

const MARK = Buffer.from('\uFEFF');

/** Opens a file as text. Binary and broken files are refused: an edit there would change more than it shows. */
export function openText(content: Uint8Array, max_bytes: number = editLimits.file_bytes): SourceText {
  if (content.length > max_bytes) refuse('INPUT_TOO_LARGE', `The file has ${content.length} bytes.`);
  if (content.includes(0)) refuse('EDIT_BINARY');
  if (!isUtf8(content)) refuse('INPUT_NOT_UTF8');
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  return { bytes, mark_bytes: MARK.equals(bytes.subarray(0, MARK.length)) ? MARK.length : 0 };
}

/** As a string of its own in memory: only for an edit that needs one. */
export function textOf({ bytes, mark_bytes }: SourceText): string {
  return bytes.toString('utf8', mark_bytes);
}

/**
 * The bytes with the splices applied. Everything outside them is copied, never written again, so nothing else can
 * change. The size is known before a byte is copied: many matches of a small pattern can ask for terabytes.
 */
export function applySplices(
  { bytes }: SourceText,
  splices: readonly ByteSplice[],
  take = ownMemory,
): Uint8Array {
  let size = bytes.length;
  for (const { from, to, text } of splices) size += Buffer.byteLength(text) - (to - from);
  if (size > editLimits.file_bytes) refuse('EDIT_RESULT_TOO_LARGE', `The result would have ${size} bytes.`);
  const result = take(size);
  let read = 0;
  let written = 0;
  for (const { from, to, text } of splices) {
    written += bytes.copy(result, written, read, from);
    written += result.write(text, written, 'utf8');
    read = to;
  }
  bytes.copy(result, written, read);
  return result;
}

/** The same change in bytes of the file. */
export interface ByteSplice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Where the splices are in the bytes. They must stand in order and apart. */
export function inBytes(source: SourceText, text: string, splices: readonly Splice[]): ByteSplice[] {
  const ascii = text.length === source.bytes.length - source.mark_bytes;
  let at = 0;
  let byte = source.mark_bytes;
  const advance = (to: number): number => {
    if (to < at) refuse('INTERNAL', 'The parts of an edit overlap.');
    byte += ascii ? to - at : Buffer.byteLength(text.slice(at, to));
    at = to;
    return byte;
  };
  return splices.map(({ start, end, text }) => ({ from: advance(start), to: advance(end), text }));
}
