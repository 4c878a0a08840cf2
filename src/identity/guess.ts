import { brotliDecompressSync } from 'node:zlib';
import { clearableCopy } from '../canonical/clearable.ts';
import { isUtf8Continuation } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { KNOWN_PASSWORDS } from './known-passwords.ts';

/** What a guesser needs for one piece, as a power of ten. Conservative: a letter by itself counts no more than a digit. */
const COST = { letter: 1, word: 4, known: 1, row: 2, year: 2, again: 1 } as const;

const LONGEST_WORD = 32;
const ROWS = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const ROW_LETTERS_MIN = 3;

interface Piece {
  readonly end: number;
  readonly cost: number;
}

/**
 * How many guesses a passphrase costs, as a power of ten: the cheapest way to put it together from common passwords, names that
 * are known, rows of a keyboard, years, repetitions and single letters. Works on bytes, because no string can be cleared.
 */
export function guessesOf(bytes: Uint8Array, known: readonly string[]): number {
  const common = hashesOf(brotliDecompressSync(Buffer.from(KNOWN_PASSWORDS, 'base64')));
  const names = known.map((name) => Buffer.from(name.toLowerCase()));
  const plain = clearableCopy(bytes.subarray(0, limits.passphrase_judged_bytes));
  for (const [at, byte] of plain.entries()) plain[at] = lower(byte);
  const read = clearableCopy(plain);
  for (const [at, byte] of read.entries()) read[at] = LOOKALIKES[byte] ?? byte;
  try {
    return Math.min(cheapest(plain, common, names), cheapest(read, common, names));
  } finally {
    plain.fill(0);
    read.fill(0);
  }
}

function cheapest(text: Uint8Array, common: Uint32Array, names: readonly Uint8Array[]): number {
  const cost = new Array<number>(text.length + 1).fill(Number.POSITIVE_INFINITY);
  cost[0] = 0;
  for (let at = 0; at < text.length; at += 1) {
    const pieces = [
      // A character of several bytes counts once.
      { end: at + 1, cost: isUtf8Continuation(text[at]!) ? 0 : COST.letter },
      ...wordsAt(text, at, common),
      ...knownAt(text, at, names),
      ...rowsAt(text, at),
      ...againAt(text, at),
    ];
    for (const { end, cost: more } of pieces) cost[end] = Math.min(cost[end]!, cost[at]! + more);
  }
  return cost[text.length]!;
}

function wordsAt(text: Uint8Array, from: number, common: Uint32Array): Piece[] {
  const found: Piece[] = [];
  let hash = FNV_BASIS;
  for (let end = from + 1; end <= Math.min(text.length, from + LONGEST_WORD); end += 1) {
    hash = fnv(hash, text[end - 1]!);
    if (end - from > 3 && holds(common, hash)) found.push({ end, cost: COST.word });
  }
  return found;
}

function knownAt(text: Uint8Array, from: number, names: readonly Uint8Array[]): Piece[] {
  return names
    .filter((name) => name.every((byte, index) => text[from + index] === byte))
    .map((name) => ({ end: from + name.length, cost: COST.known }));
}

function rowsAt(text: Uint8Array, from: number): Piece[] {
  const found = DIRECTIONS.map((row) => sharedLength(text, from, row))
    .filter((length) => length >= ROW_LETTERS_MIN)
    .map((length) => ({ end: from + length, cost: COST.row }));
  return isYear(text, from) ? [...found, { end: from + 4, cost: COST.year }] : found;
}

const DIRECTIONS = ROWS.flatMap((row) => [Buffer.from(row), Buffer.from(row).reverse()]);

/** How far the text goes along a row that holds its letter. */
function sharedLength(text: Uint8Array, from: number, row: Uint8Array): number {
  const start = row.indexOf(text[from]!);
  if (start === -1) return 0;
  let length = 1;
  while (start + length < row.length && text[from + length] === row[start + length]) length += 1;
  return length;
}

function isYear(text: Uint8Array, from: number): boolean {
  const [a = 0, b = 0, c = 0, d = 0] = text.subarray(from, from + 4);
  const is_century = (a === ONE && b === NINE) || (a === TWO && b === ZERO);
  return is_century && isDigit(c) && isDigit(d);
}

const [ZERO, ONE, TWO, NINE] = [...Buffer.from('0129')] as [number, number, number, number];
const isDigit = (byte: number) => byte >= ZERO && byte <= NINE;

/** The same as before, once or several times. */
function againAt(text: Uint8Array, from: number): Piece[] {
  const found: Piece[] = [];
  for (let size = 1; size <= from; size += 1) {
    let end = from;
    while (end < text.length && text[end] === text[end - size]) end += 1;
    if (end - from >= size) found.push({ end, cost: COST.again });
  }
  return found;
}

const lower = (byte: number) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);

const LOOKALIKES: Readonly<Record<number, number>> = Object.fromEntries(
  Object.entries({
    '0': 'o',
    '1': 'i',
    '3': 'e',
    '4': 'a',
    '5': 's',
    '7': 't',
    '@': 'a',
    $: 's',
    '!': 'i',
  }).map(([sign, letter]) => [sign.charCodeAt(0), letter.charCodeAt(0)]),
);

/** FNV-1a of 32 bits. One text in 80,000 shares the number of a common password, and then only counts a little less. */
const FNV_BASIS = 0x811c9dc5;
const fnv = (hash: number, byte: number) => Math.imul(hash ^ byte, 0x01000193) >>> 0;

/** In order, to be searched. */
function hashesOf(lines: Uint8Array): Uint32Array {
  const hashes = new Uint32Array(lines.length);
  let count = 0;
  let hash = FNV_BASIS;
  for (let at = 0; at <= lines.length; at += 1) {
    const byte = lines[at] ?? LINE_FEED;
    if (byte === LINE_FEED) hashes[count++] = hash;
    hash = byte === LINE_FEED ? FNV_BASIS : fnv(hash, byte);
  }
  return hashes.subarray(0, count).sort();
}

const LINE_FEED = 0x0a;

function holds(sorted: Uint32Array, wanted: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}
