import { decodeUtf8 } from '../../canonical/json.ts';
import { refuse } from '../../refusal.ts';
import { bounds } from './bounds.ts';

/** One change: the text from `start` to `end` becomes `text`. Places count UTF-16 units of the text without its mark. */
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
  readonly bytes: Uint8Array;
  /** Without the byte order mark, which every edit keeps. */
  readonly text: string;
  readonly mark_bytes: number;
}

/** Opens a file as text. Binary and broken files are refused: an edit there would change more than it shows. */
export function openText(bytes: Uint8Array, max_bytes: number = bounds.file_bytes): SourceText {
  if (bytes.length > max_bytes) refuse('INPUT_TOO_LARGE', `The file has ${bytes.length} bytes.`);
  if (bytes.includes(0)) refuse('EDIT_BINARY');
  const text = decodeUtf8(bytes, max_bytes);
  const marked = text.startsWith('\uFEFF');
  return { bytes, text: marked ? text.slice(1) : text, mark_bytes: marked ? 3 : 0 };
}

/**
 * The bytes with the splices applied. Everything outside them is copied, never written anew, so nothing else can
 * change. The size is known before a byte is copied: many matches of a small pattern can ask for terabytes.
 */
export function applySplices(source: SourceText, splices: readonly Splice[]): Uint8Array {
  const places = splices.map((splice) => ({ ...splice, bytes: Buffer.byteLength(splice.text) }));
  const ranges = byteRanges(source, places);
  let size = source.bytes.length;
  for (const [i, place] of places.entries()) size += place.bytes - (ranges[i]!.end - ranges[i]!.start);
  if (size > bounds.file_bytes) refuse('EDIT_RESULT_TOO_LARGE', `The result would have ${size} bytes.`);
  const result = new Uint8Array(size);
  const writer = Buffer.from(result.buffer);
  let read = 0;
  let written = 0;
  for (const [i, { start, end }] of ranges.entries()) {
    result.set(source.bytes.subarray(read, start), written);
    written += start - read;
    written += writer.write(places[i]!.text, written, 'utf8');
    read = end;
  }
  result.set(source.bytes.subarray(read), written);
  return result;
}

/** Where the splices are in the bytes. They must stand in order and apart. */
function byteRanges(source: SourceText, splices: readonly Splice[]): { start: number; end: number }[] {
  const ascii = source.text.length === source.bytes.length - source.mark_bytes;
  let at = 0;
  let byte = source.mark_bytes;
  const advance = (to: number): number => {
    if (to < at) refuse('INTERNAL', 'The parts of an edit overlap.');
    byte += ascii ? to - at : Buffer.byteLength(source.text.slice(at, to));
    at = to;
    return byte;
  };
  return splices.map(({ start, end }) => ({ start: advance(start), end: advance(end) }));
}
