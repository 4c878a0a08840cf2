import type { ConversationAnswer } from './conversation.ts';

type Said = ConversationAnswer['talk'][number];

const READ: Readonly<Record<NonNullable<Said['read_as']>, string>> = {
  YES: 'a yes',
  NO: 'a no',
  AMBIGUOUS: 'neither a clear yes nor a clear no',
};

export function talkWords({ kind, text, read_as }: Said): string {
  const words = text === null ? 'words that are not stored any more' : `"${text}"`;
  switch (kind) {
    case 'GOAL':
      return `the user asked for ${words}`;
    case 'ANSWER':
      return `the user answered ${words}`;
    case 'CONFIRMATION':
      return `the user said ${words} to the prompt: ${READ[read_as!]}`;
    case 'QUESTION':
      return `the question was ${words}`;
    case 'REFUSAL':
      return `it was refused: ${words}`;
  }
}
