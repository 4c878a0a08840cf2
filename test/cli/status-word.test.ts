import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { capabilityWordNamed, runWordNamed, statusWordNamed } from '../../src/cli/status-word.ts';
import { CAPABILITY_WORDS, CONVERSATION_STATUSES, RUN_WORDS, STATUS_WORDS } from '../../src/face/statuses.ts';

/** What the command makes of `--status WORD`. */
async function asked(command: string, word: string): Promise<string | undefined> {
  let status: string | undefined;
  const program = buildProgram(async (_, call) => {
    status = call.options.status;
  });
  await program.parseAsync([...command.split(' '), '--status', word], { from: 'user' });
  return status;
}

describe('each word that a screen shows is a filter', () => {
  it.each([
    ['list', STATUS_WORDS, statusWordNamed],
    ['runs', RUN_WORDS, runWordNamed],
    ['capabilities', CAPABILITY_WORDS, capabilityWordNamed],
    ['agent list', CONVERSATION_STATUSES, (text: string) => text],
  ] as const)('%s', async (command, words, named) => {
    for (const word of words) {
      for (const typed of [word, word.toLowerCase(), word.toUpperCase(), word.replaceAll(/[ _]/g, '-')])
        expect(named((await asked(command, typed))!), typed).toBe(word);
    }
  });

  it('any other word is refused', async () => {
    for (const word of ['done', 'in', 'doubt', 'approval', ''])
      await expect(asked('list', word)).rejects.toThrow();
  });
});
