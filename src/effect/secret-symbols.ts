import { limits } from '../limits.ts';
import type { SecretForm } from './secret-form.ts';

const WORD = 32;

/** What a byte means to the forms: which of their symbols it can be, which of these begin a form, and where it may stand between two. */
export interface Meaning {
  readonly symbols: Int32Array;
  readonly first: Int32Array;
  readonly first_words: number[];
  between: Int32Array | null;
}

/** The symbols of all forms, one behind the other: a bit for each. */
export class Symbols {
  readonly words: number;
  /** The last symbol of each form. */
  readonly last: Int32Array;
  /** Where a form that was cut off is long enough to be one all the same. */
  readonly late: Int32Array;
  readonly #meanings: (Meaning | undefined)[] = new Array(0x100);
  readonly #ending = new Map<number, SecretForm>();

  constructor(forms: readonly SecretForm[]) {
    const many = forms.reduce((sum, { symbols }) => sum + symbols.length, 0);
    // One more, so that the last word has a next one.
    this.words = Math.ceil(many / WORD) + 1;
    this.last = new Int32Array(this.words);
    this.late = new Int32Array(this.words);
    let at = 0;
    for (const form of forms) {
      this.#add(form, at);
      at += form.symbols.length;
    }
  }

  meaningOf(byte: number): Meaning | undefined {
    return this.#meanings[byte];
  }

  /** The forms that end in this word, of those whose bits are set, and how many symbols they have. */
  *formsIn(word: number, bits: number): Iterable<readonly [SecretForm, number]> {
    for (let left = bits; left !== 0; left &= left - 1) {
      const bit = word * WORD + 31 - Math.clz32(left & -left);
      yield this.#whose(bit);
    }
  }

  /** Whose symbol a bit is, and how many of its symbols there are up to this one. */
  #whose(bit: number): readonly [SecretForm, number] {
    for (let end = bit; ; end += 1) {
      const form = this.#ending.get(end);
      if (form) return [form, form.symbols.length - (end - bit)];
    }
  }

  #add(form: SecretForm, base: number): void {
    const { symbols, bytesOf, breaks } = form;
    symbols.forEach((symbol, at) => {
      const bit = base + at;
      for (const byte of bytesOf(symbol)) this.#mean(byte, bit, at === 0);
      if (at + 1 < symbols.length) for (const byte of breaks) this.#part(byte, bit);
      if (at + 1 >= limits.secret_bytes_min) set(this.late, bit);
    });
    const end = base + symbols.length - 1;
    set(this.last, end);
    this.#ending.set(end, form);
  }

  #mean(byte: number, bit: number, is_first: boolean): void {
    const { symbols, first, first_words } = this.#of(byte);
    set(symbols, bit);
    if (!is_first) return;
    set(first, bit);
    const word = bit >>> 5;
    if (!first_words.includes(word)) first_words.push(word);
  }

  #part(byte: number, bit: number): void {
    const meaning = this.#of(byte);
    meaning.between ??= new Int32Array(this.words);
    set(meaning.between, bit);
  }

  #of(byte: number): Meaning {
    const bits = () => new Int32Array(this.words);
    this.#meanings[byte] ??= { symbols: bits(), first: bits(), first_words: [], between: null };
    return this.#meanings[byte];
  }
}

function set(words: Int32Array, bit: number): void {
  words[bit >>> 5]! |= 1 << (bit & 31);
}
