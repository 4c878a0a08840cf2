import type { CatalogEntry } from './catalog.ts';
import { sameActs } from './languages/same-acts.ts';
import { inflection, slip } from './similar.ts';
import { isUnspaced, type Spoken, spokenIn } from './speech.ts';
import { dictionaryForm, stemIn } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';
import { verbForms } from './verb-forms.ts';

export type Role = 'act' | 'thing';

/** One way to call an act or a thing, and the simulations that are called so. */
interface Term {
  readonly words: readonly string[];
  readonly role: Role;
  readonly places: number[];
  readonly languages: Set<string>;
  /** Its last word ends the clause. */
  readonly is_apart: boolean;
  /** Another word for what the author wrote. */
  readonly is_other: boolean;
}

/** A word of some term, with the terms that begin with it. */
interface Word {
  readonly text: string;
  readonly letters: number;
  readonly starts: Term[];
  readonly languages: Set<string>;
}

/**
 * Every word for the acts and things of a catalog, each found without looking at the others. Read-only once it is built:
 * how long a query takes depends on what was heard, and not on how many simulations there are.
 */
export interface Vocabulary {
  readonly terms: readonly Term[];
  /** A word which is known is not taken for a slip of another. */
  readonly words: ReadonlyMap<string, Word>;
  /** By their first three letters, which all forms of a word share. */
  readonly stems: ReadonlyMap<string, readonly Word[]>;
  /** By first letter and length, which a slip of the finger leaves nearly as they are. */
  readonly shapes: ReadonlyMap<string, readonly Word[]>;
  /** By language and Snowball stem. */
  readonly roots: ReadonlyMap<string, readonly Word[]>;
}

export function vocabularyOf(entries: readonly CatalogEntry[]): Vocabulary {
  const terms = new Map<string, Term>();
  entries.forEach(({ simulation }, place) => {
    for (const [language, { acts, things }] of Object.entries(simulation.words ?? {})) {
      for (const act of acts)
        for (const { text, is_apart } of verbForms(language, act))
          addTerm(terms, { role: 'act', text, place, language, is_apart });
      for (const act of new Set(acts.flatMap((each) => sameActs(language, each))))
        for (const { text, is_apart } of verbForms(language, act))
          addTerm(terms, { role: 'act', text, place, language, is_apart, is_other: true });
      for (const text of things) addTerm(terms, { role: 'thing', text, place, language, is_apart: false });
    }
  });
  const all = [...terms.values()];
  const words = wordsIn(all);
  const similar = [...words.values()].filter(({ text }) => !isUnspaced(text) && !STOP_WORDS.has(text));
  return {
    terms: all,
    words,
    stems: groupedBy(similar, ({ text }) => stemOf(text)),
    shapes: groupedBy(similar, ({ text }) => shapeOf(text[0]!, text.length)),
    roots: rootsOf(similar),
  };
}

const rootOf = (language: string, word: string): string | null => {
  const stem = stemIn(language, word);
  return stem === null ? null : `${language} ${stem}`;
};

function rootsOf(words: readonly Word[]): Map<string, Word[]> {
  const roots = new Map<string, Word[]>();
  for (const word of words)
    for (const language of word.languages) {
      const root = rootOf(language, word.text);
      if (root === null) continue;
      const same = roots.get(root);
      if (same === undefined) roots.set(root, [word]);
      else same.push(word);
    }
  return roots;
}

const STEM = 3;
const stemOf = (word: string): string => word.slice(0, STEM);
const shapeOf = (first: string, length: number): string => `${first}${length}`;

function wordsIn(terms: readonly Term[]): Map<string, Word> {
  const words = new Map<string, Word>();
  for (const term of terms)
    term.words.forEach((text, i) => {
      const word = words.get(text) ?? { text, letters: lettersOf(text), starts: [], languages: new Set() };
      words.set(text, word);
      for (const language of term.languages) word.languages.add(language);
      if (i === 0) word.starts.push(term);
    });
  return words;
}

/** One bit per letter that occurs: words whose letters differ in many are no slips of each other. */
function lettersOf(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
  return bits;
}

interface NewTerm {
  readonly role: Role;
  readonly text: string;
  readonly place: number;
  readonly language: string;
  readonly is_apart: boolean;
  readonly is_other?: boolean;
}

