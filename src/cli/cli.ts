#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { VERSION } from '../version.ts';
import { isUnread, say } from './say.ts';

/**
 * The whole dispatcher. The version, the help and `lane check`, which is asked before each run of a script, must cost little more
 * than starting node: neither the command parser nor the schema library is loaded for them. A build puts `bundle.ts` in the place of
 * `main.ts`.
 */
async function start(words: readonly string[]): Promise<number> {
  if (words[0] === '--version' || words[0] === '-V') return print(VERSION);
  const help = words.includes('--help') || words.includes('-h');
  if (help && words.length === 1) {
    const { helpText } = await import('./help.ts');
    return print(helpText());
  }
  if (words[0] === 'lane' && words[1] === 'check' && !help) {
    const { laneCheck } = await import('./lane-check.ts');
    return laneCheck(words.slice(2));
  }
  const { main } = await import('./main.ts');
  return main(words);
}

function print(text: string): number {
  say(1, text);
  return 0;
}

/** What was not foreseen: one line, no stack trace, exit 1. */
function failed(error: unknown): number {
  try {
    writeSync(2, isUnread(error) ? UNREAD : unforeseen(error));
  } catch {
    // The reader is gone. The exit code still says no.
  }
  return NO;
}

const WORDS = process.argv.slice(2);

/** The client of an agent takes only 2 from its hook for a no: any other failure would let the call through. */
const NO = WORDS[0] === 'hook' && !['install', 'status', 'remove'].includes(WORDS[1] ?? '') ? 2 : 1;

const UNREAD = '[ERROR] The answer could not be written: its reader is gone. Look with `keyturn status`.\n';

function unforeseen(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 500);
  return `[ERROR] ${line}\nINTERNAL: Keyturn failed in a way it does not know. Report this.\n`;
}

process.exitCode = NO;
process.on('uncaughtException', (error) => process.exit(failed(error)));
start(WORDS).then(
  (code) => {
    process.exitCode = code === 1 ? NO : code;
  },
  (error: unknown) => {
    process.exitCode = failed(error);
  },
);
