import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commitTogether, openStore } from '../../bench/facts.ts';
import { project, TOOLS } from '../support/project.ts';

/** A twentieth of what `npm run soak` makes. */
const MANY = Number(process.env.KEYTURN_SOAK_INTENTS ?? 5_000);
const AT_ONCE = 1_000;

it('a filter that fits many intents gives each of them once, page by page, and one that fits none gives none', async () => {
  const { root, keyturn } = await project(TOOLS);
  const store = await openStore(join(root, '.keyturn', 'store.db'), 'write');
  for (let i = 0; i < MANY; i += AT_ONCE) await commitTogether(store, AT_ONCE);
  await commitTogether(store, 1, 'another');
  await store.close();
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await keyturn.intents.list({ proposer: 'planner', limit: 1_000, ...(cursor && { cursor }) });
    for (const { intent_id } of page.intents) seen.add(intent_id);
    cursor = page.next ?? undefined;
  } while (cursor);
  expect(seen.size).toBe(MANY);
  expect((await keyturn.intents.list({ proposer: 'another' })).intents).toHaveLength(1);
  expect((await keyturn.intents.list({ proposer: 'nobody' })).intents).toEqual([]);
});
