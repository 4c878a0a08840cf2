import MiniSearch, { type SearchOptions, type SearchResult } from 'minisearch';
import type { CatalogEntry } from './catalog.ts';
import type { CatalogLanguages } from './language.ts';
import { edits, shortest } from './similar.ts';
import type { Simulation } from './simulation.ts';
import { spokenIn, wordOf } from './speech.ts';
import { spellingOf } from './spelling.ts';
import { termsIn, type Unit, unitsOf } from './text.ts';
import { type Patterns, patternsIn } from './value.ts';
import { type Vocabulary, vocabularyOf } from './vocabulary.ts';

/** A unit of a phrase, and how much it tells: what stands in few simulations tells most. */
export interface WeighedUnit extends Unit {
  readonly weight: number;
}

export interface Phrase {
  readonly units: readonly WeighedUnit[];
  readonly words: number;
  readonly weight: number;
}

export interface IndexedSimulation {
  /** In the order of the ids. */
  readonly place: number;
  readonly entry: CatalogEntry;
  readonly phrases: readonly Phrase[];
  readonly needed: number;
}

/** The simulations of one status, ready to be searched. Read-only once it is built. */
export interface SearchIndex {
  readonly simulations: readonly IndexedSimulation[];
  readonly search: MiniSearch;
  readonly weightOf: (term: string) => number;
  readonly vocabulary: Vocabulary;
  readonly patterns: Patterns;
  /** Which simulations have a phrase of exactly these words. */
  readonly verbatim: ReadonlyMap<string, readonly number[]>;
  readonly languages: CatalogLanguages;
  /** One number per simulation, for the sums of one query. All zero between two queries, which saves making it anew. */
  readonly sums: Float64Array;
}

/** How many simulations have each term, over the whole catalog: a weight does not depend on the status of others. */
export type Frequencies = ReadonlyMap<string, number>;

const unitsOfPhrases = (simulation: Simulation): Unit[][] =>
  [...Object.values(simulation.summary), ...Object.values(simulation.phrases).flat()]
    .map(unitsOf)
    .filter((units) => units.length > 0);

export function frequenciesIn(entries: readonly CatalogEntry[]): Frequencies {
  const frequencies = new Map<string, number>();
  for (const { simulation } of entries)
    for (const term of termsIn(unitsOfPhrases(simulation).flat()))
      frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return frequencies;
}

/** The weight of BM25: the logarithm of how rare a term is. */
function rarity(frequency: number, total: number): number {
  return Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
}

/** A phrase of one word is weighed as if it were this much more than the rarest word. */
const LONE_WORD = 1.2;

export function buildIndex(
  entries: readonly CatalogEntry[],
  frequencies: Frequencies,
  total: number,
): SearchIndex {
  const weightOf = (term: string) => rarity(frequencies.get(term) ?? 1, total);
  const least = LONE_WORD * rarity(1, total);
  const simulations = entries.map((entry, place) => {
    const phrases = unitsOfPhrases(entry.simulation).map((units) => weighed(units, weightOf, least));
    return { place, entry, phrases, needed: neededBy(phrases) };
  });
  const search = new MiniSearch({ fields: ['terms'], tokenize: splitTerms, processTerm: asItIs });
  search.addAll(simulations.map(({ phrases, place }) => ({ id: place, terms: documentOf(phrases) })));
  const vocabulary = vocabularyOf(entries);
  return {
    simulations,
    search,
    weightOf,
    vocabulary,
    verbatim: verbatimOf(entries),
    languages: {
      having: (word) => vocabulary.words.get(wordOf(word))?.languages ?? [],
      spelling: spellingOf(textsOf(entries)),
    },
    patterns: patternsIn(entries.flatMap(({ simulation }) => Object.values(simulation.fields))),
    sums: new Float64Array(entries.length),
  };
}

