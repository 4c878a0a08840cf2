import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { proposed } from '../store/facts.ts';
import { opened } from '../store/sqlite-file.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

async function held() {
  const path = join(scratch(), 'store.db');
  const store = await opened(path, 'create', 2_000);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  return { store, other };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

describe('T3: while another writer has the store', () => {
  it('a commit waits without holding up what else this process does', async () => {
    const { store, other } = await held();
    const committed = store.commit({ events: [proposed()] });
    // Only this process can end the wait: a commit that blocked it would never be done.
    for (let i = 0; i < 5; i++) await turn();
    other.exec('ROLLBACK');
    expect((await committed).entries).toHaveLength(1);
    other.close();
    await store.close();
  });

  it('commits that come meanwhile are written in their order, each once', async () => {
    const { store, other } = await held();
    const first = store.commit({ claims: ['one'], events: [proposed()] });
    await turn();
    const second = store.commit({ claims: ['two'], events: [proposed()] });
    const again = expectRefusal('CLAIM_TAKEN', () => store.commit({ claims: ['one'], events: [proposed()] }));
    await turn();
    other.exec('ROLLBACK');
    const seqs = (await Promise.all([first, second])).map(({ entries }) => entries[0]!.seq);
    expect(seqs).toEqual([0, 1]);
    await again;
    other.close();
    await store.close();
  });

  it('a commit is refused when the wait is over, and the store goes on', async () => {
    const path = join(scratch(), 'store.db');
    const store = await opened(path, 'create', 50);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await expectRefusal('STORE_BUSY', () => store.commit({ events: [proposed()] }));
    other.exec('ROLLBACK');
    expect((await store.commit({ events: [proposed()] })).entries).toHaveLength(1);
    other.close();
    await store.close();
  });

  it('what waits when the store is closed is written first', async () => {
    const { store, other } = await held();
    const committed = store.commit({ events: [proposed()] });
    await turn();
    other.exec('ROLLBACK');
    other.close();
    await store.close();
    expect((await committed).entries).toHaveLength(1);
  });
});
