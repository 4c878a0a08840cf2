import { asidesIn, askedIn } from './asides.ts';
import { type Found, wayOf } from './extract.ts';
import type { Simulation } from './simulation.ts';
import { isUnspaced, type Spoken } from './speech.ts';
import { STOP_WORDS } from './stop-words.ts';
import type { Occurrence } from './vocabulary.ts';

/** How well a simulation fits the acts, things and values that an utterance names. */

export type IsDenied = (occurrence: Occurrence) => boolean;

export interface Clue {
  readonly simulation: Simulation;
  readonly acts: Occurrence[];
  readonly things: Occurrence[];
  readonly values: ReadonlyMap<string, Found>;
}

/** "It is not running?" asks after a state. Only what changes the world can be denied. */
export const changes = (simulation: Simulation): boolean => simulation.side_effecting || simulation.impactful;

export interface SaidScene {
  readonly spoken: readonly Spoken[];
  /** What each word of the utterance tells, when the catalog knows it. */
  readonly weights: readonly number[];
  readonly known: number;
  /** How much of a word with a meaning of its own each is; nothing for small words and values. */
  readonly contents: readonly number[];
  readonly asides: readonly (readonly number[])[];
  readonly asked: ReadonlySet<number>;
  /** Where the values of any field stand. */
  readonly data: readonly number[];
  readonly total: number;
}

interface Seen {
  readonly denied: ReadonlySet<number>;
  readonly isDenied: IsDenied;
  readonly masked: ReadonlySet<number>;
  readonly clues: ReadonlyMap<number, Clue>;
  readonly total: number;
}

export function sceneOf(spoken: readonly Spoken[], heard: readonly Occurrence[], seen: Seen): SaidScene {
  const { denied, isDenied, masked, clues, total } = seen;
  const weights = spoken.map(() => 0);
  for (const occurrence of heard) {
    if (isDenied(occurrence)) continue;
    const { at, places, strength } = occurrence;
    const weight = (strength * rarity(places.length, total)) / at.length;
    for (const i of at) weights[i] = Math.max(weights[i]!, weight);
  }
  const data = [...clues.values()].flatMap(({ values }) => [...values.values()].map(({ start }) => start));
  return {
    spoken,
    weights,
    known: weights.reduce((sum, weight) => sum + weight, 0),
    contents: spoken.map((word, i) => (masked.has(i) || denied.has(i) ? 0 : contentOf(word))),
    asides: asidesIn(spoken),
    asked: askedIn(spoken),
    data: [...new Set(data)],
    total,
  };
}

const rarity = (frequency: number, total: number): number => Math.log(1 + total / frequency);

const HIRAGANA = /^[\p{Script=Hiragana}\u30fc]$/u;

function contentOf({ text }: Spoken): number {
  if (isUnspaced(text)) return HIRAGANA.test(text) ? 0 : 0.4;
  return text.length < 3 || STOP_WORDS.has(text) ? 0 : 1;
}

/** What an act, a thing and the values of the utterance are worth together: one. */
const ACT = 0.52;
const THING = 0.34;
const DATA = 0.12;
const LATEST = 0.02;
/** What is said twice in different words is meant. */
const AGAIN = 0.04;
/** What is left when nothing that the catalog knows is explained. */
const UNSHARED = 0.68;
/** Without an act nothing is wanted, and without a thing it is not known of what: too little to ask about. */
const NO_ACT = 0.55;
const NO_THING = 0.6;
const ENOUGH_THING = 0.5;
/** What is left when the utterance talks about the thing and does not want it done. */
const ASIDE = 0.6;
/** What a word of another matter costs, how much all of them can cost, and how much less beside a value that fits. */
const ALIEN = 0.05;
const MOST_ALIEN = 0.22;
const ALIEN_TO_VALUE = 0.5;
const FITTING = 0.8;

