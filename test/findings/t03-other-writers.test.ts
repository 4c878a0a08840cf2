import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { proposed } from '../store/facts.ts';
import { made, opened } from '../store/sqlite-file.ts';
import { expectRefusal } from '../support/refusal.ts';

async function held() {
  const path = await made();
  const store = await opened(path, 'write', 2_000);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  return { store, other };
}

/** Whatever else this process has to do has had its turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

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
    const first = store.commit({ claims: ['first'], events: [proposed()] });
    await turn();
    const second = store.commit({ claims: ['second'], events: [proposed()] });
    const again = expectRefusal('CLAIM_TAKEN', () =>
      store.commit({ claims: ['first'], events: [proposed()] }),
    );
    await turn();
    other.exec('ROLLBACK');
    const [one, two] = (await Promise.all([first, second])).map(({ entries }) => entries[0]!.seq);
    expect(two).toBe(one! + 1);
    await again;
    other.close();
    await store.close();
  });

  it('a commit is refused when the wait is over, and the store goes on', async () => {
    const path = await made();
    const store = await opened(path, 'write', 50);
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
