import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commitTogether, LONG_AGO, openStore } from '../../bench/facts.ts';
import { filledPage, pageLines } from '../../src/cli/list-page.ts';
import { Keyturn, type Request } from '../../src/keyturn.ts';
import { journeyLimits } from '../../src/limits.ts';
import { fileFolder, makeProject, type Project } from './project.ts';

/** More than one page looks at. */
const NEWER = journeyLimits.page_looked_at + 300;

const folder = fileFolder();
let project: Project;
let needle: string;

beforeAll(async () => {
  project = await makeProject(folder);
  needle = (await project.propose('greet', { name: 'Ada' }, 'Find the needle')).id;
  const store = await openStore(join(folder, '.keyturn', 'store.db'), 'write');
  await commitTogether(store, NEWER);
  await commitTogether(store, NEWER, 'planner', LONG_AGO);
  await store.close();
});

/** What a person is told at last who goes on where the command says so. */
async function followed(words: readonly string[], cursor?: string): Promise<string> {
  const { stdout } = await project.run(...words, ...(cursor === undefined ? [] : ['--cursor', cursor]));
  const [, next] = /^None among the (?:newest|next) \d+ .* --cursor (\S+)$/m.exec(stdout) ?? [];
  return next === undefined ? stdout : followed(words, next);
}

describe('a list of which few rows fit', () => {
  it('never says that there is none while one fits, in the oldest row', async () => {
    expect((await followed(['list', '--text', 'NEEDLE'])).split('\n')[1]).toContain(needle.slice(0, 8));
    expect((await followed(['list', '--status', 'waiting', '--text', 'needle'])).split('\n')[1]).toContain(
      needle.slice(0, 8),
    );
    expect((await project.run('list', '--needs', 'alice', '--limit', '1')).stdout).toContain('deploy');
  });

  it('says that there is none where no row fits', async () => {
    expect(await followed(['list', '--text', 'a text that none has'])).toBe('No intents.\n');
    expect(await followed(['list', '--status', 'stuck'])).toBe('No intents.\n');
    expect(await followed(['runs', '--status', 'failed'])).toBe('No runs.\n');
  });

  it('says how far it looked, and how to go on, where it took too long', async () => {
    const keyturn = await Keyturn.open({ at: folder, mode: 'read' });
    try {
      const asked: Request<'intents.list'> = { text: 'needle' };
      const ask = (request: typeof asked) => keyturn.intents.list(request);
      const first = await filledPage('intents', asked, ask, 0);
      expect(first.intents).toEqual([]);
      expect(first.looked).toBeGreaterThanOrEqual(journeyLimits.page_looked_at);
      expect(pageLines(first, [], { what: 'intents' })).toEqual([
        `None among the newest ${first.looked} that were looked at; go on with --cursor ${first.next}`,
      ]);
      const rest = await filledPage('intents', { ...asked, cursor: first.next! }, ask, 60_000);
      expect(rest).toMatchObject({ intents: [{ intent_id: needle }], next: null });
    } finally {
      await keyturn.close();
    }
  });
});
