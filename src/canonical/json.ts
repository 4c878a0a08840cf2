import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { isSurelyCanonical } from './length.ts';
import { isProxy, isUtf8 } from './primitive.ts';
import { refuseDeepNesting, refuseDuplicateKeys } from './scan.ts';

/** Plain JSON: the only values that are hashed, signed or stored. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * The RFC 8785 text of a plain JSON value, written as it is looked at: each value is read once, so what is judged is what is written.
 * Strings and numbers are those of JSON.stringify, and keys are ordered as JavaScript compares texts.
 */
export function canonicalText(value: unknown): string {
  return plainText(value, 0);
}

/**
 * The same of a value that this process has parsed, or made of parsed ones: no getter and no proxy is in it, so only what a text can
 * carry is looked at.
 */
export function canonicalTextOfParsed(value: unknown): string {
  return parsedText(value, 0);
}

function plainText(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return scalarText(value);
  requirePlainObject(value, depth);
  if (Array.isArray(value)) {
    requirePlainArray(value);
    let text = '';
    for (let i = 0; i < value.length; i++)
      text += `${i === 0 ? '' : ','}${plainText(plainValue(value, String(i)), depth + 1)}`;
    return `[${text}]`;
  }
  let text = '';
  for (const key of ordered(plainKeys(value)))
    text += `${text === '' ? '' : ','}${keyText(key)}:${plainText(plainValue(value, key), depth + 1)}`;
  return `{${text}}`;
}

function parsedText(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return scalarText(value);
  if (depth >= limits.json_depth) refuse('JSON_TOO_DEEP');
  let text = '';
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) text += `${i === 0 ? '' : ','}${parsedText(value[i], depth + 1)}`;
    return `[${text}]`;
  }
  const keys = ordered(Object.keys(value));
  // Most objects have plain keys, and one look at all of them is quicker than one at each.
  const all = keys.join('');
  const are_plain = all.length <= limits.json_string_chars && !ODD_KEYS.test(all);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const name = are_plain ? `"${key}"` : keyText(key);
    text += `${i === 0 ? '' : ','}${name}:${parsedText((value as JsonObject)[key], depth + 1)}`;
  }
  return `{${text}}`;
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value !== 'number') return refuse('JSON_NOT_PLAIN', `A ${typeof value} is not JSON.`);
  guardNumber(value);
  return String(value);
}

/** What JSON writes otherwise than it is, or not at all. */
const ODD = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Keys that have to be looked at one by one. */
const ODD_KEYS = /["\\\u0000-\u001f\ud800-\udfff]|__proto__/;

function stringText(text: string): string {
  if (text.length <= limits.json_string_chars && !ODD.test(text)) return `"${text}"`;
  guardString(text);
  return JSON.stringify(text);
}

function keyText(key: string): string {
  // Copied with `target[key] = value` it would become the prototype and be gone: read by one, unseen by the next.
  if (key === '__proto__') refuse('JSON_NOT_PLAIN', 'An object has the key "__proto__".');
  return stringText(key);
}

/** Most objects have few keys: for those this is several times faster than the sort of the platform. */
const FEW_KEYS = 32;

function ordered(keys: string[]): string[] {
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let at = i;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
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

/** Those of a value that this process has parsed, or made of parsed ones. */
export function canonicalBytesOfParsed(value: unknown): Uint8Array {
  return Buffer.from(canonicalTextOfParsed(value), 'utf8');
}

/** Refuses everything that JSON cannot say exactly. The attacker here is a value whose text is not its meaning. */
export function guardPlain(value: unknown, depth = 0): asserts value is Json {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') return guardString(value);
  if (typeof value === 'number') return guardNumber(value);
  if (typeof value !== 'object') refuse('JSON_NOT_PLAIN', `A ${typeof value} is not JSON.`);
  requirePlainObject(value, depth);
  if (Array.isArray(value)) guardArray(value, depth);
  else guardObject(value, depth);
}

function requirePlainObject(value: object, depth: number): void {
  if (depth >= limits.json_depth) refuse('JSON_TOO_DEEP');
  // A proxy may answer the guard and the writer differently.
  if (isProxy(value)) refuse('JSON_NOT_PLAIN', 'A proxy is not JSON.');
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
  requirePlainArray(array);
  for (let i = 0; i < array.length; i++) guardPlain(plainValue(array, String(i)), depth + 1);
}

function requirePlainArray(array: readonly unknown[]): void {
  if (Object.getPrototypeOf(array) !== Array.prototype)
    refuse('JSON_NOT_PLAIN', 'An array has a foreign prototype.');
  // Every key counts, also a hidden one: the writer would call a hidden toJSON.
  if (Reflect.ownKeys(array).length !== array.length + 1)
    refuse('JSON_NOT_PLAIN', 'An array has holes or extra keys.');
}

/** The value of a key that holds one. A getter could give another value to the next reader. */
function plainValue(object: object, key: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property === undefined || !('value' in property) || !property.enumerable)
    refuse('JSON_NOT_PLAIN', `The key "${key}" is computed, hidden or missing.`);
  return property.value;
}

function guardObject(object: object, depth: number): void {
  for (const key of plainKeys(object)) {
    keyText(key);
    guardPlain(plainValue(object, key), depth + 1);
  }
}

function plainKeys(object: object): string[] {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null)
    refuse('JSON_NOT_PLAIN', 'An object is not plain.');
  const keys = Reflect.ownKeys(object);
  if (keys.some((key) => typeof key === 'symbol'))
    refuse('JSON_NOT_PLAIN', 'An object has a symbol as a key.');
  return keys as string[];
}

/** Parses JSON from outside: UTF-8, bounded in size and depth, no duplicate keys, plain values only. */
export function parseJson(input: Uint8Array | string, max_bytes: number = limits.json_bytes): Json {
  return parseText(textOf(input, max_bytes));
}

/** The same of a text that must be the canonical one of its value; undefined where it is not. */
export function parseCanonical(
  input: Uint8Array | string,
  max_bytes: number = limits.json_bytes,
): Json | undefined {
  const text = textOf(input, max_bytes);
  if (text.length <= limits.json_string_chars && text.isWellFormed()) {
    const value = parsed(text);
    if (isSurelyCanonical(text, value)) return value;
  }
  const value = parseText(text);
  return parsedText(value, 0) === text ? value : undefined;
}

function textOf(input: Uint8Array | string, max_bytes: number): string {
  const text = typeof input === 'string' ? input : decodeUtf8(input, max_bytes);
  if (text.length > max_bytes) refuse('INPUT_TOO_LARGE', `The document has ${text.length} characters.`);
  return text;
}

function parseText(text: string): Json {
  const value = parsed(text);
  // In a text that is well formed, a lone surrogate and a NUL can only be written as an escape.
  const is_odd = text.length > limits.json_string_chars || text.includes('\\u') || !text.isWellFormed();
  guardParsed(value, 0, is_odd);
  // What is written back as it was has lost no key. That is how we write ourselves, and seeing it takes no time.
  if (JSON.stringify(value) !== text) refuseDuplicateKeys(text);
  return value;
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

/** Whether a byte goes on with a character that began before it. */
export function isUtf8Continuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
