import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VerifiedEntries } from '../../src/fold/ledger.ts';
import { ReadLedger } from '../../src/journey/read-ledger.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { begun, enrolled, frozen, ORIGIN, proposed, unfrozen } from '../store/facts.ts';
import { NOON } from '../store/place.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const clock = () => new Date(NOON);

async function opened(path: string, mode: 'write' | 'create'): Promise<Store> {
  const store = await openSqliteStore({ path, tenant: 'default', clock, mode });
  onTestFinished(() => store.close());
  return store;
}

/** A ledger with one human and one intent, and a process that has read it. */
async function begin() {
  const path = join(scratch(), 'store.db');
  const store = await opened(path, 'create');
  await store.commit({ events: [begun(), enrolled('ada')] });
  const intent = randomUUID();
  await store.commit({ events: [proposed(intent)] });
  const ledger = new ReadLedger(store, ORIGIN, new VerifiedEntries());
  expect((await ledger.told('intent', intent))?.state?.status).toBe('proposed');
  return { path, store, ledger, intent };
}

/** By an attacker who can write the file, or by an operator who restores a part of it. */
const cut = (path: string, count: number) =>
  sqlite(path, (db) =>
    db.exec(`DROP TRIGGER IF EXISTS entry_no_delete;
      DELETE FROM entry WHERE id > (SELECT max(id) - ${count} FROM entry);
      DELETE FROM lookup WHERE seq >= (SELECT count(*) FROM entry);
      DELETE FROM projection WHERE name = 'intent' AND id % 1099511627776 >= (SELECT count(*) FROM entry);`),
  );

describe('a ledger that a process has read', () => {
  it('is told by entries alone, and goes on with what others append', async () => {
    const { path, ledger, intent } = await begin();
    const other = await opened(path, 'write');
    await other.commit({ events: [frozen('ada')] });
    expect((await ledger.state()).system.freezes).toHaveLength(1);
    sqlite(path, (db) => db.exec('DELETE FROM lookup; DELETE FROM projection;'));
    expect((await ledger.told('intent', intent))?.state?.status).toBe('proposed');
    expect(await ledger.told('intent', randomUUID())).toBeNull();
  });

  it('is refused once its tail is cut off, and with another one in its place', async () => {
    const { path, store, ledger, intent } = await begin();
    cut(path, 1);
    await expectRefusal('LEDGER_TRUNCATED', () => ledger.told('intent', intent));
    await expectRefusal('LEDGER_TRUNCATED', () => ledger.state());
    await store.commit({ events: [frozen('ada')] });
    await expectRefusal('LEDGER_FORKED', () => ledger.told('intent', intent));
    await store.commit({ events: [unfrozen('ada')] });
    await expectRefusal('LEDGER_BROKEN', () => ledger.told('intent', intent));
    // A process that begins now has nothing to compare it with: that is what the kept head is for.
    const fresh = new ReadLedger(store, ORIGIN, new VerifiedEntries());
    expect((await fresh.state()).size).toBe(4);
  });

  it('is refused for good after it went another way, also when it is put back', async () => {
    const { path, store, ledger, intent } = await begin();
    const copy = `${path}.copy`;
    sqlite(path, (db) => db.exec(`VACUUM INTO '${copy}'`));
    cut(path, 1);
    await store.commit({ events: [frozen('ada'), unfrozen('ada')] });
    await expectRefusal('LEDGER_BROKEN', () => ledger.told('intent', intent));
    sqlite(path, (db) => {
      db.exec(`ATTACH '${copy}' AS kept`);
      for (const table of ['entry', 'lookup', 'projection'])
        db.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept.${table};`);
    });
    await store.commit({ events: [frozen('ada')] });
    await expectRefusal('LEDGER_BROKEN', () => ledger.told('intent', intent));
  });

  it('is one to many callers at once, while it grows', async () => {
    const { store, ledger, intent } = await begin();
    const asking = Array.from({ length: 50 }, async (_, i) => {
      const own = randomUUID();
      await store.commit({ events: [proposed(own)] });
      const [mine, first] = [await ledger.told('intent', own), await ledger.told('intent', intent)];
      expect(mine?.state?.intent_id).toBe(own);
      expect(first?.state?.intent_id).toBe(intent);
      return i;
    });
    expect(await Promise.all(asking)).toHaveLength(50);
    expect((await ledger.state()).size).toBe(53);
  });
});
