import type { SearchResult } from 'minisearch';
import { extractFields, type Reading, wayOf } from './extract.ts';
import { type Heard, heardIn } from './heard.ts';
import { isPhraseHedged } from './hedge.ts';
import { LANGUAGE_RULES } from './languages/all.ts';
import { meaningsOf, mentionsIn } from './meaning.ts';
import { isPhraseUnasked } from './phrase-saying.ts';
import {
  type IndexedSimulation,
  type Phrase,
  queryOf,
  type SearchIndex,
  searchFor,
  sizeOf,
  wordingOf,
} from './search-index.ts';
import { similarity } from './similar.ts';
import type { Simulation } from './simulation.ts';
import type { Spoken } from './speech.ts';
import { spokenOf } from './stem.ts';
import { termsIn, type Unit, unitsOf, withoutData } from './text.ts';

export interface Scored {
  readonly simulation: IndexedSimulation;
  readonly confidence_bp: number;
}

/** Points between which a score is turned into basis points. */
type Calibration = readonly (readonly [raw: number, bp: number])[];

/** The search gives many that share one word. Only the best can be meant, and only the very best are looked at closely. */
const CANDIDATES = 32;
const CLOSELY = 5;

/** Scores the simulations that the utterance names in words or phrases. */
export function scoreAll(
  index: SearchIndex,
  utterance: string,
  read?: readonly [string, ...string[]],
): Scored[] {
  const { heard, said } = searchedIn(index, utterance, read);
  const meant = meaningsOf(index, utterance, heard);
  const verbatim = new Set(index.verbatim.get(wordingOf(utterance)));
  if (index.vocabulary.terms.length === 0 && verbatim.size === 0) return said;
  const phrases = new Map(said.map(({ simulation, confidence_bp }) => [simulation.place, confidence_bp]));
  return [...new Set([...phrases.keys(), ...meant.keys(), ...verbatim])].map((place) => {
    const simulation = index.simulations[place]!;
    const words_bp = mapped(MEANT, meant.get(place) ?? 0);
    const confidence_bp = combined(simulation, phrases.get(place) ?? 0, words_bp);
    return { simulation, confidence_bp: verbatim.has(place) ? VERBATIM_BP : confidence_bp };
  });
}

interface Searched {
  readonly heard: Heard;
  readonly said: ScoredPhrase[];
}

/** Of the last utterance in each index: it is read once for what is asked for, and once for what is only spoken of. */
const searched = new WeakMap<SearchIndex, Searched & { readonly of: string }>();

function searchedIn(index: SearchIndex, utterance: string, read: readonly string[] = []): Searched {
  const of = `${read.join(' ')}\n${utterance}`;
  const known = searched.get(index);
  if (known?.of === of) return known;
  const [language, ...others] = read;
  const heard = heardIn(index, utterance, language === undefined ? undefined : [language, ...others]);
  const now = { of, heard, said: scorePhrases(index, utterance, heard) };
  searched.set(index, now);
  return now;
}

/** The author's own phrase, said as it is written. Another simulation with the same phrase is a question. */
const VERBATIM_BP = 10_000;

export interface Unasked {
  readonly simulation: Simulation;
  readonly is_forbidden: boolean;
}

/**
 * The simulation that is named best of those that are not asked for now: it is denied, told, wished for or made to depend on
 * something. Null where none is named as clearly as a goal would have to name it to be asked about.
 */
export function unaskedIn(
  index: SearchIndex,
  utterance: string,
  read: readonly [string, ...string[]],
): Unasked | null {
  const { heard, said } = searchedIn(index, utterance, read);
  if (isPlain(heard, utterance)) return null;
  const spoken = heard.spoken.map((word) => withToldForms(word, read));
  const by_words = [...mentionsIn(index, utterance, { ...heard, spoken })].map(([place, named]) => ({
    place,
    bp: mapped(MEANT, named.worth),
    is_forbidden: named.is_forbidden,
  }));
  const by_phrases = said
    .filter(({ is_unasked, simulation: { entry } }) => is_unasked && entry.simulation.words === undefined)
    .map(({ simulation: { place }, confidence_bp: bp }) => ({ place, bp, is_forbidden: false }));
  const [best] = [...by_words, ...by_phrases].sort((a, b) => b.bp - a.bp || a.place - b.place);
  if (best === undefined || best.bp < NAMED_BP) return null;
  return { simulation: index.simulations[best.place]!.entry.simulation, is_forbidden: best.is_forbidden };
}

