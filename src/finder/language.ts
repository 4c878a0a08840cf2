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
 * small words, how the words are spelled, what the catalog calls things, and what was spoken before in this conversation. A word that
 * several languages have counts for each of them in part. What stands in quotes is a value and says nothing about who speaks. English
 * when in doubt.
 */
export function languageOf(
  text: string,
  told: string | undefined,
  known?: CatalogLanguages,
  before?: string,
): string {
  return languagesRead(text, { language: told, language_before: before }, known)[0];
}

/**
 * The language in which to ask back, and behind it those that the words alone may be in as well: an utterance is read by the rules of
 * all of them. The attacker names a language in which a denial is no word.
 */
export function languagesRead(
  text: string,
  told: { readonly language?: string | undefined; readonly language_before?: string | undefined },
  known?: CatalogLanguages,
): readonly [string, ...string[]] {
  const outside = blankedData(text);
  const said = /\p{L}/u.test(outside) ? outside : text;
  const [alone, ...near] = spokenLanguages(said, known);
  const language =
    supported(told.language) ?? keptLanguage(said, supported(told.language_before), known) ?? alone!;
  return [language, ...[alone!, ...near].filter((one) => one !== language)];
}

const supported = (language: string | undefined): string | undefined =>
  language !== undefined && Object.hasOwn(STOP_WORDS_BY_LANGUAGE, language) ? language : undefined;

/** The best first, then those that are nearly as likely. */
function spokenLanguages(said: string, known: CatalogLanguages | undefined): string[] {
  const script = SCRIPTS.find(([, pattern]) => pattern.test(said));
  if (script !== undefined) return [script[0]];
  const counts = weighed(said, known);
  const best = Math.max(...counts.values());
  const first = LATIN.filter((language) => counts.get(language)! > best - NEARLY);
  if (first.length === 1) return first;
  const equal = first.filter((language) => counts.get(language)! > best - TIE);
  const spelled = known === undefined ? null : bestSpelled(said, first, known.spelling);
  const chosen = spelled ?? (equal.length === 1 ? equal[0]! : FALLBACK_LANGUAGE);
  return [chosen, ...(best === 0 ? [] : first.filter((language) => language !== chosen))];
}

/** That of the conversation, unless more than one word is clearly of another. */
function keptLanguage(
  said: string,
  before: string | undefined,
  known: CatalogLanguages | undefined,
): string | undefined {
  if (before === undefined) return undefined;
  const script = SCRIPTS.find(([, pattern]) => pattern.test(said))?.[0];
  // Japanese has words without a sign of its own script.
  if (script !== undefined) return script === 'zh' && before === 'ja' ? 'ja' : undefined;
  const counts = weighed(said, known);
  return Math.max(...counts.values()) - (counts.get(before) ?? 0) <= ONE_WORD ? before : undefined;
}

/** What one word tells, and a little more: one word alone does not change the language of a conversation. */
const ONE_WORD = 1.2;
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
