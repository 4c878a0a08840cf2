import { extractFields, type Reading, wayOf } from './extract.ts';
import type { Heard } from './heard.ts';
import type { Hedge } from './hedge.ts';
import { likelyLanguages } from './language.ts';
import { type HeardRule, type SaidClause, unaskedKind } from './saying.ts';
import type { IndexedSimulation, SearchIndex } from './search-index.ts';
import { deniedIn, isDenial, type Spoken } from './speech.ts';
import { type Occurrence, occurrencesIn } from './vocabulary.ts';
import { type Clue, changes, type IsDenied, type SaidScene, sceneOf, scored } from './worth.ts';

/** What an utterance means by the acts and things that it names, for the simulations that give words for them. */

/** From 0 to 1, for each simulation that was heard of, by its place in the index. */
export type Meanings = ReadonlyMap<number, number>;

export function meaningsOf(index: SearchIndex, utterance: string, said: Heard): Meanings {
  const { clues, scene } = listen(index, utterance, said, deniedIn(said.spoken));
  return new Map(
    [...clues].map(([place, clue]) => {
      const worth = scored(clue, scene);
      const is_sure = worth > UNSURE && !said.is_several && !isNoRequest(clue, utterance, said);
      return [place, is_sure ? worth : Math.min(worth, UNSURE)];
    }),
  );
}

/** What is named and not asked for now: what it would be worth if it were, and whether it is forbidden. */
export interface Mention {
  readonly worth: number;
  readonly is_forbidden: boolean;
}

export function mentionsIn(index: SearchIndex, utterance: string, said: Heard): ReadonlyMap<number, Mention> {
  const { clues, scene } = listen(index, utterance, said, NOTHING_DENIED);
  const named = [...clues].filter(
    ([, clue]) => clue.acts.length > 0 && isNoRequest(clue, utterance, said) && !isAskedBeside(clue, said),
  );
  return new Map(
    named.map(([place, clue]) => [
      place,
      { worth: scored(clue, scene), is_forbidden: isForbidden(clue, scene, utterance, said) },
    ]),
  );
}

const NOTHING_DENIED: ReadonlySet<number> = new Set();

/** Whether something else is asked for in plain words, in a clause that does not name the act. */
function isAskedBeside({ acts }: Clue, { clauses, spoken }: Heard): boolean {
  const isNamedIn = ({ start, end }: SaidClause) =>
    acts.some(({ at }) => spoken[at[0]!]!.start >= start && spoken[at[0]!]!.start < end);
  return clauses.some((clause) => clause.is_request && clause.sure.length === 0 && !isNamedIn(clause));
}

/** The simulations that were heard of, each with its acts but for those that are denied. */
function listen(
  { vocabulary, simulations, sums }: SearchIndex,
  utterance: string,
  { spoken, reading }: Heard,
  denied: ReadonlySet<number>,
): { readonly clues: ReadonlyMap<number, Clue>; readonly scene: SaidScene } {
  const heard =
    vocabulary.terms.length === 0 ? [] : occurrencesIn(vocabulary, spoken, likelyLanguages(utterance));
  const clues = cluesFor(bestPlaces(heard, sums), simulations, reading);
  const masked = maskedIn(spoken, clues);
  const isDenied: IsDenied = ({ role, at }) =>
    role === 'act' && at.some((i) => denied.has(i)) && !at.some((i) => isDenial(spoken[i]!));
  const kept = heard.filter(({ at }) => !at.some((i) => masked.has(i)));
  for (const [place, clue] of clues)
    for (const occurrence of kept) if (isAmong(place, occurrence.places)) addClue(clue, occurrence, isDenied);
  const scene = sceneOf(spoken, kept, { denied, isDenied, masked, clues, total: simulations.length });
  return { clues, scene };
}

/** Just too little to go on without a question. */
const UNSURE = 0.7999;

function isNoRequest(clue: Clue, utterance: string, said: Heard): boolean {
  return isHedged(clue, said) || isUnasked(clue, utterance, said);
}

/** Whether every act that was heard is denied, or all of it is stopped or only thought about. */
function isHedged({ acts, things }: Clue, { hedge }: Heard): boolean {
  const { leading, is_hypothetical } = hedge;
  const is_stopped = leading !== null && ![...acts, ...things].some(({ at }) => at.includes(leading));
  return is_hypothetical || is_stopped || (acts.length > 0 && acts.every((act) => isDeniedBy(act, hedge)));
}

