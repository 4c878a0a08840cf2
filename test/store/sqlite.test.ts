import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { leafHash } from '../../src/ledger/entry.ts';
import { nodeHash } from '../../src/ledger/merkle.ts';
import { connect } from '../../src/store/sqlite/database.ts';
import { MIGRATIONS, migrate } from '../../src/store/sqlite/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { storeContract } from './contract.ts';
import { begun, enrolled, erased, proposed } from './facts.ts';
import { openSqliteStore } from './open.ts';
import { allEntries, type Place } from './place.ts';
import { made, opened, sqlite } from './sqlite-file.ts';

const DAMAGE = {
  intents: `UPDATE projection SET status = 'approved', state = json_set(state, '$.status', 'approved') WHERE name = 'intent'`,
  claims: `DELETE FROM lookup WHERE kind = 'claim'`,
  entry: `DROP TRIGGER entry_no_update;
    UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), '"by":"bo"', '"by":"eve"') AS BLOB)`,
  object: `UPDATE object SET bytes = x'00'`,
};

async function sqlitePlace(): Promise<Place> {
  const path = join(scratch(), 'store.db');
  return {
    open: ({ tenant = 'default', mode, clock = () => new Date() }) =>
      openSqliteStore({ path, tenant, clock, mode }),
    damage: async (what) => {
      sqlite(path, (db) => db.exec(DAMAGE[what]));
    },
  };
}

storeContract('sqlite', sqlitePlace);

