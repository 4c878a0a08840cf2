import { folded } from './fold.ts';
import { STOP_WORDS } from './stop-words.ts';

/**
 * What a user says, cut into the pieces that are compared. Nothing here asks the platform for its idea of a language:
 * word segmentation differs between versions, and the same text must always give the same pieces.
 */

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]+/gu;
const HIRAGANA = /^[\p{Script=Hiragana}\u30fc]$/u;

/**
 * One piece of a text. A word is known by its one term; a character of an unspaced script by the pairs around it, because
 * the text does not mark where its word ends.
 */
export interface Unit {
  readonly terms: readonly string[];
}

/** The pieces of a text that carry meaning, each once. */
export function unitsOf(text: string): Unit[] {
  const units = new Map<string, Unit>();
  for (const [word] of folded(text).matchAll(WORD)) {
    let from = 0;
    for (const run of word.matchAll(UNSPACED)) {
      addWord(units, word.slice(from, run.index));
      addRun(units, [...run[0]]);
      from = run.index + run[0].length;
    }
    addWord(units, word.slice(from));
  }
  return [...units.values()];
}

/** Words with a digit are names and amounts: values, never what is wanted. */
function addWord(units: Map<string, Unit>, word: string): void {
  const term = stemVowels(withoutArticle(word));
  if (term.length < 2 || /\p{N}/u.test(term) || STOP_WORDS.has(word)) return;
  units.set(term, { terms: [term] });
}

/** Spanish verbs change the vowel of the stem: aprobar, aprueba; cerrar, cierra. Both sides of a comparison are folded. */
export function stemVowels(word: string): string {
  return word.length < 5 ? word : word.replace(/ue(?=[a-z])/g, 'o').replace(/ie(?=[a-z])/g, 'e');
}

const ARABIC_ARTICLE = /^[وفبك]?ال(?=.{3})|^لل(?=.{3})/;

function withoutArticle(word: string): string {
  return word.replace(ARABIC_ARTICLE, '');
}

/** Hiragana is mostly grammar: it helps to tell the characters beside it, and counts for nothing itself. */
function addRun(units: Map<string, Unit>, characters: readonly string[]): void {
  characters.forEach((character, i) => {
    if (HIRAGANA.test(character)) return;
    const before = i > 0 ? characters[i - 1]! + character : null;
    const after = i + 1 < characters.length ? character + characters[i + 1]! : null;
    const terms = [before, after].filter((pair) => pair !== null);
    if (terms.length > 0 && !terms.every((pair) => STOP_WORDS.has(pair)))
      units.set(`${character} ${terms.join()}`, { terms });
  });
}

/** The words that carry meaning, as they are spoken. An unspaced run is one of them. */
export function contentWords(text: string): string[] {
  const words = folded(withoutData(text)).match(/[\p{L}\p{M}]+/gu) ?? [];
  return [...new Set(words)].filter((word) => word.length > 1 && !STOP_WORDS.has(word));
}

/** All terms of the units, each once, in the order in which they stand. */
export function termsIn(units: readonly Unit[]): string[] {
  return [...new Set(units.flatMap(({ terms }) => terms))];
}

const QUOTED = /"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』|`([^`]+)`/g;

export interface Quoted {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** What stands in quotes, without them. */
export function quotedIn(text: string): Quoted[] {
  return [...text.matchAll(QUOTED)].map((found) => {
    const inner = found.slice(1).find((group) => group !== undefined)!;
    const start = found.index + found[0].indexOf(inner);
    return { text: inner, start, end: start + inner.length };
  });
}

/** Addresses, paths, domains and names with an underscore. */
const NAMES = /[A-Za-z0-9-]+(?:[@/_.]+[A-Za-z0-9%+-]+)+/g;

/** The same text, with blanks where quotations and names stand. Every place stays where it is. */
export function blankedData(text: string): string {
  const blank = (data: string) => ' '.repeat(data.length);
  return text.replace(QUOTED, blank).replace(NAMES, blank);
}

/** The text without quotations and names, which are data and say nothing about what is wanted. */
export function withoutData(text: string): string {
  const outside = text.replace(QUOTED, ' ').replace(NAMES, ' ');
  return unitsOf(outside).length > 0 ? outside : text;
}
