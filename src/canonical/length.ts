import { limits } from '../limits.ts';

/** A number with an exponent, or what looks like one in a string. */
const EXPONENT = /(?:^|[:,[\s])-?\d[\d.]*[eE]/;

/**
 * Whether a well-formed text is the canonical one of the value that it is parsed to; false where this quick look cannot say. Spaces,
 * needless escapes and keys that stand there twice only make a text longer, so one of just the canonical length is the canonical text,
 * and nothing has to be written to compare it.
 */
export function isSurelyCanonical(text: string, value: unknown): boolean {
  const look: Look = { string: text.includes('\\') ? stringLength : plainLength, has_round: false };
  return lengthOf(value, 0, look) === text.length && !(look.has_round && EXPONENT.test(text));
}

type StringLength = (text: string) => number;

interface Look {
  readonly string: StringLength;
  /** Whether there is a number that ends in two zeros: with an exponent it can be written in as many characters or fewer. */
  has_round: boolean;
}

const plainLength: StringLength = (text) => text.length + 2;

/** What JSON writes with a backslash. */
const ESCAPED = /["\\\u0001-\u001f]/;

/** NaN for what canonical JSON does not hold at all. */
const stringLength: StringLength = (text) => {
  if (!text.isWellFormed() || text.includes('\0')) return Number.NaN;
  return ESCAPED.test(text) ? JSON.stringify(text).length : plainLength(text);
};

function lengthOf(value: unknown, depth: number, look: Look): number {
  if (typeof value === 'string') return look.string(value);
  if (value === null) return 4;
  if (typeof value === 'number') return numberLength(value, look);
  if (typeof value === 'boolean') return value ? 4 : 5;
  if (depth >= limits.json_depth || typeof value !== 'object') return Number.NaN;
  return Array.isArray(value) ? arrayLength(value, depth + 1, look) : objectLength(value, depth + 1, look);
}

function arrayLength(array: readonly unknown[], depth: number, look: Look): number {
  let length = array.length === 0 ? 2 : array.length + 1;
  for (let i = 0; i < array.length; i++) length += lengthOf(array[i], depth, look);
  return length;
}

const STARTS_WITH_DIGIT = /^[0-9]/;

function objectLength(object: object, depth: number, look: Look): number {
  const keys = Object.keys(object);
  // JavaScript puts keys that are whole numbers first, wherever they stood.
  if (keys.length > 1 && STARTS_WITH_DIGIT.test(keys[0]!)) return Number.NaN;
  let length = keys.length === 0 ? 2 : keys.length + 1;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if ((i > 0 && key < keys[i - 1]!) || key === '__proto__') return Number.NaN;
    length += look.string(key) + 1 + lengthOf(object[key as never], depth, look);
  }
  return length;
}

function numberLength(number: number, look: Look): number {
  // A fraction can be written with other digits in as many characters.
  if (!Number.isSafeInteger(number)) return Number.NaN;
  if (number % 100 === 0 && number !== 0) look.has_round = true;
  return String(number).length;
}
