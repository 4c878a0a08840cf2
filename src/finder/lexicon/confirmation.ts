import { visible } from '../../canonical/visible.ts';
import type { LexiconEntry } from './entry.ts';
import { LEXICON, LEXICON_VERSION } from './lexicon.ts';

export const CONFIRMATION_REASONS = [
  'CANONICAL',
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
  /** The token of the lexicon that was recognised; null when none was. */
  readonly token: string | null;
  readonly language: string;
  readonly confirm_lexicon_version_ref: string;
  readonly reason: ConfirmationReason;
}

/** No token is nearly as long. What is longer is not read at all. */
const LONGEST = 200;

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
  if (text.length > LONGEST) return ambiguous('TOO_LONG');
  const trimmed = text.replace(/^[ \t\r\n]+/, '').replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '');
  if (trimmed === '') return ambiguous('EMPTY');
  if (visible(trimmed) !== trimmed) return ambiguous('INVISIBLE_CHARACTER');
  const token = normalised(trimmed);
  const answer = answerOf(entry, token);
  if (answer === null) return ambiguous(whyNot(entry, trimmed, token));
  const foreign = foreignLetters(entry, trimmed) ?? lookAlikes(entry, trimmed);
  return foreign === null ? { answer, token, ...proof, reason: 'CANONICAL' } : ambiguous(foreign);
}

function answerOf({ affirmative, negative }: LexiconEntry, token: string): 'YES' | 'NO' | null {
  if (affirmative.includes(token)) return 'YES';
  return negative.includes(token) ? 'NO' : null;
}

/** One spelling: compatibility forms, small letters, single spaces, and without one mark at the end that ends a sentence. */
function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
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
