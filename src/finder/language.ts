import { folded } from './fold.ts';
import { bestSpelled, type Spelling } from './spelling.ts';
import { STOP_WORDS_BY_LANGUAGE, wordsOf } from './stop-words.ts';
import { blankedData } from './text.ts';

export const FALLBACK_LANGUAGE = 'en';

const SCRIPTS: readonly (readonly [language: string, script: RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['zh', /\p{Script=Han}/u],
  ['ar', /\p{Script=Arabic}/u],
  ['hi', /\p{Script=Devanagari}/u],
];

const LATIN = ['en', 'es', 'fr', 'de', 'pt', 'it'] as const;

/** The small words of each language, and in how many of the six each is one. */
const SMALL: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  LATIN.map((language) => [language, new Set(wordsOf(language))]),
);

/** Letters, marks and endings that only some of the six write. */
const SPELLINGS: readonly (readonly [languages: readonly string[], spelling: RegExp])[] = [
  [['es'], /[¿¡ñ]/u],
  [['pt'], /[ãõ]|ç(?:ão|ões)|lh[aeo]\b|nh[aeo]\b/u],
  [['de'], /ß|[äöü]|\b(?:sch|ein)\p{L}+|\p{L}+(?:ung|keit|heit|lich)\b/u],
  [['fr'], /œ|[êîôû]|\b(?:[dljmntsc]|qu)['’]\p{L}|\p{L}+eaux?\b/u],
  [['fr', 'pt'], /ç/u],
  [['it'], /\b(?:d?ell|all|nell|sull|un|l|c|dov|com)['’]\p{L}|\p{L}+(?:zione|zioni|ità|gli)\b/u],
  [['it', 'fr'], /[èàù]/u],
  [['it'], /[ìò]/u],
  [['es', 'pt', 'it'], /[íóú]/u],
  [['en'], /\b\p{L}+(?:n['’]t|['’](?:s|re|ve|ll|d))\b|\p{L}+(?:ing|tion|ght)\b|\b(?:th|wh)\p{L}+/u],
];

/** What the catalog tells about languages: in which it has a word, and how it spells each. */
export interface CatalogLanguages {
  readonly having: (word: string) => Iterable<string>;
  readonly spelling: Spelling;
}

/**
 * The language in which to ask back: the one that the caller says, or by script, or by everything that was said: the
 * small words, how the words are spelled, and what the catalog calls things. A word that several languages have counts
 * for each of them in part. What stands in quotes is a value and says nothing about who speaks. English when in doubt.
 */
export function languageOf(text: string, told: string | undefined, known?: CatalogLanguages): string {
  if (told !== undefined && Object.hasOwn(STOP_WORDS_BY_LANGUAGE, told)) return told;
  const outside = blankedData(text);
  const said = /\p{L}/u.test(outside) ? outside : text;
  const script = SCRIPTS.find(([, pattern]) => pattern.test(said));
  if (script !== undefined) return script[0];
  const counts = weighed(said, known);
  const best = Math.max(...counts.values());
  const first = LATIN.filter((language) => counts.get(language)! > best - NEARLY);
  if (first.length === 1) return first[0]!;
  const spelled = known === undefined ? null : bestSpelled(said, first, known.spelling);
  if (spelled !== null) return spelled;
  const equal = first.filter((language) => counts.get(language)! > best - TIE);
  return equal.length === 1 ? equal[0]! : FALLBACK_LANGUAGE;
}

const TIE = 0.01;
/** So close to the best that the spelling decides. */
const NEARLY = 0.55;
const SPELLED = 0.8;
/** What the catalog calls things tells less than how a person speaks: names of things travel. */
const KNOWN = 0.7;

function weighed(text: string, known: CatalogLanguages | undefined): Map<string, number> {
  const counts = new Map<string, number>(LATIN.map((language) => [language, 0]));
  const add = (languages: readonly string[], weight: number) => {
    for (const language of languages)
      counts.set(language, (counts.get(language) ?? 0) + weight / languages.length);
  };
  for (const word of spokenWords(withoutLetters(text))) {
    add(
      LATIN.filter((language) => SMALL.get(language)!.has(word)),
      1,
    );
    add(
      [...(known?.having(word) ?? [])].filter((language) => SMALL.has(language)),
      KNOWN,
    );
  }
  const lower = text.toLowerCase();
  for (const [languages, spelling] of SPELLINGS) if (spelling.test(lower)) add(languages, SPELLED);
  return new Map(LATIN.map((language) => [language, counts.get(language)!]));
}

/** A letter by itself is a name as often as a word. Only what French leaves of a word before an apostrophe is one. */
function withoutLetters(text: string): string {
  return text.replace(/(?<![\p{L}\p{M}\p{N}'’])\p{L}(?![\p{L}\p{M}\p{N}'’])/gu, ' ');
}

/** The languages that a text may be in. A short one may be in several, and people mix English into all of them. */
export function likelyLanguages(text: string): ReadonlySet<string> {
  const scripts = SCRIPTS.filter(([, pattern]) => pattern.test(text)).map(([language]) => language);
  const counts = latinCounts(text);
  const most = Math.max(...counts.map(({ count }) => count));
  const latin = counts.filter(({ count }) => count >= Math.max(most - 1, Math.min(most, 1)));
  return new Set([FALLBACK_LANGUAGE, ...scripts, ...latin.map(({ language }) => language)]);
}

/** The letter of `T-601` is no word. */
const spokenWords = (text: string): string[] => folded(text).match(/(?<![\p{N}-])\p{L}+(?!-?\p{N})/gu) ?? [];

function latinCounts(text: string): { readonly language: string; readonly count: number }[] {
  const spoken = spokenWords(text);
  return LATIN.map((language) => ({
    language,
    count: spoken.filter((word) => SMALL.get(language)!.has(word)).length,
  }));
}