function addTerm(terms: Map<string, Term>, added: NewTerm): void {
  const { role, text, place, language, is_apart, is_other = false } = added;
  const words = spokenIn(text).map((spoken) => spoken.text);
  if (words.length === 0) return;
  const key = `${role} ${is_apart} ${is_other} ${words.join(' ')}`;
  const term = terms.get(key) ?? { words, role, places: [], languages: new Set(), is_apart, is_other };
  term.languages.add(language);
  if (term.places.at(-1) !== place) term.places.push(place);
  terms.set(key, term);
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

/** The words of the catalog that each spoken word may be, and how clearly. */
type Likenesses = readonly ReadonlyMap<string, number>[];

interface Listener {
  readonly vocabulary: Vocabulary;
  readonly spoken: readonly Spoken[];
  readonly languages: ReadonlySet<string>;
  readonly heard: Likenesses;
}

/** What was heard. A form of a word inside a longer term is not: "was locked" is no wish to lock. */
export function occurrencesIn(
  vocabulary: Vocabulary,
  spoken: readonly Spoken[],
  languages: ReadonlySet<string>,
): Occurrence[] {
  const heard = spoken.map((word) => likenesses(vocabulary, word, languages));
  const listener = { vocabulary, spoken, languages, heard };
  const found = spoken.flatMap((_, i) => startingAt(listener, i));
  const longer = found.filter(({ at }) => at.length > 1);
  return longer.length === 0 ? found : found.filter((each) => !longer.some((other) => isInside(each, other)));
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
/** Another word for the act tells less than the author's own: of two simulations the one that has it leads. */
const OTHER_WORD = 0.85;

function startingAt(listener: Listener, first: number): Occurrence[] {
  const { vocabulary, languages, heard } = listener;
  const found: Occurrence[] = [];
  for (const [word, strength] of heard[first]!)
    for (const { role, places, words, ...term } of vocabulary.words.get(word)!.starts) {
      if (!shareAny(term.languages, languages)) continue;
      const rest = follow(listener, first, words, term.is_apart);
      if (rest === null) continue;
      const is_run = isUnspaced(word);
      const clear = Math.min(strength, rest.strength);
      found.push({ role, places, at: rest.at, strength: term.is_other ? clear * OTHER_WORD : clear, is_run });
    }
  return found;
}

function shareAny(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const each of some) if (others.has(each)) return true;
  return false;
}

/** How far apart the words of one term may stand: "switch it back off". */
const GAP = 5;

/** The rest of the term, in its order, each word in the first place where it is heard. */
function follow(listener: Listener, first: number, words: readonly string[], is_apart: boolean) {
  const { spoken, heard } = listener;
  const at = [first];
  let least = 1;
  for (const word of words.slice(1)) {
    const last = at.at(-1)!;
    const gap = is_apart ? spoken.length : isUnspaced(word) ? 1 : GAP;
    let next = -1;
    for (let i = last + 1; i <= last + gap && next < 0; i++) {
      const here = spoken[i];
      if (here === undefined || here.clause !== spoken[first]!.clause) break;
      const strength = heard[i]!.get(word);
      if (strength === undefined || (is_apart && spoken[i + 1]?.clause === here.clause)) continue;
      next = i;
      least = Math.min(least, strength);
    }
    if (next < 0) return null;
    at.push(next);
  }
  return { at, strength: least };
}

/** A word that the catalog knows is that word, or a form of a longer one; only an unknown word may be a slip. */
function likenesses(
  vocabulary: Vocabulary,
  { text, forms }: Spoken,
  languages: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  if (vocabulary.words.has(text)) found.set(text, 1);
  if (isUnspaced(text) || STOP_WORDS.has(text)) return found;
  const hear = (word: string, strength: number) => {
    if (strength >= LEAST && strength > (found.get(word) ?? 0)) found.set(word, strength);
  };
  for (const form of forms) {
    if (vocabulary.words.has(form) && !STOP_WORDS.has(form)) hear(form, 1);
    for (const word of vocabulary.stems.get(stemOf(form)) ?? []) hear(word.text, inflection(form, word.text));
  }
  for (const form of forms)
    for (const language of languages) {
      for (const word of vocabulary.roots.get(rootOf(language, form) ?? '') ?? []) hear(word.text, SAME_ROOT);
      const listed = dictionaryForm(language, form);
      if (listed !== null && vocabulary.words.has(listed)) hear(listed, SAME_ROOT);
    }
  if (!forms.some((form) => shareAny(vocabulary.words.get(form)?.languages ?? NO_LANGUAGES, languages)))
    for (const form of forms)
      for (const { text } of nearby(vocabulary, form))
        if (inflection(form, text) === 0) hear(text, slip(form, text));
  return found;
}

/** Another form of the same word, by the rules of its language. */
const SAME_ROOT = 0.95;
const NO_LANGUAGES: ReadonlySet<string> = new Set();
/** No word may have more slips. */
const MOST_SLIPS = 2;

/** The words of about the same length, with about the same letters. Whatever is a slip of the form is among them. */
function* nearby({ shapes }: Vocabulary, form: string): Generator<Word> {
  const letters = lettersOf(form);
  for (let length = form.length - MOST_SLIPS; length <= form.length + MOST_SLIPS; length++)
    for (const word of shapes.get(shapeOf(form[0]!, length)) ?? [])
      if (bitsIn(word.letters ^ letters) <= 2 * MOST_SLIPS) yield word;
}

function bitsIn(bits: number): number {
  let rest = bits;
  let count = 0;
  for (; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
