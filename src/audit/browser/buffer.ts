/**
 * The part of Node's `Buffer` that verification and the console use, for a browser. The build puts it in place of the global. A text that is not hex or
 * base64 in its one form gives bytes that are not written back as that text: callers compare, as they do in Node.
 */
type Encoding = 'utf8' | 'latin1' | 'hex' | 'base64' | 'base64url';

class Bytes extends Uint8Array {
  override toString(encoding: Encoding = 'utf8', start = 0, end: number = this.length): string {
    return textOf(this.subarray(start, end), encoding);
  }

  override subarray(start?: number, end?: number): Bytes {
    return super.subarray(start, end) as Bytes;
  }

  equals(other: Uint8Array): boolean {
    return compare(this, other) === 0;
  }

  readUInt16BE(at: number): number {
    return new DataView(this.buffer, this.byteOffset, this.length).getUint16(at);
  }

  readUInt32BE(at: number): number {
    return new DataView(this.buffer, this.byteOffset, this.length).getUint32(at);
  }
}

function from(text: string, encoding?: Encoding): Bytes;
function from(bytes: ArrayLike<number>): Bytes;
function from(memory: ArrayBufferLike, offset: number, length: number): Bytes;
function from(
  source: string | ArrayLike<number> | ArrayBufferLike,
  how?: Encoding | number,
  length?: number,
): Bytes {
  if (typeof source === 'string') return bytesOf(source, (how as Encoding | undefined) ?? 'utf8');
  if ('length' in source) return new Bytes(source);
  return new Bytes(source as ArrayBuffer, how as number, length);
}

function concat(list: readonly Uint8Array[]): Bytes {
  const all = new Bytes(list.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of list) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
  return Math.sign(a.length - b.length);
}

const DIGITS = '0123456789abcdef';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64URL: string = BASE64.replace('+/', '-_');

function textOf(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'utf8') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  if (encoding === 'latin1') return latin1Of(bytes);
  if (encoding === 'hex') return hexOf(bytes);
  return encoding === 'base64' ? base64Of(bytes, BASE64, '=') : base64Of(bytes, BASE64URL, '');
}

/** As many arguments as every browser takes in one call. */
const ARGUMENTS = 8192;

function latin1Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += ARGUMENTS)
    text += String.fromCharCode(...bytes.subarray(at, at + ARGUMENTS));
  return text;
}

function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += DIGITS[byte >> 4]! + DIGITS[byte & 15]!;
  return text;
}

function base64Of(bytes: Uint8Array, alphabet: string, padding: string): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b, c] = [bytes[at]!, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
    const left = bytes.length - at;
    text += alphabet[a >> 2]! + alphabet[((a & 3) << 4) | (b >> 4)]!;
    text += left > 1 ? alphabet[((b & 15) << 2) | (c >> 6)]! : padding;
    text += left > 2 ? alphabet[c & 63]! : padding;
  }
  return text;
}

function bytesOf(text: string, encoding: Encoding): Bytes {
  if (encoding === 'utf8') return new Bytes(new TextEncoder().encode(text));
  if (encoding === 'hex') return fromHex(text);
  return fromBase64(text);
}

/** Ends at the first character that is no digit, as Node does. */
function fromHex(text: string): Bytes {
  const found: number[] = [];
  for (let at = 0; at + 1 < text.length; at += 2) {
    const pair = text.slice(at, at + 2).toLowerCase();
    const [high, low] = [DIGITS.indexOf(pair[0]!), DIGITS.indexOf(pair[1]!)];
    if (high < 0 || low < 0) break;
    found.push(high * 16 + low);
  }
  return new Bytes(found);
}

const VALUES: ReadonlyMap<string, number> = new Map(
  [BASE64, BASE64URL].flatMap((alphabet) => [...alphabet].map((letter, value) => [letter, value] as const)),
);

/** Both alphabets, with or without padding. What is no letter is passed over. */
function fromBase64(text: string): Bytes {
  const found = new Bytes(Math.ceil((text.length * 3) / 4));
  let [length, bits, held] = [0, 0, 0];
  for (const letter of text) {
    const value = VALUES.get(letter);
    if (value === undefined) continue;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    found[length++] = (held >> bits) & 0xff;
  }
  return found.subarray(0, length);
}

export const Buffer = {
  from,
  concat,
  compare,
  byteLength: (text: string): number => new TextEncoder().encode(text).length,
  alloc: (length: number): Bytes => new Bytes(length),
  of: (...bytes: number[]): Bytes => new Bytes(bytes),
} as const;
