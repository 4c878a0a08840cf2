/** How far two contents are the same, from the front and from the back. Blocks first: most of a file is not changed. */

const BLOCK_BYTES = 16_384;

export function equalHead(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at + BLOCK_BYTES <= length && sameBytes(a, at, b, at)) at += BLOCK_BYTES;
  while (at < length && a[at] === b[at]) at += 1;
  return at;
}

/** At most `limit` bytes: what counts as the head must not count twice. */
export function equalTail(a: Uint8Array, b: Uint8Array, limit: number): number {
  let tail = 0;
  const next = () => tail + BLOCK_BYTES;
  while (next() <= limit && sameBytes(a, a.length - next(), b, b.length - next())) tail = next();
  while (tail < limit && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return tail;
}

function sameBytes(a: Uint8Array, a_at: number, b: Uint8Array, b_at: number): boolean {
  return Buffer.compare(a.subarray(a_at, a_at + BLOCK_BYTES), b.subarray(b_at, b_at + BLOCK_BYTES)) === 0;
}

export function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

export const NEWLINE = 10;
