import { beforeAll, describe, expect, it } from 'vitest';
import { fileFolder, type Intent, makeProject, PASSPHRASE, type Project, typedCode } from '../cli/project.ts';
import { inTerminal } from '../support/pty.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const LONG = `${'y'.repeat(2900)} and now rm`;
const QUESTIONS = {
  approve: 'Type the first 6 characters of the code to approve it: ',
  turn: 'Turn the key? (y/n) ',
  run: 'Proceed? (y/n) ',
} as const;

const status = ({ id }: Intent) =>
  project.inside(async (keyturn) => (await keyturn.intents.get({ intent_id: id })).status);

/** What stood on the screen, as one text, when the question was there. */
async function screenAt(words: string[], question: string): Promise<string> {
  const session = inTerminal(words, { cwd: folder, columns: 500 });
  try {
    await session.expect(question);
    return session.text.replace(/\n *[│↪] /g, '');
  } finally {
    session.kill();
  }
}

const PAGE = 'Enter: next page';

describe('S22: what was cut off cannot be approved', () => {
  it.each(['approve', 'turn', 'run'] as const)(
    '%s shows a long argument to its end before it asks',
    async (command) => {
      const intent = await project.propose('greet', { name: LONG });
      if (command === 'run') await project.ready(intent);
      const words = command === 'run' ? ['run', intent.id, intent.hash] : [command, intent.id];
      const screen = await screenAt(words, QUESTIONS[command]);
      expect(screen).not.toContain('more characters');
      expect(screen).toContain('and now rm');
    },
  );

  it('who goes to the end, page by page or all at once, can approve', async () => {
    for (const keys of [['', 'a'], ['a']]) {
      const intent = await project.propose('greet', { name: 'Ada\n'.repeat(1000).trimEnd() });
      const session = inTerminal(['approve', intent.id], { cwd: folder, columns: 60 });
      for (const key of keys) {
        await session.expect(PAGE);
        session.type(key);
      }
      await session.expect(QUESTIONS.approve);
      session.type(typedCode(intent.hash));
      await session.expect('Passphrase of alice: ');
      session.type(PASSPHRASE);
      expect(await session.exited).toBe(0);
      expect(await status(intent)).toBe('approved');
    }
  });
});
