import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Refusal, refuse } from '../refusal.ts';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

/** The bytes of a regular file, or of standard input for `-`, in chunks. */
export async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    if (path === '-') yield* process.stdin as AsyncIterable<Uint8Array>;
    else yield* (await openRegular(path)).createReadStream({ highWaterMark: CHUNK_BYTES });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Refusal) throw error;
    if (code === 'ENOENT') refuse('FILE_NOT_FOUND', `${path} does not exist.`);
    if (code !== undefined) refuse('FILE_UNREADABLE', `${path} cannot be read (${code}).`);
    throw error;
  }
}

/** Not blocking: a FIFO that nobody writes must not hang an auditor. */
async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return refuse('FILE_NOT_REGULAR', `${path} is not a regular file.`);
}

/**
 * Lines in batches, without their newlines. Holds one chunk and one unfinished line of at most `max_line_bytes`, never more;
 * how long a line may be that ended, its reader knows.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  max_line_bytes: () => number,
): AsyncGenerator<Buffer[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    yield lines;
    if (rest.length > max_line_bytes())
      refuse('EXPORT_MALFORMED', `A line is longer than ${max_line_bytes()} bytes.`);
  }
  if (rest.length > 0) refuse('EXPORT_MALFORMED', 'The last line has no end. The file is cut off.');
}
