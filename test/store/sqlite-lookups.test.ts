import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { enrolled, granted, proposed } from './facts.ts';
import { openSqliteStore } from './open.ts';
import { governance, NOON } from './place.ts';
import { sqlite } from './sqlite-file.ts';

const clock = () => new Date(NOON);

/** A store with an intent that a human approved, closed again. */
async function made() {
  const path = join(scratch(), 'store.db');
  const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'create' });
  const intent = proposed();
  await store.commit({ events: [...governance('ada'), enrolled('bo', 'ada')] });
  await store.commit({ events: [intent, granted(intent.subject, 'ada')] });
  await store.close();
  return { path, intent_id: intent.subject };
}

const lookupsOf = (path: string) =>
  sqlite(path, (db) => db.prepare('SELECT * FROM lookup ORDER BY tenant, near, kind, key').all());

describe('which entries are about a name, in a SQLite file', () => {
  it.each([
    ['is gone', `DELETE FROM lookup WHERE kind = 'entry' AND near = 'bo'`, 'bo'],
    [
      'is there without an entry',
      `INSERT INTO lookup SELECT tenant, 'eve', kind, key, seq FROM lookup WHERE kind = 'entry' AND near = 'bo'`,
      'eve',
    ],
    ['leads elsewhere', `UPDATE lookup SET seq = 0 WHERE kind = 'entry' AND near = 'bo'`, 'bo'],
    ['is of another name', `UPDATE lookup SET near = 'eve' WHERE kind = 'entry' AND near = 'bo'`, 'bo'],
    [
      'is past the end',
      `INSERT INTO lookup SELECT tenant, near, kind, 99, 99 FROM lookup WHERE kind = 'entry' AND near = 'bo'`,
      'bo',
    ],
  ])('a rebuild names one that %s, and puts it right', async (_, sql, name) => {
    const { path } = await made();
    const whole = lookupsOf(path);
    sqlite(path, (db) => db.exec(sql));
    expect(lookupsOf(path)).not.toEqual(whole);
    const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'write' });
    const { differences } = await store.rebuild({ write: false });
    expect(differences).toContain(`entry ${name}`);
    expect(differences.every((one) => one.startsWith('entry '))).toBe(true);
    expect((await store.rebuild({ write: true })).differences).toEqual(differences);
    expect((await store.rebuild({ write: false })).differences).toEqual([]);
    await store.close();
    expect(lookupsOf(path)).toEqual(whole);
  });

  it.each([
    ['a NUL behind its end', `CAST(bytes || x'00' AS BLOB)`],
    ['bytes that are not UTF-8', `CAST(replace(bytes, 'ada', 'ad') || x'ff' AS BLOB)`],
  ])('a rebuild refuses an entry with %s', async (_, bytes) => {
    const { path } = await made();
    sqlite(path, (db) =>
      db.exec(`DROP TRIGGER entry_no_update; UPDATE entry SET bytes = ${bytes} WHERE id % 1099511627776 = 3`),
    );
    const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'write' });
    await expectRefusal('LEDGER_BROKEN', () => store.rebuild({ write: false }));
    await store.close();
  });
});
