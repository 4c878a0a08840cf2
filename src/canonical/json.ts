import canonicalizeUnguarded from 'canonicalize';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { isProxy, isUtf8 } from './primitive.ts';

/** Plain JSON: the only values that are hashed, signed or stored. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * The RFC 8785 text of a plain JSON value. Strings and numbers are written there as JSON.stringify writes them, and an
 * object keeps its keys in the order they came in; so a copy with ordered keys is written in half the time the library
 * takes. Only keys that look like an index have an order of their own: those are the library's.
 */
export function canonicalText(value: unknown): string {
  guardPlain(value, 0);
  return orderedText(value);
}

function orderedText(value: Json): string {
  const found = { index: false };
  const copy = orderedCopy(value, found);
  return found.index ? (canonicalizeUnguarded(value) as string) : JSON.stringify(copy);
}

/**
 * The same of a value that this process has parsed, or made of parsed ones: no getter and no proxy is in it, so only what a text can
 * carry is looked at.
 */
export function canonicalTextOfParsed(value: unknown): string {
  guardParsed(value as Json, 0, true);
  return orderedText(value as Json);
}

function orderedCopy(value: Json, found: { index: boolean }): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one: Json) => orderedCopy(one, found));
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) {
    if (startsWithDigit(key)) found.index = true;
    copy[key] = orderedCopy((value as JsonObject)[key]!, found);
  }
  return copy;
}

function startsWithDigit(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 48 && first <= 57;
}

/** Whether two values have the same canonical text, where both have one. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key as never], b[key as never]))
  );
}

/** The RFC 8785 bytes of a plain JSON value. */
export function canonicalBytes(value: unknown): Uint8Array {
  return Buffer.from(canonicalText(value), 'utf8');
}

/** Refuses everything that JSON cannot say exactly. The attacker here is a value whose text is not its meaning. */
export function guardPlain(value: unknown, depth = 0): asserts value is Json {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') return guardString(value);
  if (typeof value === 'number') return guardNumber(value);
  if (typeof value !== 'object') refuse('JSON_NOT_PLAIN', `A ${typeof value} is not JSON.`);
  if (depth >= limits.json_depth) refuse('JSON_TOO_DEEP');
  // A proxy may answer the guard and the writer differently.
  if (isProxy(value)) refuse('JSON_NOT_PLAIN', 'A proxy is not JSON.');
  if (Array.isArray(value)) return guardArray(value, depth);
  guardObject(value, depth);
}

function guardString(text: string): void {
  if (text.length > limits.json_string_chars)
    refuse('INPUT_TOO_LARGE', `A string has ${text.length} characters.`);
  if (!text.isWellFormed()) refuse('JSON_BAD_STRING', 'A string has a lone surrogate.');
  if (text.includes('\0')) refuse('JSON_BAD_STRING', 'A string has a NUL character.');
}

function guardNumber(number: number): void {
  if (!Number.isFinite(number)) refuse('JSON_BAD_NUMBER', 'A number is not finite.');
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    refuse('JSON_BAD_NUMBER', `The integer ${number} cannot be held exactly.`);
  }
}

function guardArray(array: readonly unknown[], depth: number): void {
  if (Object.getPrototypeOf(array) !== Array.prototype)
    refuse('JSON_NOT_PLAIN', 'An array has a foreign prototype.');
  // Every key counts, also a hidden one: the writer would call a hidden toJSON.
  if (Reflect.ownKeys(array).length !== array.length + 1)
    refuse('JSON_NOT_PLAIN', 'An array has holes or extra keys.');
  for (let i = 0; i < array.length; i++) guardPlain(plainValue(array, String(i)), depth + 1);
}

/** The value of a key that holds one. A getter could give another value to the next reader. */
function plainValue(object: object, key: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property === undefined || !('value' in property) || !property.enumerable)
    refuse('JSON_NOT_PLAIN', `The key "${key}" is computed, hidden or missing.`);
  return property.value;
}

function guardObject(object: object, depth: number): void {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null)
    refuse('JSON_NOT_PLAIN', 'An object is not plain.');
  for (const key of Reflect.ownKeys(object)) {
    if (typeof key === 'symbol') refuse('JSON_NOT_PLAIN', 'An object has a symbol as a key.');
    guardString(key);
    // Copied with `target[key] = value` it would become the prototype and be gone: read by one, unseen by the next.
    if (key === '__proto__') refuse('JSON_NOT_PLAIN', 'An object has the key "__proto__".');
    guardPlain(plainValue(object, key), depth + 1);
  }
}

/** Parses JSON from outside: UTF-8, bounded in size and depth, no duplicate keys, plain values only. */
export function parseJson(input: Uint8Array | string, max_bytes: number = limits.json_bytes): Json {
  return parseText(textOf(input, max_bytes)).value;
}

