import { limits } from '../limits.ts';
import { type EscapeRead, escapesAt, isEscaping } from './escape.ts';
import type { SecretForm } from './secret-form.ts';
import { Glance } from './secret-glance.ts';
import { type Meaning, Symbols } from './secret-symbols.ts';

/** Where a form stands, in bytes from the beginning of the stream. */
export interface FoundSecret {
  readonly start: number;
  end: number;
  readonly form: SecretForm;
}

const NO_READINGS: readonly EscapeRead[] = [];

/** Which forms are under way at a place, and how far each has come. Few words are not zero, so these are listed. */
class Progress {
  readonly words: Int32Array;
  readonly used: Int32Array;
  count = 0;

  constructor(words: number) {
    this.words = new Int32Array(words);
    this.used = new Int32Array(words);
  }

  add(word: number, bits: number): void {
    if (bits === 0) return;
    if (this.words[word] === 0) this.used[this.count++] = word;
    this.words[word]! |= bits;
  }

  addAll({ words, used, count }: Progress): void {
    for (let at = 0; at < count; at += 1) this.add(used[at]!, words[used[at]!]!);
  }

  clear(): void {
    for (let at = 0; at < this.count; at += 1) this.words[this.used[at]!] = 0;
    this.count = 0;
  }
}

/**
 * Finds every form of the secrets in a stream, whichever of its characters are escaped and how. It goes over the stream once, with all forms at a
 * time, and does the same work whatever came before: no text makes it slow.
 */
export class SecretSearch {
  #found: FoundSecret[] = [];
  readonly #symbols: Symbols;
  readonly #glance: Glance;
  readonly #last = new Map<SecretForm, FoundSecret>();
  /** Where readings that are longer than a byte end, later than here. */
  readonly #later = new Map<number, Progress>();
  /** No form that is looked for begins before this place. A longer one than any can be is let go. */
  #from = 0;
  #at = 0;
  /** Empty ones, to be used again. */
  readonly #spare: Progress[] = [];
  #now: Progress;
  #next: Progress;
  readonly #longest: number;

  constructor(forms: readonly SecretForm[]) {
    this.#symbols = new Symbols(forms);
    this.#glance = new Glance(forms);
    this.#now = this.#progress();
    this.#next = this.#progress();
    this.#longest = limits.escape_bytes * Math.max(...forms.map(({ symbols }) => symbols.length));
  }

  /** Where what can be passed on ends: what follows may be the beginning of a form. */
  get open_from(): number {
    return this.#from;
  }

  /** What was found that begins before this place. At a later one a longer form may still be found, and then that one counts. */
  takeFound(before: number): FoundSecret[] {
    const found = this.#found.filter(({ start }) => start < before);
    this.#found = this.#found.filter(({ start }) => start >= before);
    return found;
  }

  /** Goes on to the end of the text, or to an escape that goes on after it. The text begins at a place of the stream. */
  read(text: Uint8Array, begin: number, is_last: boolean): void {
    const end = begin + text.length;
    for (;;) {
      if (this.#now.count === 0 && this.#later.size === 0) {
        this.#at = begin + this.#glance.from(text, this.#at - begin);
        this.#from = this.#at;
      }
      if (this.#at >= end || !this.#readByte(text, begin, is_last)) break;
    }
    this.#from = Math.max(this.#from, this.#at - this.#longest);
  }

  /** The secrets that the end of the stream cuts off. */
  cutOff(text: Uint8Array, begin: number): FoundSecret[] {
    const { words, used, count } = this.#now;
    return Array.from(used.subarray(0, count)).flatMap((word) =>
      Array.from(this.#symbols.formsIn(word, words[word]! & this.#symbols.late[word]!), ([form, many]) => {
        const start = this.#startOf({ form, many, end: this.#at, floor: this.#from }, text, begin);
        return { start, end: begin + text.length, form };
      }),
    );
  }

  #progress(): Progress {
    return new Progress(this.#symbols.words);
  }

  #readByte(text: Uint8Array, begin: number, is_last: boolean): boolean {
    const place = this.#at - begin;
    const byte = text[place]!;
    const escapes = isEscaping(byte) ? escapesAt(text, place, is_last) : NO_READINGS;
    if (escapes === null) return false;
    const can_begin = this.#glance.canBegin(text, place);
    if (escapes !== NO_READINGS)
      for (const { bytes, end } of escapes) this.#goOn(bytes, begin + end, can_begin);
    const meaning = this.#symbols.meaningOf(byte);
    if (meaning !== undefined) {
      step(this.#now, meaning, this.#next, can_begin);
      if (meaning.between !== null) pass(this.#now, meaning.between, this.#next);
    }
    this.#arrive(text, begin);
    return true;
  }

  /** The same with an escape, which may mean several bytes. */
  #goOn(bytes: readonly number[], end: number, can_begin: boolean): void {
    const there = this.#reading(bytes, can_begin);
    if (there === null) return;
    const later = this.#later.get(end);
    if (later === undefined) {
      this.#later.set(end, there);
      return;
    }
    later.addAll(there);
    this.#letGo(there);
  }

