import { limits } from '../limits.ts';

/** A secret that a child has, and the name that takes its place wherever the child prints it. */
export interface Redacted {
  readonly name: string;
  readonly value: string;
}

interface Pattern {
  readonly bytes: Buffer;
  readonly mark: Buffer;
  /** At each place, how long a beginning of the pattern ends there: what the search falls back to. */
  readonly borders: Int32Array;
}

interface Range {
  start: number;
  end: number;
  readonly mark: Buffer;
}

/**
 * Takes secrets out of a stream: as they are, and as JSON, URLs and base64 write them. What is held back is only an end that may be the beginning
 * of a secret, so it is shorter than the longest form, and a line that holds none is passed on whole.
 */
export class Redactor {
  readonly #patterns: readonly Pattern[];
  /** The end of what came. Its first `#told` bytes belong to a secret whose mark was passed on. */
  #held: Buffer = Buffer.alloc(0);
  #told = 0;

  constructor(secrets: readonly Redacted[]) {
    this.#patterns = secrets.flatMap(({ name, value }) => {
      const mark = Buffer.from(`[secret ${name}]`);
      return formsOf(value).map((bytes) => ({ bytes, mark, borders: bordersOf(bytes) }));
    });
  }

  /** What can be passed on now. */
  take(chunk: Uint8Array): Uint8Array {
    if (this.#patterns.length === 0) return chunk;
    const all = Buffer.concat([this.#held, chunk]);
    const kept = Math.max(0, ...this.#patterns.map((pattern) => beginningAt(all, pattern)));
    return this.#pass(all, rangesIn(all, this.#patterns), all.length - kept);
  }

  /** The rest. What looks like the beginning of a secret is one that was cut off, if it is as long as the shortest. */
  end(): Uint8Array {
    const all = this.#held;
    const cut = this.#patterns.map((pattern) => ({ ...pattern, length: beginningAt(all, pattern) }));
    const ranges = cut
      .filter(({ length }) => length >= limits.secret_bytes_min)
      .map(({ length, mark }) => ({ start: all.length - length, end: all.length, mark }));
    return this.#pass(all, merged([...rangesIn(all, this.#patterns), ...ranges]), all.length);
  }

  #pass(all: Buffer, ranges: readonly Range[], until: number): Uint8Array {
    const parts: Uint8Array[] = [];
    let at = this.#told;
    for (const { start, end, mark } of ranges) {
      if (start >= until) break;
      if (start > at) parts.push(all.subarray(at, start));
      // One that begins inside another goes on from the mark of that one.
      if (start >= at) parts.push(mark);
      at = Math.max(at, end);
    }
    if (until > at) parts.push(all.subarray(at, until));
    this.#told = Math.max(0, at - until);
    this.#held = Buffer.from(all.subarray(until));
    return Buffer.concat(parts);
  }
}

/** Where the patterns are. What overlaps is one place. */
function rangesIn(all: Buffer, patterns: readonly Pattern[]): Range[] {
  const found: Range[] = [];
  for (const { bytes, mark } of patterns)
    for (let at = all.indexOf(bytes); at >= 0; at = all.indexOf(bytes, at + 1))
      found.push({ start: at, end: at + bytes.length, mark });
  return merged(found);
}

function merged(ranges: readonly Range[]): Range[] {
  const found: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = found.at(-1);
    if (last && range.start < last.end) last.end = Math.max(last.end, range.end);
    else found.push({ ...range });
  }
  return found;
}

/** How much of the end of `all` is a beginning of the pattern, and not all of it. */
function beginningAt(all: Buffer, { bytes, borders }: Pattern): number {
  let length = 0;
  for (let at = Math.max(0, all.length - bytes.length + 1); at < all.length; at += 1) {
    while (length > 0 && bytes[length] !== all[at]) length = borders[length - 1]!;
    if (bytes[length] === all[at]) length += 1;
  }
  return length;
}

function bordersOf(bytes: Buffer): Int32Array {
  const borders = new Int32Array(bytes.length);
  for (let at = 1, length = 0; at < bytes.length; at += 1) {
    while (length > 0 && bytes[length] !== bytes[at]) length = borders[length - 1]!;
    if (bytes[length] === bytes[at]) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** Every form of a secret that is looked for, each once. */
function formsOf(value: string): Buffer[] {
  const texts = new Set([value, ...jsonForms(value), ...urlForms(value)]);
  const base64 = [0, 1, 2].map((before) => base64Form(value, before));
  const url_safe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return Array.from(new Set([...texts, ...base64, ...url_safe]), (text) => Buffer.from(text));
}

/** As serialisers differ: those that escape a slash, what HTML would read, and everything that is not ASCII. */
function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const slashes = [plain, plain.replaceAll('/', '\\/')];
  const html = slashes.flatMap((text) => [text, escaped(text, /[<>&]/g)]);
  const ascii = html.flatMap((text) => [text, escaped(text, /[\x7f-\uffff]/g)]);
  return ascii.flatMap((text) => [text, text.replace(/\\u[0-9a-f]{4}/g, upperHex)]);
}

function escaped(text: string, which: RegExp): string {
  return text.replace(which, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function upperHex(text: string): string {
  return text.slice(0, 2) + text.slice(2).toUpperCase();
}

/** A component by the rules of browsers, by those of RFC 3986, as a form, and as part of a path. */
function urlForms(value: string): string[] {
  const component = encodeURIComponent(value);
  const strict = component.replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const forms = [component, strict, form, strict.replaceAll('%20', '+'), strict.replaceAll('%2F', '/')];
  return forms.flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (one) => one.toLowerCase())]);
}

/** The characters of base64 that the secret alone decides, after so many other bytes. Those at its ends hold bits of the bytes beside it. */
function base64Form(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  const text = bytes.toString('base64').replaceAll('=', '');
  const whole = Math.floor((bytes.length * 8) / 6);
  return text.slice(Math.ceil((before * 8) / 6), whole);
}
