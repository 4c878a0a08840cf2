import { describe, expect, it } from 'vitest';
import { denied, proposed } from './facts.ts';
import { made as begunFile, opened, sqlite } from './sqlite-file.ts';

/** A closed store in which the older ones of many proposals are in the lists, and one of these was denied afterwards. */
async function made(): Promise<string> {
  const path = await begunFile();
  const store = await opened(path, 'write');
  const old = proposed();
  await store.commit({ events: [old] });
  await Promise.all(Array.from({ length: 300 }, () => store.commit({ events: [proposed()] })));
  await store.commit({ events: [denied(old.subject, 'ada')] });
  await store.close();
  return path;
}

describe('lists in a SQLite file', () => {
  it('leave out the newest entries, and hold all that are older', async () => {
    const path = await made();
    const { listed, size } = sqlite(path, (db) =>
      db.prepare('SELECT listed, (SELECT count(*) FROM entry) AS size FROM tenant').get(),
    ) as { listed: number; size: number };
    expect(listed).toBeGreaterThan(0);
    expect(size - listed).toBeLessThan(256);
    const { kinds } = sqlite(path, (db) =>
      db.prepare(`SELECT count(*) AS kinds FROM listed WHERE list = 'kind'`).get(),
    ) as { kinds: number };
    expect(kinds).toBe(listed);
  });

  it.each([
    [
      'lost a row',
      `DELETE FROM listed WHERE list = 'intent status' AND value = 'rejected'`,
      'list intent status rejected',
    ],
    ['lost an entry', `DELETE FROM listed WHERE list = 'kind' AND seq = 0`, 'list kind system.initialised'],
    [
      'has a row under what it was',
      `UPDATE listed SET value = 'proposed' WHERE value = 'rejected'`,
      'list intent status proposed',
    ],
    [
      'has a row that is not there',
      `INSERT INTO listed VALUES (1, 'intent tool', 'deploy', 7777)`,
      'list intent tool deploy',
    ],
    [
      'has a newer row twice',
      `INSERT INTO listed SELECT 1, 'intent tool', 'deploy', listed FROM tenant`,
      'list intent tool deploy',
    ],
    ['ends too late', `UPDATE tenant SET listed = listed + 1`, 'list kind intent.proposed'],
    ['ends beyond the ledger', `UPDATE tenant SET listed = 9999`, 'list end'],
  ])('a rebuild names one that %s, and puts it right', async (_, sql, what) => {
    const path = await made();
    sqlite(path, (db) => db.exec(sql));
    const store = await opened(path, 'write');
    const { differences } = await store.rebuild({ write: false });
    expect(differences).toContain(what);
    expect((await store.rebuild({ write: true })).differences).toEqual(differences);
    expect((await store.rebuild({ write: false })).differences).toEqual([]);
    expect(await store.page('intent', { limit: 9, by: ['status', ['rejected']] })).toHaveLength(1);
    await store.close();
  });
});