/** Whether nothing was heard that could make it no request: then nothing in it is only spoken of. */
function isPlain({ hedge, clauses, spoken, language }: Heard, utterance: string): boolean {
  const { told_form } = LANGUAGE_RULES.get(language) ?? {};
  const is_hedged =
    hedge.by.size > 0 || hedge.denied.size > 0 || hedge.leading !== null || hedge.is_hypothetical;
  return (
    !is_hedged &&
    clauses.every(({ sure, likely }) => sure.length === 0 && likely.length === 0) &&
    !spoken.some(({ start, end }) => told_form?.test(utterance.slice(start, end).toLowerCase()))
  );
}

function withToldForms(word: Spoken, languages: readonly string[]): Spoken {
  const more = word.forms.flatMap((form) => spokenOf(languages, form));
  return more.length === 0 ? word : { ...word, forms: [...new Set([...word.forms, ...more])] };
}

/** As much as a goal needs to be asked about. */
const NAMED_BP = 7000;

/** From the score by words to basis points. Below 7000 an act or a thing is missing, or something else is talked about. */
const MEANT: Calibration = [
  [0, 0],
  [0.62, 7000],
  [0.8, 9000],
  [1, 10_000],
];

/** A whole phrase is worth a question where its act was heard and its thing was not, and never more. */
const WHOLE_PHRASE_BP = 9500;
const ACT_HEARD_BP = 6000;
const ASK_BP = 7500;

/** A simulation that gives words is heard by them: a phrase shares its thing with many wishes that it does not serve. */
function combined({ entry }: IndexedSimulation, phrase_bp: number, words_bp: number): number {
  if (entry.simulation.words === undefined) return phrase_bp;
  const is_whole = phrase_bp >= WHOLE_PHRASE_BP && words_bp >= ACT_HEARD_BP;
  return is_whole ? Math.max(words_bp, ASK_BP) : words_bp;
}

interface ScoredPhrase extends Scored {
  /** Known well enough to be matched, and no request. */
  readonly is_unasked: boolean;
}

function scorePhrases(index: SearchIndex, utterance: string, said: Heard): ScoredPhrase[] {
  const units = unitsOf(withoutData(utterance));
  const results = searchFor(index, queryOf(termsIn(units))).slice(0, CANDIDATES);
  const heard = hearing(units, results, index);
  const scored = results
    .map((result) => {
      const simulation = index.simulations[result.id as number]!;
      const matched = Object.keys(result.match);
      return { simulation, matched, raw: rawScore(heard, simulation, matched) };
    })
    .sort((a, b) => b.raw - a.raw || a.simulation.place - b.simulation.place);
  return scored.map(({ simulation, matched, raw }, i) => {
    const close = i < CLOSELY ? closeScore(heard, simulation, matched, said.reading) : raw;
    const { simulation: named } = simulation.entry;
    const is_unasked =
      close >= SURE &&
      (isPhraseHedged(said, matched, named) || isPhraseUnasked(said, matched, named, utterance));
    // A phrase does not say which of its words is the act: only a whole one surely has the act and its thing.
    const is_sure = close >= SURE && !said.is_several && !is_unasked && isWhole(heard, simulation, matched);
    return { simulation, confidence_bp: calibrated(is_sure ? close : Math.min(close, UNSURE)), is_unasked };
  });
}

/** Once more, with what the utterance gives for the fields: a value is not an unknown word. */
function closeScore(
  heard: Hearing,
  simulation: IndexedSimulation,
  matched: readonly string[],
  reading: Reading,
): number {
  const { fields } = simulation.entry.simulation;
  const found = extractFields(fields, reading);
  if (found.size === 0) return rawScore(heard, simulation, matched);
  const values = new Set(termsIn(unitsOf([...found.values()].map(({ text }) => text).join(' '))));
  const raw = rawScore(heard, simulation, matched, values);
  const telling = [...found.keys()].some((name) => TELLING.includes(wayOf(fields[name]!)));
  return telling && raw < SURE ? Math.min(raw + FIELD_BONUS, UNSURE) : raw;
}

/** Ways of finding a value that only the right kind of value passes. Dates, numbers and addresses are everywhere. */
const TELLING: readonly (string | null)[] = ['token', 'enum', 'path', 'after'];
/** It makes up for an object that is named and not described, and is never enough to go on without asking. */
const FIELD_BONUS = 0.12;

/** Which unit of the utterance a term of the catalog was heard in, and how clearly. */
interface Hearing {
  readonly terms: ReadonlyMap<string, readonly (readonly [unit: number, strength: number])[]>;
  /** What each unit of the utterance tells; nothing, when the catalog does not know it. */
  readonly weights: readonly number[];
  readonly units: readonly Unit[];
  /** How many words each unit is: a character of an unspaced script is half of one. */
  readonly sizes: readonly number[];
}

