import { sha256 } from './digest.ts';

const WORDS = 2;
const LEAST_SLOTS = 1024;

/**
 * Texts that were seen, in 8 bytes each, the first of their SHA-256: a text that was not seen is taken for one with a chance of one in
 * 10^13 among a million, or because an attacker made it so. After a yes the caller must look elsewhere; no is certain. The table doubles
 * when it is three quarters full, so 11 to 21 bytes are held for each text.
 */
export class TextSet {
  #words = new Uint32Array(LEAST_SLOTS * WORDS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(text: string): boolean {
    const words = wordsOf(text);
    return holds(this.#words, slotFor(this.#words, words, 0), words, 0);
  }

  add(text: string): void {
    if ((this.#size + 1) * WORDS * 4 > this.#words.length * 3) this.#grow();
    const words = wordsOf(text);
    const slot = slotFor(this.#words, words, 0);
    if (holds(this.#words, slot, words, 0)) return;
    this.#words.set(words, slot);
    this.#size += 1;
  }

  #grow(): void {
    const before = this.#words;
    const after = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += WORDS)
      if (!isEmpty(before, at)) after.set(before.subarray(at, at + WORDS), slotFor(after, before, at));
    this.#words = after;
  }
}

function wordsOf(text: string): Uint32Array {
  const digest = sha256(text);
  return Uint32Array.from({ length: WORDS }, (_, i) => Number.parseInt(digest.slice(i * 8, i * 8 + 8), 16));
}

/** Where these words stand, or the empty slot where they would. */
function slotFor(table: Uint32Array, words: Uint32Array, at: number): number {
  const slots = table.length / WORDS;
  let slot = words[at]! % slots;
  while (!isEmpty(table, slot * WORDS) && !holds(table, slot * WORDS, words, at)) slot = (slot + 1) % slots;
  return slot * WORDS;
}

function holds(table: Uint32Array, slot: number, words: Uint32Array, at: number): boolean {
  for (let i = 0; i < WORDS; i++) if (table[slot + i] !== words[at + i]) return false;
  return true;
}

function isEmpty(table: Uint32Array, slot: number): boolean {
  for (let i = 0; i < WORDS; i++) if (table[slot + i] !== 0) return false;
  return true;
}