describe('a SQLite file', () => {
  it('and what lies beside it can be read by its owner only', async () => {
    const folder = scratch();
    const store = await opened(await made(folder));
    await store.commit({ events: [proposed()] });
    const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
    await store.close();
    expect(modes).toEqual(['store.db', 'store.db-shm', 'store.db-wal'].map((name) => [name, 0o600]));
  });

  it('that is missing, a folder or in no folder is refused', async () => {
    const folder = scratch();
    for (const mode of ['read', 'write'] as const) {
      await expectRefusal('STORE_MISSING', () => opened(join(folder, 'store.db'), mode));
      await expectRefusal('FILE_NOT_REGULAR', () => opened(folder, mode));
    }
    await expectRefusal('STORE_MISSING', () => opened(join(folder, 'none', 'store.db'), 'create'));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that is not a database, empty, or somebody else’s is refused and left as it was', async () => {
    const folder = scratch();
    const path = join(folder, 'store.db');
    const foreign = join(folder, 'foreign.db');
    sqlite(foreign, (db) => db.exec('CREATE TABLE t (x)'));
    for (const bytes of [Buffer.alloc(0), Buffer.from('hello'.repeat(5000)), readFileSync(foreign)]) {
      writeFileSync(path, bytes);
      for (const mode of ['read', 'write', 'create'] as const)
        await expectRefusal('STORE_CORRUPT', () => opened(path, mode));
      expect(readFileSync(path).equals(bytes)).toBe(true);
    }
  });

  it('whose pages were overwritten or cut off is refused where that is seen', async () => {
    const path = await made();
    const whole = readFileSync(path);
    const read = async () => {
      const store = await opened(path, 'read');
      try {
        await store.tip();
        await store.page('intent', { limit: 10 });
        await allEntries(store);
      } finally {
        await store.close();
      }
    };
    await read();
    writeFileSync(path, Buffer.from(whole).fill(0xff, 4096));
    await expectRefusal('STORE_CORRUPT', read);
    writeFileSync(path, whole.subarray(0, 6000));
    await expectRefusal('STORE_CORRUPT', read);
  });

  it('of a newer Keyturn is refused, and of an older one is migrated when opened to write', async () => {
    const path = await made();
    sqlite(path, (db) => db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`));
    for (const mode of ['read', 'write', 'create'] as const)
      await expectRefusal('STORE_NEWER', () => opened(path, mode));
    sqlite(path, (db) => db.exec('PRAGMA user_version = 0'));
    await expectRefusal('STORE_READ_ONLY', () => opened(path, 'read'));
  });

  it('is migrated step by step, all steps or none, and once', async () => {
    const path = await made();
    const version = () => sqlite(path, (db) => db.prepare('PRAGMA user_version').get());
    const step = 'CREATE TABLE note (text TEXT) STRICT; INSERT INTO note VALUES (1)';
    const db = await connect(path, 'write');
    await expectRefusal('STORE_CORRUPT', () => migrate(db, [...MIGRATIONS, step, 'CREATE NONSENSE']));
    expect(version()).toEqual({ user_version: MIGRATIONS.length });
    db.close();
    const other = await connect(path, 'write');
    migrate(other, [...MIGRATIONS, step]);
    migrate(other, [...MIGRATIONS, step]);
    other.close();
    expect(version()).toEqual({ user_version: MIGRATIONS.length + 1 });
    expect(sqlite(path, (at) => at.prepare('SELECT count(*) AS n FROM note').get())).toEqual({ n: 1 });
    await expectRefusal('STORE_NEWER', () => opened(path, 'write'));
  });

  it('never lets an entry be changed or deleted', async () => {
    const path = await made();
    for (const sql of ['UPDATE entry SET hash = 1', 'DELETE FROM entry', `UPDATE entry SET bytes = x'00'`])
      expect(() => sqlite(path, (db) => db.exec(sql))).toThrow(/never/);
    expect(await allEntries(await opened(path, 'read'))).toHaveLength(3);
  });

  it('whose entries carry a wrong peak, time, kind or signer does not rebuild', async () => {
    for (const wrong of [
      `peak = '${'0'.repeat(64)}'`,
      `at = '2026-01-15T12:00:00.000Z'`,
      `kind = 'intent.proposed'`,
      `signer = 'eve'`,
      `signer = NULL`,
    ]) {
      const path = await made();
      sqlite(path, (db) => db.exec(`DROP TRIGGER entry_no_update; UPDATE entry SET ${wrong}`));
      const store = await opened(path);
      await expectRefusal('LEDGER_BROKEN', () => store.rebuild({ write: true }));
      await store.close();
    }
  });

  it('in which an entry was rewritten does not rebuild, even with every hash beside it made to fit', async () => {
    const path = await made();
    const store = await opened(path);
    await store.commit({ events: [proposed()] });
    const [begins, founds, first, second] = await allEntries(store);
    const bytes = Buffer.from(Buffer.from(first!.bytes).toString().replace('"deploy"', '"delete"'));
    const hash = leafHash(bytes);
    const forge = (set: string, seq: number, ...values: (string | Uint8Array)[]) =>
      sqlite(path, (db) => {
        db.exec('DROP TRIGGER IF EXISTS entry_no_update');
        db.prepare(`UPDATE entry SET ${set} WHERE id % 1024 = ${seq}`).run(...values);
      });
    forge('bytes = ?', 2, bytes);
    expect(await brokenAt(store)).toBe(2);
    forge('hash = ?', 2, hash);
    forge('peak = ?', 3, nodeHash(nodeHash(begins!.hash, founds!.hash), nodeHash(hash, second!.hash)));
    expect(await brokenAt(store)).toBe(3);
    await store.close();
  });

  it('holds no byte of an erased object, nor does its WAL', async () => {
    const folder = scratch();
    const store = await opened(join(folder, 'store.db'), 'create');
    const secret = Buffer.from(`secret ${'s'.repeat(20_000)} ${randomUUID()}`);
    const digest = sha256(secret);
    await store.commit({ events: [begun(), enrolled('ada')], objects: [secret] });
    const holds = () =>
      readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes('ssssssss'));
    expect(holds()).not.toEqual([]);
    await store.commit({ events: [erased(digest, 'ada')], erase: [digest] });
    expect(holds()).toEqual([]);
    await store.commit({ events: [proposed()] });
    await store.close();
  });
});

async function brokenAt(store: Store): Promise<unknown> {
  const { facts } = await expectRefusal('LEDGER_BROKEN', () => store.rebuild({ write: false }));
  return facts.seq;
}