function hearing(units: readonly Unit[], results: readonly SearchResult[], index: SearchIndex): Hearing {
  const terms = new Map<string, (readonly [number, number])[]>();
  const weights = units.map(() => 0);
  for (const { match } of results) {
    for (const term of Object.keys(match)) {
      if (terms.has(term)) continue;
      const heard = hearTerm(units, term);
      terms.set(term, heard);
      const weight = index.weightOf(term) * sizeOf({ terms: [term] });
      for (const [unit, strength] of heard) weights[unit] = Math.max(weights[unit]!, weight * strength);
    }
  }
  return { terms, units, weights, sizes: units.map(sizeOf) };
}

function hearTerm(units: readonly Unit[], term: string): (readonly [number, number])[] {
  const heard: (readonly [number, number])[] = [];
  units.forEach((unit, i) => {
    const strength = Math.max(...unit.terms.map((typed) => similarity(typed, term)));
    if (strength > 0) heard.push([i, strength]);
  });
  return heard;
}

/** How much the share of the utterance counts, beside the share of the phrase. */
const UTTERANCE_SHARE = 0.15;
/** Words of a simulation from different phrases and languages together are weaker evidence than one whole phrase. */
const SCATTERED = 0.7;
/** Evidence of so many words is what may be scattered. One word alone is none. */
const SCATTERED_WORDS = 1.5;
/** A few words of a simulation occur in any story by chance, so this much of the utterance must be about it. */
const DENSITY = 0.8;
/** What one word of a longer phrase can be worth at most. */
const LONE_SHARE = 0.5;

const NO_VALUES: ReadonlySet<string> = new Set();

/** From 0 to 1. Words that belong to a value count neither for nor against. */
function rawScore(
  heard: Hearing,
  { phrases, needed }: IndexedSimulation,
  matched: readonly string[],
  values: ReadonlySet<string> = NO_VALUES,
): number {
  const strengths = new Map<string, number>();
  const explained = heard.units.map(() => 0);
  for (const term of matched)
    for (const [unit, strength] of heard.terms.get(term)!) {
      strengths.set(term, Math.max(strengths.get(term) ?? 0, strength));
      explained[unit] = Math.max(explained[unit]!, strength);
    }
  if (strengths.size === 0) return 0;
  let [evidence, known, words, all] = [0, 0, 0, 0];
  heard.units.forEach(({ terms }, i) => {
    const strength = explained[i]!;
    if (strength === 0 && terms.every((term) => values.has(term))) return;
    evidence += strength * heard.weights[i]!;
    known += heard.weights[i]!;
    words += strength * heard.sizes[i]!;
    all += heard.sizes[i]!;
  });
  const density = Math.min(1, words / all / DENSITY);
  let best = words < SCATTERED_WORDS ? 0 : SCATTERED * density * Math.min(1, evidence / needed);
  for (const phrase of phrases)
    best = Math.max(best, covered(phrase, strengths) * (phrase.words > 1 ? 1 : density));
  return (1 - UTTERANCE_SHARE) * best + UTTERANCE_SHARE * (known === 0 ? 0 : evidence / known);
}

/** Whether every word of one of its phrases was heard. */
function isWhole(heard: Hearing, { phrases }: IndexedSimulation, matched: readonly string[]): boolean {
  const terms = new Set(matched.filter((term) => heard.terms.get(term)!.length > 0));
  return phrases.some(({ units }) => units.every((unit) => unit.terms.some((term) => terms.has(term))));
}

/** The share of a phrase that was heard. A single word of several is never more than half of what was meant. */
function covered({ units, words, weight }: Phrase, strengths: ReadonlyMap<string, number>): number {
  let heard = 0;
  let heard_words = 0;
  for (const unit of units) {
    let best = 0;
    for (const term of unit.terms) best = Math.max(best, strengths.get(term) ?? 0);
    heard += best * unit.weight;
    heard_words += best > 0 ? sizeOf(unit) : 0;
  }
  const share = heard / weight;
  return words >= 2 && heard_words <= 1 ? Math.min(share, LONE_SHARE) : share;
}

/** The raw score from which nothing need be asked. */
const SURE = 0.74;
const UNSURE = SURE - 0.0001;

/** From raw score to basis points, so that the fixed thresholds 7000 and 9000 mean what they say. */
const CALIBRATION: Calibration = [
  [0, 0],
  [0.68, 7000],
  [SURE, 9000],
  [1, 10_000],
];

const calibrated = (raw: number): number => mapped(CALIBRATION, raw);

function mapped(table: Calibration, raw: number): number {
  const next = table.findIndex(([end]) => raw <= end);
  if (next <= 0) return next === 0 ? 0 : 10_000;
  const [low, low_bp] = table[next - 1]!;
  const [high, high_bp] = table[next]!;
  return Math.round(low_bp + ((raw - low) / (high - low)) * (high_bp - low_bp));
}
