import type { Scalar } from '../packet.ts';
import type { Field } from '../simulation.ts';
import { folded } from './fold.ts';
import { quotedIn } from './text.ts';
import { readValue } from './value.ts';

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

/**
 * The values of the fields that the text gives in exactly one way. Two different values for one field are none: the
 * attacker is a text that adds a second amount behind the first.
 */
export function extractFields(fields: Fields, text: string): Map<string, Found> {
  const plain = withPlainDigits(text);
  const found = new Map<string, Found>();
  const taken: Place[] = [];
  for (const way of ORDER) {
    for (const [name, field] of Object.entries(fields)) {
      if (wayOf(field) !== way) continue;
      const here = occurrences(field, way, plain, text).filter((place) => !overlaps(place, taken));
      if (new Set(here.map(({ value }) => value)).size === 1) found.set(name, here[0]!);
      taken.push(...here);
    }
  }
  return new Map(Object.keys(fields).flatMap((name) => (found.has(name) ? [[name, found.get(name)!]] : [])));
}

function overlaps(place: Place, taken: readonly Place[]): boolean {
  return taken.some(({ start, end }) => place.start < end && start < place.end);
}

function occurrences(field: Field, way: Way, plain: string, text: string): Found[] {
  return placesOf(field, way, plain).flatMap(({ start, end, reads }) => {
    const value = readValue(field, reads ?? plain.slice(start, end));
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
      return placesLike(DATE, plain);
    case 'path':
      return placesLike(PATH, plain).filter(({ start, end }) => !plain.slice(start, end).includes('..'));
    case 'token':
      return placesLike(TOKEN, plain);
    case 'number':
      return placesLike(NUMBER, plain);
    case 'enum':
      return enumPlaces(field, plain);
    case 'after':
      return afterPlaces(typeof field.extract === 'object' ? field.extract.after : [], plain);
  }
}

const EMAIL = /[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/g;
const DATE =
  /(?<!\d)(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}\/\d{1,2}\/\d{4}|\d{4}\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日)(?!\d)/g;
/** A file name with an ending, in folders or not: `59.90` is a number. An absolute path has a slash before it and is not one. */
const PATH =
  /(?<![\p{Script=Latin}\d._/~@-])(?:[\p{Script=Latin}\d._-]+\/)*[\p{Script=Latin}\d_][\p{Script=Latin}\d._-]*\.(?=\d*[A-Za-z])[A-Za-z0-9]{1,8}(?![\p{Script=Latin}\d_/@-])/gu;
/** A run of letters, digits and what joins them in a name. */
const TOKEN = /[A-Za-z0-9](?:[A-Za-z0-9._:@/+~-]*[A-Za-z0-9])?/g;
const NUMBER = /(?<![A-Za-z0-9.,:/_+-])\d+(?:[.,'’]\d+)*(?![A-Za-z0-9:/_-]|[.,]\d)/g;

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

/** Digits of other scripts, and the wide forms of East Asian typing, as ASCII. Every place stays where it is. */
function withPlainDigits(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[۰-۹]/g, (digit) => String(digit.charCodeAt(0) - 0x6f0))
    .replace(/[०-९]/g, (digit) => String(digit.charCodeAt(0) - 0x966));
}
