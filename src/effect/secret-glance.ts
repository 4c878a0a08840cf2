import { limits } from '../limits.ts';
import { spellingsOf } from './escape.ts';
import type { SecretForm } from './secret-form.ts';

/** Two bytes beside each other that can stand near the beginning of a form, and those of them that can begin one. */
const INSIDE = 1;
const BEGINS = 3;

/** How one symbol or break may be written, in Latin-1, and the bytes that such a text begins and ends with. */
interface Spelt {
  readonly texts: readonly string[];
  readonly firsts: readonly number[];
  readonly lasts: readonly number[];
}

const codesOf = (text: string) => [...Buffer.from(text, 'latin1')];
const DIGITS = codesOf('0123456789abcdef');
const BACKSLASH = codesOf('\\');
/** A backslash as URLs write it. */
const ENCODED = '5c';
const NOTHING: Spelt = { texts: [], firsts: [], lasts: [] };

/**
 * Passes over text that holds no secret without reading all of it. The first bytes of every form are long enough that a look at two bytes in
 * every seven meets them, and few pairs of bytes stand there.
 */
export class Glance {
  readonly #pairs = new Uint8Array(0x10000);
  readonly #first = new Uint8Array(0x100);
  readonly #step: number;

  constructor(forms: readonly SecretForm[]) {
    const near = Math.min(limits.secret_bytes_min, ...forms.map(({ symbols }) => symbols.length));
    this.#step = Math.max(1, near - 1);
    for (const form of forms) this.#learn(form, near);
  }

  /** Where the next form may begin; the length of the text where none does. */
  from(text: Uint8Array, at: number): number {
    const step = this.#step;
    let look = at + step - 1;
    for (; look + 1 < text.length; look += step) {
      if (this.#pairs[(text[look]! << 8) | text[look + 1]!] === 0) continue;
      const begin = this.#beginning(text, Math.max(at, look - step + 1), look + 1);
      if (begin >= 0) return begin;
    }
    const begin = this.#beginning(text, Math.max(at, look - step + 1), text.length);
    return begin < 0 ? text.length : begin;
  }

  #beginning(text: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at += 1) if (this.canBegin(text, at)) return at;
    return -1;
  }

  /** Whether a form may begin here, as far as the bytes near it tell. */
  canBegin(text: Uint8Array, at: number): boolean {
    if (at + 1 >= text.length) return this.#first[text[at]!] === 1;
    if (this.#pairs[(text[at]! << 8) | text[at + 1]!] !== BEGINS) return false;
    const end = Math.min(at + this.#step, text.length - 1);
    for (let next = at + 1; next < end; next += 1)
      if (this.#pairs[(text[next]! << 8) | text[next + 1]!] === 0) return false;
    return true;
  }

  #learn({ symbols, bytesOf, breaks }: SecretForm, near: number): void {
    const gap = spelt(breaks);
    const all = Array.from(symbols.subarray(0, near), (symbol) => spelt(bytesOf(symbol)));
    for (const [at, one] of all.entries()) {
      const next = all[at + 1] ?? NOTHING;
      this.#inside(one, at === 0 ? BEGINS : INSIDE);
      for (const after of [next, gap]) this.#beside(one.lasts, after.firsts, INSIDE);
      if (at === 0) for (const after of [next, gap]) this.#beside(bytesOf(symbols[0]!), after.firsts, BEGINS);
      this.#beside(gap.lasts, next.firsts, INSIDE);
    }
    this.#inside(gap, INSIDE);
    this.#beside(gap.lasts, gap.firsts, INSIDE);
    for (const byte of all[0]!.firsts) this.#first[byte] = 1;
    if (symbols.subarray(0, near).some((symbol) => symbol >= 0x80)) this.#learnWide(all);
  }

  /** A character beyond ASCII is more than one symbol, and one escape. */
  #learnWide(all: readonly Spelt[]): void {
    this.#beside([...codesOf('ux'), ...DIGITS], DIGITS, INSIDE);
    this.#beside(BACKSLASH, codesOf('ux\\'), BEGINS);
    // The same where a URL escapes the backslash.
    this.#beside(codesOf('%'), codesOf('25'), BEGINS);
    this.#beside(codesOf('c'), codesOf('ux%'), INSIDE);
    this.#inside({ ...NOTHING, texts: ['25', '55', '5c'] }, INSIDE);
    for (const { firsts, lasts } of all) {
      this.#beside(DIGITS, firsts, INSIDE);
      this.#beside(lasts, BACKSLASH, BEGINS);
      this.#beside(lasts, codesOf('%'), INSIDE);
    }
    this.#first[BACKSLASH[0]!] = 1;
    this.#first[codesOf('%')[0]!] = 1;
  }

  #inside({ texts }: Spelt, kind: number): void {
    for (const text of texts) {
      for (let at = 0; at + 1 < text.length; at += 1)
        this.#mark(text.charCodeAt(at), text.charCodeAt(at + 1), at === 0 ? kind : INSIDE);
      if (text.length > 1 && text.startsWith('\\')) this.#mark(BACKSLASH[0]!, BACKSLASH[0]!, kind);
      if (text.length > ENCODED.length && text.includes(ENCODED))
        this.#beside(codesOf('c'), codesOf('%'), INSIDE);
    }
  }

  #beside(before: readonly number[], after: readonly number[], kind: number): void {
    for (const one of before) for (const other of after) this.#mark(one, other, kind);
  }

  /** Digits of escapes come in both cases. */
  #mark(one: number, other: number, kind: number): void {
    const [a, b] = [otherCase(one), otherCase(other)];
    this.#pairs[(one << 8) | other]! |= kind;
    this.#pairs[(a << 8) | other]! |= kind;
    this.#pairs[(one << 8) | b]! |= kind;
    this.#pairs[(a << 8) | b]! |= kind;
  }
}

function spelt(bytes: readonly number[]): Spelt {
  const texts = bytes.flatMap((byte) => [String.fromCharCode(byte), ...spellingsOf(byte)]);
  const once = (codes: number[]) => [...new Set(codes)];
  return {
    texts,
    firsts: once(texts.map((text) => text.charCodeAt(0))),
    lasts: once(texts.map((text) => text.charCodeAt(text.length - 1))),
  };
}

function otherCase(code: number): number {
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x7a ? code ^ 0x20 : code;
}