/** The same of a text that must be the canonical one of its value; undefined where it is not. */
export function parseCanonical(input: Uint8Array, max_bytes: number = limits.json_bytes): Json | undefined {
  const text = textOf(input, max_bytes);
  const { value, is_kept } = parseText(text);
  const is_canonical = (is_kept && isOrdered(value)) || orderedText(value) === text;
  return is_canonical ? value : undefined;
}

function textOf(input: Uint8Array | string, max_bytes: number): string {
  const text = typeof input === 'string' ? input : decodeUtf8(input, max_bytes);
  if (text.length > max_bytes) refuse('INPUT_TOO_LARGE', `The document has ${text.length} characters.`);
  return text;
}

/** `is_kept`: the value is written back as it was. */
function parseText(text: string): { readonly value: Json; readonly is_kept: boolean } {
  const value = parsed(text);
  // In a text that is well formed, a lone surrogate and a NUL can only be written as an escape.
  const is_odd = text.length > limits.json_string_chars || text.includes('\\u') || !text.isWellFormed();
  guardParsed(value, 0, is_odd);
  // What is written back as it was has lost no key. That is how we write ourselves, and seeing it takes no time.
  const is_kept = JSON.stringify(value) === text;
  if (!is_kept) refuseDuplicateKeys(text);
  return { value, is_kept };
}

/** Every object has its keys in canonical order. */
function isOrdered(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isOrdered);
  let before: string | null = null;
  for (const key of Object.keys(value)) {
    if ((before !== null && key < before) || !isOrdered((value as JsonObject)[key]!)) return false;
    before = key;
  }
  return true;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    refuseDeepNesting(text);
    return refuse('JSON_MALFORMED', `Not JSON: ${(error as Error).message}`);
  }
}

/** What `guardPlain` refuses, where only what a JSON text can carry is possible. `is_odd`: strings are looked at, too. */
function guardParsed(value: Json, depth: number, is_odd: boolean): void {
  if (typeof value === 'string') {
    if (is_odd) guardString(value);
  } else if (typeof value === 'number') guardNumber(value);
  else if (typeof value === 'object' && value !== null) {
    if (depth >= limits.json_depth) refuse('JSON_TOO_DEEP');
    if (Array.isArray(value)) for (const one of value) guardParsed(one, depth + 1, is_odd);
    else guardParsedObject(value as JsonObject, depth, is_odd);
  } else if (value !== null && typeof value !== 'boolean')
    refuse('JSON_NOT_PLAIN', `A ${typeof value} is not JSON.`);
}

function guardParsedObject(object: JsonObject, depth: number, is_odd: boolean): void {
  for (const key of Object.keys(object)) {
    if (is_odd) guardString(key);
    if (key === '__proto__') refuse('JSON_NOT_PLAIN', 'An object has the key "__proto__".');
    guardParsed(object[key]!, depth + 1, is_odd);
  }
}

export function decodeUtf8(bytes: Uint8Array, max_bytes: number): string {
  if (bytes.length > max_bytes) refuse('INPUT_TOO_LARGE', `The input has ${bytes.length} bytes.`);
  if (!isUtf8(bytes)) refuse('INPUT_NOT_UTF8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

/** Looks at brackets outside strings, where the parser gave up. */
function refuseDeepNesting(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth += 1;
      if (depth > limits.json_depth) refuse('JSON_TOO_DEEP');
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth -= 1;
  }
}

/** JSON.parse keeps the last of two equal keys in silence. The text is known to be valid JSON here. */
function refuseDuplicateKeys(text: string): void {
  const objects: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === OPEN_BRACE) objects.push(new Set());
    else if (c === OPEN_BRACKET) objects.push(null);
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) objects.pop();
    else if (c === QUOTE) {
      const end = endOfString(text, i);
      const keys = objects.at(-1);
      if (keys && isFollowedByColon(text, end + 1)) {
        const key = JSON.parse(text.slice(i, end + 1)) as string;
        if (keys.has(key))
          refuse('JSON_DUPLICATE_KEY', `The key ${JSON.stringify(key.slice(0, 80))} appears twice.`);
        keys.add(key);
      }
      i = end;
    }
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COLON = 58;

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === BACKSLASH) i += 1;
    else if (c === QUOTE) return i;
  }
  return text.length;
}

function isFollowedByColon(text: string, from: number): boolean {
  let i = from;
  while (' \t\r\n'.includes(text.charAt(i)) && i < text.length) i += 1;
  return text.charCodeAt(i) === COLON;
}

/** Whether a byte goes on with a character that began before it. */
export function isUtf8Continuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
