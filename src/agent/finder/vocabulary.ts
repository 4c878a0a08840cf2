import type { CatalogEntry } from '../catalog.ts';
import { inflection, slip } from './similar.ts';
import { isUnspaced, type Spoken, spokenIn } from './speech.ts';
import { STOP_WORDS } from './stop-words.ts';

export type Role = 'act' | 'thing';

/** One way to call an act or a thing, and the simulations that are called so. */
interface Term {
  readonly words: readonly string[];
  readonly role: Role;
  readonly places: number[];
  readonly languages: Set<string>;
}

/** Every word for the acts and things of a catalog, found by its first letter. Read-only once it is built. */
export interface Vocabulary {
  readonly terms: readonly Term[];
  /** Each first word of a term, under its first letter. */
  readonly starts: ReadonlyMap<string, readonly (readonly [word: string, terms: readonly Term[]])[]>;
  /** Every word with its languages: a word which is known is not taken for a slip of another. */
  readonly known: ReadonlyMap<string, ReadonlySet<string>>;
}

export function vocabularyOf(entries: readonly CatalogEntry[]): Vocabulary {
  const terms = new Map<string, Term>();
  entries.forEach(({ simulation }, place) => {
    for (const [language, { acts, things }] of Object.entries(simulation.words ?? {})) {
      for (const act of acts) addTerm(terms, 'act', act, place, language);
      for (const thing of things) addTerm(terms, 'thing', thing, place, language);
    }
  });
  const all = [...terms.values()];
  return { terms: all, starts: startsOf(all), known: knownIn(all) };
}

function knownIn(terms: readonly Term[]): Vocabulary['known'] {
  const known = new Map<string, Set<string>>();
  for (const { words, languages } of terms)
    for (const word of words) known.set(word, new Set([...(known.get(word) ?? []), ...languages]));
  return known;
}

function addTerm(terms: Map<string, Term>, role: Role, text: string, place: number, language: string): void {
  const words = spokenIn(text).map((spoken) => spoken.text);
  if (words.length === 0) return;
  const key = `${role} ${words.join(' ')}`;
  const term = terms.get(key) ?? { words, role, places: [], languages: new Set() };
  term.languages.add(language);
  if (term.places.at(-1) !== place) term.places.push(place);
  terms.set(key, term);
}

function startsOf(terms: readonly Term[]): Vocabulary['starts'] {
  const by_word = groupedBy(terms, ({ words }) => words[0]!);
  return groupedBy([...by_word], ([word]) => word[0]!);
}

function groupedBy<T>(all: readonly T[], keyOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each)) ?? [];
    groups.set(keyOf(each), group);
    group.push(each);
  }
  return groups;
}

/** A term that was heard, in which words of the utterance, and how clearly. */
export interface Occurrence {
  readonly role: Role;
  readonly places: readonly number[];
  readonly at: readonly number[];
  readonly strength: number;
  /** Characters of a script without spaces: the longer run is the word. */
  readonly is_run: boolean;
}

interface Listener {
  readonly vocabulary: Vocabulary;
  readonly spoken: readonly Spoken[];
  readonly languages: ReadonlySet<string>;
}

/** What was heard. A form of a word inside a longer term is not: "was locked" is no wish to lock. */
export function occurrencesIn(
  vocabulary: Vocabulary,
  spoken: readonly Spoken[],
  languages: ReadonlySet<string>,
): Occurrence[] {
  const listener = { vocabulary, spoken, languages };
  const heard = spoken.flatMap((_, i) => startingAt(listener, i));
  const longer = heard.filter(({ at }) => at.length > 1);
  return heard.filter((each) => !longer.some((other) => isInside(each, other)));
}

function isInside(inner: Occurrence, outer: Occurrence): boolean {
  return (
    inner.role === outer.role &&
    (inner.strength < 1 || outer.is_run) &&
    inner.at.length < outer.at.length &&
    inner.at.every((place) => outer.at.includes(place))
  );
}

const LEAST = 0.85;

function startingAt(listener: Listener, first: number): Occurrence[] {
  const { vocabulary, spoken, languages } = listener;
  const found: Occurrence[] = [];
  for (const letter of new Set(spoken[first]!.forms.map((form) => form[0]!)))
    for (const [word, terms] of vocabulary.starts.get(letter) ?? []) {
      const strength = strengthOf(listener, spoken[first]!, word);
      if (strength < LEAST) continue;
      for (const { role, places, words, ...term } of terms) {
        if (![...term.languages].some((language) => languages.has(language))) continue;
        const rest = follow(listener, first, words);
        if (rest === null) continue;
        const is_run = isUnspaced(word);
        found.push({ role, places, at: rest.at, strength: Math.min(strength, rest.strength), is_run });
      }
    }
  return found;
}

/** How far apart the words of one term may stand: "switch it back off". */
const GAP = 5;

/** The rest of the term, in its order, each word in the first place where it is heard. */
function follow(listener: Listener, first: number, words: readonly string[]) {
  const { spoken } = listener;
  const at = [first];
  let least = 1;
  for (const word of words.slice(1)) {
    const last = at.at(-1)!;
    const gap = isUnspaced(word) ? 1 : GAP;
    let next = -1;
    for (let i = last + 1; i <= last + gap && next < 0; i++) {
      const here = spoken[i];
      if (here === undefined || here.clause !== spoken[first]!.clause) break;
      const strength = strengthOf(listener, here, word);
      if (strength < LEAST) continue;
      next = i;
      least = Math.min(least, strength);
    }
    if (next < 0) return null;
    at.push(next);
  }
  return { at, strength: least };
}

/** A word that the catalog knows is that word, or a form of a longer one; only an unknown word may be a slip. */
function strengthOf({ vocabulary, languages }: Listener, { text, forms }: Spoken, word: string): number {
  if (text === word) return 1;
  if (isUnspaced(word) || STOP_WORDS.has(text) || STOP_WORDS.has(word)) return 0;
  const isKnown = (form: string) =>
    [...(vocabulary.known.get(form) ?? [])].some((each) => languages.has(each));
  const is_known = forms.some(isKnown);
  return Math.max(...forms.map((form) => inflection(form, word) || (is_known ? 0 : slip(form, word))));
}
