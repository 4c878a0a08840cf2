import { folded } from './fold.ts';
import { STOP_WORDS_BY_LANGUAGE, wordsOf } from './stop-words.ts';
import { blankedData } from './text.ts';

export const FALLBACK_LANGUAGE = 'en';

const SCRIPTS: readonly (readonly [language: string, script: RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['zh', /\p{Script=Han}/u],
  ['ar', /\p{Script=Arabic}/u],
  ['hi', /\p{Script=Devanagari}/u],
];

const LATIN = ['en', 'es', 'fr', 'de', 'pt', 'it'].map((language) => ({
  language,
  words: new Set(wordsOf(language)),
}));

/**
 * The language in which to ask back, when nobody says: by script, then by the small words. What stands in quotes is a
 * value and says nothing about who speaks. English when in doubt.
 */
export function languageOf(text: string, told: string | undefined): string {
  if (told !== undefined && Object.hasOwn(STOP_WORDS_BY_LANGUAGE, told)) return told;
  const outside = blankedData(text);
  const said = /\p{L}/u.test(outside) ? outside : text;
  const script = SCRIPTS.find(([, pattern]) => pattern.test(said));
  if (script !== undefined) return script[0];
  const [first, second] = latinCounts(withoutLetters(said)).toSorted((a, b) => b.count - a.count);
  return first!.count > second!.count ? first!.language : FALLBACK_LANGUAGE;
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

function latinCounts(text: string): { readonly language: string; readonly count: number }[] {
  // The letter of `T-601` is no word.
  const spoken = folded(text).match(/(?<![\p{N}-])\p{L}+(?!-?\p{N})/gu) ?? [];
  return LATIN.map(({ language, words }) => ({
    language,
    count: spoken.filter((word) => words.has(word)).length,
  }));
}
