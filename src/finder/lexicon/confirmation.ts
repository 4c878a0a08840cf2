import { visible } from '../../canonical/visible.ts';
import { agentLimits } from '../../limits.ts';
import { anyOf } from '../languages/rules.ts';
import { clausesOf } from '../saying.ts';
import type { LexiconEntry } from './entry.ts';
import { LEXICON, LEXICON_VERSION } from './lexicon.ts';

export const CONFIRMATION_REASONS = [
  'CANONICAL',
  'CANONICAL_ELSEWHERE',
  'DENIAL',
  'EMPTY',
  'TOO_LONG',
  'AMBIGUOUS_WORD',
  'MORE_THAN_TOKEN',
  'NOT_IN_LEXICON',
  'OTHER_LANGUAGE',
  'INVISIBLE_CHARACTER',
  'MIXED_SCRIPT',
  'FOREIGN_SCRIPT',
  'LOOK_ALIKE',
  'LANGUAGE_UNKNOWN',
] as const;
export type ConfirmationReason = (typeof CONFIRMATION_REASONS)[number];

/** What is kept as the proof of a confirmation. */
export interface Confirmation {
  readonly answer: 'YES' | 'NO' | 'AMBIGUOUS';
  /** The token of the lexicon that was recognised, or the short denial; null when none was. A replay reads it again. */
  readonly token: string | null;
  readonly language: string;
  readonly confirm_lexicon_version_ref: string;
  readonly reason: ConfirmationReason;
}

/**
 * Reads an answer in the language of the conversation. Only a whole, canonical token counts. The attacker is a text that
 * is no yes and gets taken for one: a polite noise, a look-alike from another script, a yes with a condition behind it.
 */
export function readConfirmation(text: string, language: string): Confirmation {
  const proof = { language, confirm_lexicon_version_ref: LEXICON_VERSION };
  const ambiguous = (reason: ConfirmationReason): Confirmation => ({
    answer: 'AMBIGUOUS',
    token: null,
    ...proof,
    reason,
  });
  const entry = LEXICON.get(language);
  if (entry === undefined) return ambiguous('LANGUAGE_UNKNOWN');
  if (text.length > agentLimits.confirmation_chars) return ambiguous('TOO_LONG');
  const trimmed = text.replace(/^[ \t\r\n]+/, '').replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '');
  if (trimmed === '') return ambiguous('EMPTY');
  if (visible(trimmed) !== trimmed) return ambiguous('INVISIBLE_CHARACTER');
  const token = normalised(trimmed);
  const answer = answerOf(entry, token);
  if (answer === null)
    return (
      elsewhere(entry, trimmed, token) ??
      denial(entry, trimmed, token) ??
      ambiguous(whyNot(entry, trimmed, token))
    );
  const foreign = foreignLetters(entry, trimmed) ?? lookAlikes(entry, trimmed);
  return foreign === null ? { answer, token, ...proof, reason: 'CANONICAL' } : ambiguous(foreign);
}

/**
 * A canonical yes or no of another language, when no language reads the same word otherwise: `yes` to a question in French. `si` is a
 * yes in Spanish and something else in French, and stays ambiguous.
 */
function elsewhere(entry: LexiconEntry, text: string, token: string): Confirmation | null {
  if (entry.ambiguous.includes(token)) return null;
  const others = [...LEXICON.values()].filter(
    (other) => other !== entry && answerThere(other, token) !== null,
  );
  const [other] = others;
  if (other === undefined || [...LEXICON.values()].some(({ ambiguous }) => ambiguous.includes(token)))
    return null;
  const answer = answerThere(other, token)!;
  if (others.some((one) => answerThere(one, token) !== answer)) return null;
  if ((foreignLetters(other, text) ?? lookAlikes(other, text)) !== null) return null;
  return {
    answer,
    token,
    language: other.language,
    confirm_lexicon_version_ref: LEXICON_VERSION,
    reason: 'CANONICAL_ELSEWHERE',
  };
}

/** A denial longer than this may be about something else, unless it begins with a plain no. */
const DENIAL_WORDS = 10;
const DENIAL_CHARS = 60;

/**
 * A no in other words than those of the lexicon: short, with a word that refuses, and with nothing that takes it back: no yes, no
 * condition, no question, no doubt. It only ever ends a plan; nothing but the lexicon makes a yes.
 */
function denial(entry: LexiconEntry, text: string, token: string): Confirmation | null {
  if (entry.ambiguous.includes(token) || !isDenial(entry, text, unvowelled(token))) return null;
  if (/[?؟？]/u.test(text) || (foreignLetters(entry, text) ?? lookAlikes(entry, text)) !== null) return null;
  const kinds = new Set(clausesOf(text, entry.language).flatMap(({ sure }) => sure.map(({ kind }) => kind)));
  if (kinds.has('condition') || kinds.has('ability')) return null;
  return {
    answer: 'NO',
    token,
    language: entry.language,
    confirm_lexicon_version_ref: LEXICON_VERSION,
    reason: 'DENIAL',
  };
}

function isDenial(entry: LexiconEntry, text: string, said: string): boolean {
  const is_unspaced = entry.scripts.includes('Han');
  const rest = said.replace(anyOf(entry.refusing, is_unspaced)!, ' ');
  const has_yes = entry.affirmative.some((yes) =>
    is_unspaced ? rest.includes(yes) : wordsIn(rest).includes(yes),
  );
  if (has_yes || rest === said) return false;
  const [first = '', ...more] = said.split(/[,،、，.!;。！；]/u);
  if (more.length > 0 && entry.negative.includes(first.trim())) return true;
  const is_doubt = said.search(anyOf(entry.unsure, is_unspaced)!) >= 0;
  return !is_doubt && wordsIn(said).length <= DENIAL_WORDS && text.length <= DENIAL_CHARS;
}