/** Whether every act that was heard is told, asked about or otherwise no request. */
function isUnasked({ acts }: Clue, utterance: string, { spoken, clauses, language }: Heard): boolean {
  return (
    acts.length > 0 &&
    acts.every(({ at, strength }) => {
      const act = { spans: at.map((i) => spoken[i]!), is_verbatim: strength === 1 };
      return unaskedKind(act, utterance, clauses, language) !== null;
    })
  );
}

/** Whether it is plainly forbidden: the rules of the language hear a denial of every act, and nothing else is said. */
function isForbidden(clue: Clue, { contents }: SaidScene, utterance: string, said: Heard): boolean {
  const rules = said.clauses.flatMap(({ sure }) => sure);
  const denials = rules.filter(({ kind }) => kind === 'denial');
  const isInDenial = (one: Pick<HeardRule, 'start' | 'end'>) =>
    denials.some(({ start, end }) => one.start < end && start < one.end);
  if (/[?؟？]/u.test(utterance) || !rules.every(isInDenial) || !isUnasked(clue, utterance, said))
    return false;
  const own = new Set([...clue.acts, ...clue.things].flatMap(({ at }) => at));
  const others = said.spoken.map((word, i) => (own.has(i) || isInDenial(word) ? 0 : contents[i]!));
  return denials.length > 0 && others.reduce((sum, content) => sum + content, 0) < 1;
}

/** An act with a denial of its own, such as "no longer needs", is only denied by another one before it. */
function isDeniedBy({ at }: Occurrence, { denied, by }: Hedge): boolean {
  const has_own = at.some((i) => by.has(i));
  return has_own ? denied.has(at[0]!) && [...by].some((i) => i < at[0]!) : at.some((i) => denied.has(i));
}

/** The places of an occurrence are in order. */
function isAmong(place: number, places: readonly number[]): boolean {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (places[middle]! < place) low = middle + 1;
    else high = middle;
  }
  return places[low] === place;
}

function cluesFor(
  places: readonly number[],
  simulations: readonly IndexedSimulation[],
  reading: Reading,
): Map<number, Clue> {
  return new Map(
    places.map((place) => {
      const { simulation } = simulations[place]!.entry;
      return [place, { simulation, acts: [], things: [], values: extractFields(simulation.fields, reading) }];
    }),
  );
}

function addClue(clue: Clue, occurrence: Occurrence, isDenied: IsDenied): void {
  if (occurrence.role === 'thing') clue.things.push(occurrence);
  else if (!isDenied(occurrence) || !changes(clue.simulation)) clue.acts.push(occurrence);
}

/** Only so many are looked at closely, however large the catalog is. */
const CLOSELY = 24;

/** The places that were heard of most: an act and a thing before two things. The sums are zero again when it is done. */
function bestPlaces(heard: readonly Occurrence[], sums: Float64Array): number[] {
  for (const { places, role, at } of heard) {
    const worth = ((role === 'act' ? 1.5 : 1) * at.length) / Math.sqrt(places.length);
    for (const place of places) sums[place]! += worth;
  }
  const best: { readonly place: number; readonly sum: number }[] = [];
  for (const { places } of heard)
    for (const place of places) {
      const sum = sums[place]!;
      sums[place] = 0;
      if (sum === 0 || (best.length === CLOSELY && sum < best[CLOSELY - 1]!.sum)) continue;
      best.push({ place, sum });
      best.sort((a, b) => b.sum - a.sum || a.place - b.place);
      best.length = Math.min(best.length, CLOSELY);
    }
  return best.map(({ place }) => place);
}

/** Words inside the value of a field are data: `mail-worker` is no wish to mail. */
function maskedIn(spoken: readonly Spoken[], clues: ReadonlyMap<number, Clue>): ReadonlySet<number> {
  const masked = new Set<number>();
  for (const { simulation, values } of clues.values())
    for (const [name, { start, end }] of values) {
      if (!NAMED.includes(wayOf(simulation.fields[name]!))) continue;
      spoken.forEach((word, i) => {
        if (word.start < end && start < word.end) masked.add(i);
      });
    }
  return masked;
}

/** Ways of finding a value that is a name, whatever words it is made of. */
const NAMED: readonly (string | null)[] = ['token', 'path', 'after'];