function weighed(units: readonly Unit[], weightOf: (term: string) => number, least: number): Phrase {
  const all = units.map((unit) => ({
    terms: unit.terms,
    // The commoner pair is the one inside the word.
    weight: Math.min(...unit.terms.map(weightOf)) * sizeOf(unit),
  }));
  const weight = all.reduce((sum, { weight }) => sum + weight, 0);
  const words = all.reduce((sum, unit) => sum + sizeOf(unit), 0);
  // One word alone says enough only when no other simulation has it.
  return { units: all, words, weight: words <= 1 ? Math.max(weight, least) : weight };
}

function verbatimOf(entries: readonly CatalogEntry[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  entries.forEach(({ simulation: { summary, phrases } }, place) => {
    for (const text of [...Object.values(summary), ...Object.values(phrases).flat()]) {
      const key = wordingOf(text);
      const same = places.get(key) ?? [];
      if (key !== '' && same.at(-1) !== place) places.set(key, [...same, place]);
    }
  });
  return places;
}

/** The words of a text in their order. Values, marks and courtesies are not among them. */
export function wordingOf(text: string): string {
  return spokenIn(text)
    .map((word) => word.text)
    .filter((word) => !COURTESY.has(word))
    .join(' ');
}

const COURTESY = new Set(['please', 'kindly', 'bitte', 'svp', 'porfa', 'कृपया'].map(wordOf));

function* textsOf(entries: readonly CatalogEntry[]): Generator<readonly [string, string]> {
  for (const { simulation } of entries) {
    yield* Object.entries(simulation.summary);
    for (const [language, phrases] of Object.entries(simulation.phrases))
      for (const phrase of phrases) yield [language, phrase];
    for (const [language, { acts, things }] of Object.entries(simulation.words ?? {}))
      for (const word of [...acts, ...things]) yield [language, word];
  }
}

/** How many words a unit is. Two characters of an unspaced script make one, more or less. */
export function sizeOf({ terms }: Unit): number {
  return isPair(terms[0]!) ? 0.5 : 1;
}

/** What it takes to mean this simulation in words of several phrases: as much as its lightest phrase of two words. */
function neededBy(phrases: readonly Phrase[]): number {
  const whole = phrases.filter(({ words }) => words >= 2);
  return Math.min(...(whole.length > 0 ? whole : phrases).map(({ weight }) => weight));
}

/** From the CJK radicals on, a term is a pair of characters. */
export function isPair(term: string): boolean {
  return term.charCodeAt(0) >= 0x2e80;
}

function documentOf(phrases: readonly Phrase[]): string {
  return termsIn(phrases.flatMap(({ units }) => units)).join(' ');
}

const splitTerms = (text: string): string[] => text.split(' ');
const asItIs = (term: string): string => term;

export interface Query {
  readonly text: string;
  readonly options: SearchOptions;
}

/** Two slips cover one swap of neighbours, which counts as two here. What is too far is sorted out by `similarity`. */
const FUZZY = 2;

/** The same words as a user typed them, with slips of the finger, and their stems, as beginnings of other words. */
export function queryOf(terms: readonly string[]): Query {
  const stems = terms.filter((term) => !isPair(term) && term.length >= shortest(term)).map(stemOf);
  const typed = terms.length;
  return {
    text: [...terms, ...stems].join(' '),
    options: {
      tokenize: splitTerms,
      processTerm: asItIs,
      combineWith: 'OR',
      fuzzy: (term, i) => i < typed && !isPair(term) && edits(term.length) > 0 && FUZZY,
      prefix: (_, i) => i >= typed,
      weights: { fuzzy: 0.6, prefix: 0.6 },
    },
  };
}

const STEM_SHARE = 0.65;

function stemOf(term: string): string {
  return term.slice(0, Math.max(3, Math.ceil(term.length * STEM_SHARE)));
}

/** Equal scores keep the order of the ids, because the simulations were added in it. */
export function searchFor(index: SearchIndex, { text, options }: Query): SearchResult[] {
  return text === '' ? [] : index.search.search(text, options);
}
