import { limits } from '../limits.ts';

/**
 * How many characters the canonical text of a parsed value has; NaN where this quick look cannot say. A text that is parsed to this value
 * has at least as many: spaces, escapes and keys that stand there twice only add some. So one of just this length is the canonical text, and
 * nothing has to be written to compare it.
 */
export function canonicalLength(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (value === null) return 4;
  if (typeof value === 'number') return numberLength(value);
  if (typeof value === 'boolean') return value ? 4 : 5;
  if (depth >= limits.json_depth) return Number.NaN;
  if (typeof value !== 'object') return Number.NaN;
  return Array.isArray(value) ? arrayLength(value, depth + 1) : objectLength(value, depth + 1);
}

function arrayLength(array: readonly unknown[], depth: number): number {
  let length = array.length === 0 ? 2 : array.length + 1;
  for (let i = 0; i < array.length; i++) length += canonicalLength(array[i], depth);
  return length;
}

const STARTS_WITH_DIGIT = /^[0-9]/;

function objectLength(object: object, depth: number): number {
  const keys = Object.keys(object);
  // JavaScript puts keys that are whole numbers first, wherever they stood.
  if (keys.length > 1 && STARTS_WITH_DIGIT.test(keys[0]!)) return Number.NaN;
  let length = keys.length === 0 ? 2 : keys.length + 1;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if ((i > 0 && key < keys[i - 1]!) || key === '__proto__') return Number.NaN;
    length += key.length + 3 + canonicalLength(object[key as never], depth);
  }
  return length;
}

/** With an exponent, a number that ends in two zeros can be written in as many characters or fewer: `1e2`, `1e6`. */
function numberLength(number: number): number {
  const is_shortest = Number.isSafeInteger(number) && (number % 100 !== 0 || number === 0);
  return is_shortest ? String(number).length : Number.NaN;
}
