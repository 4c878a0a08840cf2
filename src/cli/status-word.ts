import { CAPABILITY_WORDS, RUN_WORDS, STATUS_WORDS } from '../face/statuses.ts';
import type { CapabilityWord, ConversationStatus, RunWord, StatusWord } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import type { Paint } from './paint.ts';

type Word = StatusWord | CapabilityWord | ConversationStatus;

export function styleOf(word: Word): Parameters<Paint>[0] | null {
  if (word === 'IN DOUBT' || word === 'STUCK') return 'alarm';
  if (['waiting', 'approval expired', 'ordered', 'running'].includes(word)) return 'yellow';
  if (word === 'approved' || word === 'succeeded') return 'green';
  return word === 'failed' || word === 'void' ? 'red' : null;
}

export function painted(word: Word, paint: Paint): string {
  const style = styleOf(word);
  return style === null ? word : paint(style, word);
}

/** A status as a person types it: in any case, with a hyphen for a space. */
const reader =
  <W extends string>(words: readonly W[]) =>
  (text: string): W => {
    const typed = text.toLowerCase().replaceAll(/[-_]/g, ' ');
    const found = words.find((one) => one.toLowerCase() === typed);
    return found ?? refuse('USAGE', `--status takes one of: ${choicesOf(words).join(', ')}.`);
  };

export const statusWordNamed: (text: string) => StatusWord = reader(STATUS_WORDS);
export const runWordNamed: (text: string) => RunWord = reader(RUN_WORDS);
export const capabilityWordNamed: (text: string) => CapabilityWord = reader(CAPABILITY_WORDS);

const choicesOf = (words: readonly string[]) => words.map((one) => one.toLowerCase().replaceAll(' ', '-'));

/** How a status is typed. */
export const STATUS_CHOICES = choicesOf(STATUS_WORDS);
export const RUN_CHOICES = choicesOf(RUN_WORDS);
export const CAPABILITY_CHOICES = choicesOf(CAPABILITY_WORDS);

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** Such as `3h`: how long ago, in the largest unit that fits. */
export function ageOf(time: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(time)) / 1000));
  const [unit, of] = UNITS.find(([, one]) => seconds >= one) ?? ['s', 1];
  return `${Math.floor(seconds / of)}${unit}`;
}
