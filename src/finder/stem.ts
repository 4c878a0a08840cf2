import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as hindi } from '@orama/stemmers/indian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { folded } from './fold.ts';
import { LANGUAGE_RULES } from './languages/all.ts';

/**
 * Snowball, for the languages that change the endings of their words a lot. Chinese and Japanese have none. English is left out: its
 * stemmer makes one word of "active" and "activate", and its few endings are heard without it.
 */
const STEMMERS: Readonly<Record<string, (word: string) => string>> = {
  ar: arabic,
  de: german,
  es: spanish,
  fr: french,
  hi: hindi,
  it: italian,
  pt: portuguese,
};

/** Irregular forms in the spelling in which words are compared. */
const IRREGULAR: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  [...LANGUAGE_RULES].map(([language, { irregular = {} }]) => [
    language,
    new Map(Object.entries(irregular).map(([form, word]) => [folded(form), folded(word)])),
  ]),
);

/** The word of the dictionary of which this is an irregular form, folded; null when it is none. */
export function dictionaryForm(language: string, word: string): string | null {
  return IRREGULAR.get(language)?.get(word) ?? null;
}

/** A shorter stem has too many neighbours, but German imperatives are such stems (`sag` of `sagen`), and Devanagari writes more with fewer letters. */
const SHORTEST = 4;
const SHORTEST_WORD = 3;

/** The stem of a folded word in a language; null when it has none that tells it from other words. */
export function stemIn(language: string, word: string): string | null {
  const stemmer = STEMMERS[language];
  if (stemmer === undefined || word.length < SHORTEST_WORD) return null;
  const stem = stemmer(dictionaryForm(language, word) ?? word);
  return stem.length >= SHORTEST || language === 'de' || language === 'hi' ? stem : null;
}

/** The words that a folded word may speak of without asking for them, in any of the languages. */
export function spokenOf(languages: readonly string[], word: string): string[] {
  return languages
    .flatMap((language) => LANGUAGE_RULES.get(language)?.spoken_of ?? [])
    .filter(([form]) => form.test(word))
    .map(([form, known]) => word.replace(form, known));
}