export function scored(clue: Clue, scene: SaidScene): number {
  const { acts, things, values } = clue;
  const own = new Set([...acts, ...things].flatMap(({ at }) => at));
  const alien = alienTo(own, scene);
  const value = valueWorth(clue);
  const act = Math.max(0, ...acts.map((each) => each.strength * telling(each, scene)));
  const thing = Math.max(thingWorth(acts, things, alien), value);
  const named = ACT * act + THING * thing + (isSaidAgain(acts) ? AGAIN : 0);
  const raw = named + DATA * dataShare(values, scene) + LATEST * lateness(acts, scene);
  const share = UNSHARED + (1 - UNSHARED) * knownShare(own, scene);
  const stray = Math.min(MOST_ALIEN, alien * ALIEN) * (value >= FITTING ? ALIEN_TO_VALUE : 1);
  const cap = Math.min(act === 0 ? NO_ACT : 1, thing < ENOUGH_THING ? NO_THING : 1);
  return Math.max(0, Math.min(cap, (raw - stray) * share * (isAside(clue, own, scene) ? ASIDE : 1)));
}

function isSaidAgain(acts: readonly Occurrence[]): boolean {
  return acts.some(({ at }) => acts.some((other) => !other.at.some((i) => at.includes(i))));
}

function isAside(
  { acts, simulation }: Clue,
  own: ReadonlySet<number>,
  { asides, asked }: SaidScene,
): boolean {
  const is_asked = acts.length > 0 && acts.every(({ at }) => asked.has(at[0]!));
  return (is_asked && changes(simulation)) || asides.some((at) => !at.some((i) => own.has(i)));
}

/** How many words stand beside its own, in the same clauses, and mean something else. */
function alienTo(own: ReadonlySet<number>, { spoken, contents }: SaidScene): number {
  const clauses = new Set([...own].map((i) => spoken[i]!.clause));
  return contents.reduce(
    (sum, content, i) => sum + (own.has(i) || !clauses.has(spoken[i]!.clause) ? 0 : content),
    0,
  );
}

/** What many simulations do tells less than what one does. */
const LEAST_TELLING = 0.7;

function telling({ places }: Occurrence, { total }: SaidScene): number {
  return LEAST_TELLING + ((1 - LEAST_TELLING) * rarity(places.length, total)) / rarity(1, total);
}

/** One word that is the act and the thing at once says enough only when nothing else is said. */
const ALONE = 0.6;
const NOT_ALONE = 0.2;

function thingWorth(acts: readonly Occurrence[], things: readonly Occurrence[], alien: number): number {
  const apart = things.filter(({ at }) => acts.length === 0 || acts.some((act) => !isWithin(act.at, at)));
  const best = Math.max(0, ...apart.map(({ strength }) => strength));
  return best > 0 || things.length === 0 ? best : alien < 1 ? ALONE : NOT_ALONE;
}

function isWithin(inner: readonly number[], outer: readonly number[]): boolean {
  return inner.every((i) => outer.includes(i));
}

function knownShare(own: ReadonlySet<number>, { weights, known }: SaidScene): number {
  let explained = 0;
  for (const i of own) explained += weights[i]!;
  return known === 0 ? 0 : explained / known;
}

function dataShare(values: Clue['values'], { data }: SaidScene): number {
  const starts = new Set([...values.values()].map(({ start }) => start));
  return data.length === 0 ? 1 : data.filter((at) => starts.has(at)).length / data.length;
}

/** What is wanted is mostly said last: "it hangs, start it again". */
function lateness(acts: readonly Occurrence[], { spoken }: SaidScene): number {
  const last = spoken.at(-1)?.clause ?? 0;
  return last === 0 ? 1 : Math.max(0, ...acts.map(({ at }) => spoken[at[0]!]!.clause)) / last;
}

/** A value can stand for the thing: only tickets have the number T-12. Addresses and dates are everywhere. */
const TELLING_WAYS: readonly (string | null)[] = ['token', 'enum', 'path'];
const TELLING_VALUE = 0.9;
const ALL_VALUES = 0.8;
const ADDRESS = 0.5;

function valueWorth({ simulation, values }: Clue): number {
  const ways = [...values.keys()].map((name) => wayOf(simulation.fields[name]!));
  if (ways.some((way) => TELLING_WAYS.includes(way))) return TELLING_VALUE;
  if (values.size >= 2 && values.size === Object.keys(simulation.fields).length) return ALL_VALUES;
  return ways.includes('email') ? ADDRESS : 0;
}