  #reading(bytes: readonly number[], can_begin: boolean): Progress | null {
    let here = this.#now;
    for (let at = 0; at < bytes.length; at += 1) {
      const meaning = this.#symbols.meaningOf(bytes[at]!);
      const next = this.#spare.pop() ?? this.#progress();
      if (meaning !== undefined) {
        step(here, meaning, next, can_begin && at === 0);
        if (meaning.between !== null && bytes.length === 1) pass(here, meaning.between, next);
      }
      if (here !== this.#now) this.#letGo(here);
      here = next;
    }
    if (here.count > 0) return here;
    this.#letGo(here);
    return null;
  }

  #letGo(progress: Progress): void {
    progress.clear();
    this.#spare.push(progress);
  }

  #arrive(text: Uint8Array, begin: number): void {
    this.#at += 1;
    if (this.#later.size > 0) this.#join();
    const before = this.#now;
    this.#now = this.#next;
    this.#next = before;
    before.clear();
    const { words, used, count } = this.#now;
    for (let at = 0; at < count; at += 1) {
      const ends = words[used[at]!]! & this.#symbols.last[used[at]!]!;
      if (ends !== 0)
        for (const [form] of this.#symbols.formsIn(used[at]!, ends)) this.#keep(form, text, begin);
    }
  }

  #join(): void {
    const later = this.#later.get(this.#at);
    if (later === undefined) return;
    this.#later.delete(this.#at);
    this.#next.addAll(later);
    this.#letGo(later);
  }

  #keep(form: SecretForm, text: Uint8Array, begin: number): void {
    const last = this.#last.get(form);
    const end = this.#at;
    const floor = Math.max(this.#from, last ? last.end : 0);
    const start = this.#startOf({ form, many: form.symbols.length, end, floor }, text, begin);
    // One form over and over, as in a row of equal characters: the place grows.
    if (last && start < last.end && this.#found.at(-1) === last) last.end = end;
    else {
      const found = { start, end, form };
      this.#found.push(found);
      this.#last.set(form, found);
    }
  }

  /** Back from where so many symbols of a form end to where they begin; a place before the floor where they reach beyond it. */
  #startOf(
    { form, many, end, floor }: { form: SecretForm; many: number; end: number; floor: number },
    text: Uint8Array,
    begin: number,
  ): number {
    if (isPlain(form, many, text, end - begin)) return end - many;
    const left = new Map<number, Set<number>>([[end, new Set([many])]]);
    let start = end;
    let lowest = end;
    for (let at = end - 1; at >= this.#from && at >= lowest - limits.escape_bytes; at -= 1) {
      const before = this.#before(form, left, at, text, begin);
      if (before.delete(0)) start = at;
      if (before.size === 0) continue;
      if (at < floor) return at;
      left.set(at, before);
      lowest = at;
    }
    return start;
  }

  /** How many symbols stand before this place, by each way to read what stands here. */
  #before(
    form: SecretForm,
    left: Map<number, Set<number>>,
    at: number,
    text: Uint8Array,
    begin: number,
  ): Set<number> {
    const byte = text[at - begin]!;
    const escapes = (isEscaping(byte) && escapesAt(text, at - begin, true)) || NO_READINGS;
    const before = new Set<number>();
    for (const { bytes, end } of [{ bytes: [byte], end: at - begin + 1 }, ...escapes])
      for (const many of left.get(begin + end) ?? []) {
        if (fits(form, many, bytes)) before.add(Math.max(0, many - bytes.length));
        if (bytes.length === 1 && form.breaks.includes(bytes[0]!) && many < form.symbols.length)
          before.add(many);
      }
    return before;
  }
}

/** Whether these bytes are the symbols before this one. A character may begin before the form. */
function fits({ symbols, bytesOf }: SecretForm, many: number, bytes: readonly number[]): boolean {
  return bytes.every((byte, at) => {
    const symbol = symbols[many - bytes.length + at];
    return symbol !== undefined && bytesOf(symbol).includes(byte);
  });
}

/** Whether the symbols before a place stand there without an escape, and no escape before them could be read as more of the form. */
function isPlain({ symbols, bytesOf }: SecretForm, many: number, text: Uint8Array, end: number): boolean {
  if (end < many) return false;
  for (let at = Math.max(0, end - many - limits.escape_bytes); at < end - many; at += 1)
    if (isEscaping(text[at]!)) return false;
  for (let at = many - 1; at >= 0; at -= 1) {
    const byte = text[end - many + at]!;
    if (byte !== symbols[at] && !bytesOf(symbols[at]!).includes(byte)) return false;
  }
  return true;
}

/** Which forms go on with what a byte means, or begin with it. */
function step(
  here: Progress,
  { symbols, first, first_words }: Meaning,
  next: Progress,
  can_begin: boolean,
): void {
  const { words, used, count } = here;
  for (let at = 0; at < count; at += 1) {
    const word = used[at]!;
    const bits = words[word]!;
    const on = (bits << 1) & symbols[word]!;
    if (on !== 0) next.add(word, on);
    if (bits < 0 && (symbols[word + 1]! & 1) !== 0) next.add(word + 1, 1);
  }
  if (!can_begin) return;
  for (let at = 0; at < first_words.length; at += 1) next.add(first_words[at]!, first[first_words[at]!]!);
}

/** What may stand between two symbols leaves all as it is. */
function pass({ words, used, count }: Progress, between: Int32Array, next: Progress): void {
  for (let at = 0; at < count; at += 1) next.add(used[at]!, words[used[at]!]! & between[used[at]!]!);
}