const wordsIn = (text: string): string[] => text.match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [];

/** Arabic is written with or without its short vowels. */
const unvowelled = (text: string): string => text.replace(/[\u064b-\u0652]/gu, '');

/** A token, or a yes or an order with nothing around it but what says the same: "okay, do it, please". */
function answerOf(entry: LexiconEntry, token: string): 'YES' | 'NO' | null {
  return answerThere(entry, token) ?? (isOrder(entry, token) ? 'YES' : null);
}

/** The same for a user who was asked in another language: there an order may be an ordinary word. */
function answerThere(entry: LexiconEntry, token: string): 'YES' | 'NO' | null {
  const { affirmative, negative, going, polite } = entry;
  if (affirmative.includes(token)) return 'YES';
  if (negative.includes(token)) return 'NO';
  const rest = behind(entry, token, affirmative);
  return rest && isMadeOf(entry, rest, [...affirmative, ...going, ...polite]) ? 'YES' : null;
}

/** Whether a yes or an order is among phrases that all say the same. What only acknowledges is none. */
function isOrder(entry: LexiconEntry, token: string): boolean {
  const { affirmative, ordering, going, polite, acknowledging, ambiguous } = entry;
  if (ambiguous.includes(token) || !/[\p{L}\p{M}]$/u.test(token)) return false;
  const orders = [...affirmative, ...ordering];
  const around = [...going, ...polite, ...acknowledging];
  let rest: string | null = token;
  let is_ordered = false;
  while (rest !== null && rest !== '') {
    const after = behind(entry, rest, orders);
    is_ordered ||= after !== null;
    rest = after ?? behind(entry, rest, around);
  }
  return is_ordered && rest === '';
}

function isMadeOf(entry: LexiconEntry, text: string, phrases: readonly string[]): boolean {
  let rest: string | null = text;
  while (rest !== null && rest !== '') rest = behind(entry, rest, phrases);
  return rest === '';
}

/** What stands behind the longest of the phrases that the text begins with; null when it begins with none of them. */
function behind({ scripts }: LexiconEntry, text: string, phrases: readonly string[]): string | null {
  const ends = scripts.includes('Han') ? /^/u : /^(?![\p{L}\p{M}\p{N}'’-])/u;
  const first = phrases
    .filter((phrase) => text.startsWith(phrase) && ends.test(text.slice(phrase.length)))
    .sort((a, c) => c.length - a.length)[0];
  return first === undefined ? null : text.slice(first.length).replace(/^[ ,،、，.!。！।]+/u, '');
}

/** One spelling: compatibility forms, small letters, single spaces, and without one mark at the end that ends a sentence. */
function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/ +/g, ' ')
    .replace(/[.!。।]$/u, '')
    .trim();
}

function whyNot(entry: LexiconEntry, text: string, token: string): ConfirmationReason {
  if (entry.ambiguous.includes(token)) return 'AMBIGUOUS_WORD';
  const foreign = foreignLetters(entry, text);
  if (foreign === 'MIXED_SCRIPT') return foreign;
  if (isCanonicalElsewhere(entry.language, token)) return 'OTHER_LANGUAGE';
  if (foreign !== null) return foreign;
  return startsWithToken(entry, token) ? 'MORE_THAN_TOKEN' : 'NOT_IN_LEXICON';
}

/**
 * Looks at the letters as they came in: after normalisation a mathematical letter is a Latin one. A Cyrillic letter looks
 * like a Latin one and never becomes one.
 */
function foreignLetters({ scripts }: LexiconEntry, text: string): 'MIXED_SCRIPT' | 'FOREIGN_SCRIPT' | null {
  const own = new RegExp(`^[${scripts.map((name) => `\\p{Script=${name}}`).join('')}\\u30fc]$`, 'u');
  const letters = [...text].filter((character) => /\p{L}/u.test(character));
  const foreign = letters.filter((letter) => !own.test(letter)).length;
  if (foreign === 0) return null;
  return foreign === letters.length ? 'FOREIGN_SCRIPT' : 'MIXED_SCRIPT';
}

/**
 * Letters in circles, raised ones, a long s: what only looks like the letters of a token and becomes them when it is
 * normalised. Where people write full-width forms every day, those are letters.
 */
function lookAlikes({ scripts }: LexiconEntry, text: string): 'LOOK_ALIKE' | null {
  const plain = scripts.includes('Han')
    ? text.replace(/[\uff01-\uff9f]/g, (form) => form.normalize('NFKC'))
    : text;
  return plain.normalize('NFC') === plain.normalize('NFKC') ? null : 'LOOK_ALIKE';
}

function isCanonicalElsewhere(language: string, token: string): boolean {
  return [...LEXICON.values()].some(
    (other) =>
      other.language !== language && (other.affirmative.includes(token) || other.negative.includes(token)),
  );
}

function startsWithToken({ affirmative, negative }: LexiconEntry, text: string): boolean {
  return [...affirmative, ...negative].some(
    (token) => text.startsWith(token) && !/^[\p{L}\p{M}]/u.test(text.slice(token.length)),
  );
}
