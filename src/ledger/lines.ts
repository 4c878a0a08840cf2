import { refuse } from '../refusal.ts';

const NEWLINE = 10;

/**
 * Lines in batches, without their newlines. Holds one chunk and one unfinished line of at most `max_line_bytes`, never more;
 * how long a line may be that ended, its reader knows.
 */
export async function* streamLines(
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
