#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { isUnread } from './say.ts';

/**
 * The whole dispatcher. `lane check` is asked before each run of somebody's script, so it must cost little more than
 * starting node: it goes a road of its own, on which neither the command parser nor the schema library loads.
 */
async function start(words: readonly string[]): Promise<number> {
  const help = words.includes('--help') || words.includes('-h');
  if (words[0] === 'lane' && words[1] === 'check' && !help) {
    const { laneCheck } = await import('./lane-check.ts');
    return laneCheck(words.slice(2));
  }
  const { main } = await import('./main.ts');
  return main(words);
}

/** What nobody foresaw: one line, no stack trace, exit 1. */
function failed(error: unknown): number {
  try {
    writeSync(2, isUnread(error) ? UNREAD : unforeseen(error));
  } catch {
    // Nobody listens. The exit code still says no.
  }
  return 1;
}

const UNREAD = '[ERROR] Nobody reads the answer, so it was not shown. Look with `keyturn status`.\n';

function unforeseen(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 500);
  return `[ERROR] ${line}\nINTERNAL: Keyturn failed in a way it does not know. Report this.\n`;
}

process.exitCode = 1;
process.on('uncaughtException', (error) => process.exit(failed(error)));
start(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.exitCode = failed(error);
  },
);
