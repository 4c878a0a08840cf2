import { folded } from './fold.ts';
import { numberPlaces, withPlainDigits } from './number.ts';
import type { Scalar } from './packet.ts';
import type { Field } from './simulation.ts';
import { NAMED_DAY } from './spoken-value.ts';
import { quotedIn } from './text.ts';
import { type Patterns, readValue } from './value.ts';

/** A value and where it stands, counted in UTF-16 units of the text as it came in. */
export interface Found {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly value: Scalar;
}

interface Place {
  readonly start: number;
  readonly end: number;
  /** What the field reads there, when it is not the text itself. */
  readonly reads?: string;
}

type Fields = Readonly<Record<string, Field>>;

/** What can be told apart best is looked for first; a bare number is anything that is left. */
const ORDER = ['quoted', 'email', 'date', 'path', 'token', 'enum', 'after', 'number'] as const;
type Way = (typeof ORDER)[number];

/** How a value of the field is found in a text; null when it is always asked for. */
export const wayOf = ({ extract }: Field): Way | null =>
  extract === undefined ? null : typeof extract === 'object' ? 'after' : extract;

/** One text, read for the fields of many simulations: what two of them look for in the same way is found once. */
export interface Reading {
  readonly text: string;
  /** The text with plain digits. */
  readonly plain: string;
  readonly patterns: Patterns;
  readonly found: Map<string, readonly Found[]>;
}

export function readingOf(text: string, patterns: Patterns = new Map()): Reading {
  return { text, plain: withPlainDigits(text), patterns, found: new Map() };
}

/**
 * The values of the fields that the text gives in exactly one way. Two different values for one field are none: the
 * attacker is a text that adds a second amount behind the first.
 */
export function extractFields(fields: Fields, from: string | Reading): Map<string, Found> {
  const reading = typeof from === 'string' ? readingOf(from) : from;
  const found = new Map<string, Found>();
  const taken: Place[] = [];
  for (const way of ORDER) {
    for (const [name, field] of Object.entries(fields)) {
      if (wayOf(field) !== way) continue;
      const here = occurrences(field, way, reading).filter((place) => !overlaps(place, taken));
      if (new Set(here.map(({ value }) => value)).size === 1) found.set(name, here[0]!);
      taken.push(...here);
    }
  }
  return new Map(Object.keys(fields).flatMap((name) => (found.has(name) ? [[name, found.get(name)!]] : [])));
}

function overlaps(place: Place, taken: readonly Place[]): boolean {
  return taken.some(({ start, end }) => place.start < end && start < place.end);
}

function occurrences(field: Field, way: Way, reading: Reading): readonly Found[] {
  const key = keyOf(field, way);
  const before = key === null ? undefined : reading.found.get(key);
  if (before !== undefined) return before;
  const found = readIn(field, way, reading);
  if (key !== null) reading.found.set(key, found);
  return found;
}

/** All that decides what a field reads; null for fields with words of their own. */
function keyOf({ type, pattern, min, max, max_length }: Field, way: Way): string | null {
  return way === 'enum' || way === 'after'
    ? null
    : JSON.stringify([way, type, pattern, min, max, max_length]);
}

function readIn(field: Field, way: Way, { text, plain, patterns }: Reading): Found[] {
  return placesOf(field, way, plain).flatMap(({ start, end, reads }) => {
    const said = reads ?? plain.slice(start, end);
    // People write ids in small letters. Where only capitals fit, those are meant.
    const value =
      readValue(field, said, patterns) ??
      (way === 'token' ? readValue(field, said.toUpperCase(), patterns) : null);
    return value === null ? [] : [{ start, end, text: text.slice(start, end), value }];
  });
}

function placesOf(field: Field, way: Way, plain: string): Place[] {
  switch (way) {
    case 'quoted':
      return quotedIn(plain);
    case 'email':
      return placesLike(EMAIL, plain);
    case 'date':
      return [...placesLike(DATE, plain), ...placesLike(NAMED_DAY, plain)];
    case 'path':
      return placesLike(PATH, plain).filter(({ start, end }) => !plain.slice(start, end).includes('..'));
    case 'token':
      return placesLike(TOKEN, plain);
    case 'number':
      return numberPlaces(plain);
    case 'enum':
      return enumPlaces(field, plain);
    case 'after':
      return afterPlaces(typeof field.extract === 'object' ? field.extract.after : [], plain);
  }
}

const EMAIL = /[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/g;
const DATE =
  /(?<!\p{N})(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}\/\d{1,2}\/\d{4}|\d{4}\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日)(?!\p{N})/gu;
/** A file name with an ending, in folders or not: `59.90` is a number. An absolute path has a slash before it and is not one. */
const PATH =
  /(?<![\p{Script=Latin}\d._/~@-])(?:[\p{Script=Latin}\d._-]+\/)*[\p{Script=Latin}\d_][\p{Script=Latin}\d._-]*\.(?=\d*[A-Za-z])[A-Za-z0-9]{1,8}(?![\p{Script=Latin}\d_/@-])/gu;
/** A run of letters, digits and what joins them in a name. It does not begin inside of another word or number. */
const TOKEN =
  /(?<![\p{N}\p{Script=Latin}])[A-Za-z0-9](?:[A-Za-z0-9._:@/+~-]*[A-Za-z0-9])?(?![\p{N}\p{Script=Latin}])/gu;

function placesLike(pattern: RegExp, text: string): Place[] {
  return [...text.matchAll(pattern)].map((found) => ({
    start: found.index,
    end: found.index + found[0].length,
  }));
}

const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30fc';
const WORD = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_-])+`, 'gu');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]+$`, 'u');

function enumPlaces(field: Field, text: string): Place[] {
  return (field.enum ?? []).flatMap((value) =>
    [value, ...(field.words?.[value] ?? [])].flatMap((word) =>
      wordPlaces(word, text).map((place) => ({ ...place, reads: value })),
    ),
  );
}

/** Where a word stands as a whole, whatever its case and accents. Scripts without spaces have no whole words. */
function wordPlaces(word: string, text: string): Place[] {
  if (IS_UNSPACED.test(word)) {
    const places: Place[] = [];
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
      places.push({ start: at, end: at + word.length });
    return places;
  }
  const wanted = folded(word);
  return placesLike(WORD, text).filter(({ start, end }) => folded(text.slice(start, end)) === wanted);
}

const NEXT =
  /^[\s:#=]*(?:["“„«「『`]([^"”“»」』`]+)|([A-Za-z0-9][A-Za-z0-9._@/+~-]*[A-Za-z0-9]|[A-Za-z0-9]|[^\s"“”«»「」『』,;:!?.，。；：！？、()]+))/;

function afterPlaces(words: readonly string[], text: string): Place[] {
  return words
    .flatMap((word) => wordPlaces(word, text))
    .flatMap(({ end }) => {
      const next = NEXT.exec(text.slice(end));
      if (next === null) return [];
      const value = next[1] ?? next[2]!;
      const start = end + next[0].length - value.length;
      return [{ start, end: start + value.length }];
    });
}
