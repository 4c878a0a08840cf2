import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { ask, bytesOf, digestAt, FILE, inMemory, otherProcess, prepared } from './sql-scene.ts';

describe('the database file', () => {
  it('one that another process holds is refused', async () => {
    const root = await prepared();
    expect(await otherProcess(join(root, FILE))).toContain('open');
    await expectRefusal('SQL_DATABASE_BUSY', () => ask(root, 'SELECT 1'));
    await expect(ask(root, 'SELECT 1')).rejects.toThrow(`Another process has ${FILE} open.`);
  });

  it('cannot be opened for writing by another process during a run', async () => {
    const root = await prepared();
    const stop = new AbortController();
    const running = ask(root, 'DELETE FROM t; SELECT sleep_ms(60000)', { abort: stop.signal });
    const inode = statSync(join(root, FILE)).ino;
    await until(() => new RegExp(`:${inode} `).test(readFileSync('/proc/locks', 'utf8')));
    expect(await otherProcess(join(root, FILE))).toContain('Could not set lock');
    stop.abort();
    await expectRefusal('SQL_ABORTED', () => running);
  });

  it('one that is no database, or is damaged, is refused', async () => {
    const root = await prepared();
    const good = bytesOf(root);
    for (const [bad, code] of [
      ['', 'SQL_DATABASE_FOREIGN'],
      ['hello'.repeat(5000), 'SQL_DATABASE_FOREIGN'],
      [good.subarray(0, 9000), 'SQL_DATABASE_CORRUPT'],
      [Buffer.concat([good.subarray(0, 4096), Buffer.alloc(good.length - 4096, 7)]), 'SQL_DATABASE_CORRUPT'],
    ] as const) {
      writeFileSync(join(root, FILE), bad);
      await expectRefusal(code, () => ask(root, 'SELECT 1'));
      expect(bytesOf(root)).toEqual(Buffer.from(bad));
    }
  });

  it('one of another storage version is refused', async () => {
    const root = await prepared();
    writeFileSync(join(root, FILE), withVersion(bytesOf(root), 999n));
    await expectRefusal('SQL_DATABASE_VERSION', () => ask(root, 'SELECT 1'));
  });

  it('one that is encrypted is refused', async () => {
    const root = scratch();
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    // Safe or not, what it writes is marked as encrypted.
    await connection.run("SET force_mbedtls_unsafe = 'true'");
    await connection.run(`ATTACH '${join(root, FILE)}' AS e (ENCRYPTION_KEY 'k'); CREATE TABLE e.t (i INT)`);
    await connection.run('DETACH e');
    connection.closeSync();
    instance.closeSync();
    await expectRefusal('SQL_DATABASE_ENCRYPTED', () => ask(root, 'SELECT 1'));
  });

  it('one with a log beside it is refused, because the file is not the whole database', async () => {
    const root = await prepared();
    writeFileSync(join(root, `${FILE}.wal`), '');
    await expectRefusal('SQL_DATABASE_HAS_LOG', () => ask(root, 'SELECT 1'));
  });

  it('one that is larger than allowed is refused before it is copied', async () => {
    const root = scratch();
    writeFileSync(join(root, FILE), Buffer.alloc(2 * 1024 * 1024));
    await expectRefusal('SQL_FILE_TOO_LARGE', () => ask(root, 'SELECT 1', { max_file_mb: 1 }));
  });

  it('a SELECT creates none', async () => {
    const root = scratch();
    await expectRefusal('FILE_NOT_FOUND', () => ask(root, 'SELECT 1'));
    expect(readdirSync(root)).toEqual([]);
  });
});

/** The main header of a DuckDB file: a checksum over its 4 KiB, the magic word, then the storage version. */
function withVersion(file: Buffer, version: bigint): Buffer {
  const changed = Buffer.from(file);
  changed.writeBigUInt64LE(version, 12);
  let checksum = 5381n;
  for (let at = 8; at < 4096; at += 8) {
    checksum ^= BigInt.asUintN(64, changed.readBigUInt64LE(at) * 0xbf58476d1ce4e5b9n);
  }
  changed.writeBigUInt64LE(checksum, 0);
  return changed;
}

describe('paths', () => {
  it('nothing outside the root is a database or a target', async () => {
    const root = await prepared();
    const outside = await prepared();
    symlinkSync(join(outside, FILE), join(root, 'link.duckdb'));
    symlinkSync(outside, join(root, 'folder'));
    linkSync(join(outside, FILE), join(root, 'hard.duckdb'));
    mkdirSync(join(root, 'dir.duckdb'));
    const text = 'DELETE FROM t';
    const before = digestAt(outside);
    await expectRefusal('PATH_ESCAPES', () => ask(root, text, { database: '../x.duckdb' }));
    await expectRefusal('PATH_ESCAPES', () => ask(root, text, { database: join(outside, FILE) }));
    await expectRefusal('FILE_IS_SYMLINK', () => ask(root, text, { database: 'link.duckdb' }));
    await expectRefusal('FILE_IS_SYMLINK', () => ask(root, text, { database: `folder/${FILE}` }));
    await expectRefusal('FILE_HARD_LINKED', () => ask(root, text, { database: 'hard.duckdb' }));
    await expectRefusal('FILE_NOT_REGULAR', () => ask(root, text, { database: 'dir.duckdb' }));
    const save = (path: string) => ask(root, 'SELECT 1', { save_results_to: { path, format: 'csv' } });
    await expectRefusal('FILE_IS_SYMLINK', () => save('folder/x.csv'));
    await expectRefusal('FILE_IS_SYMLINK', () => save('link.duckdb'));
    await expectRefusal('FILE_NOT_FOUND', () => save('nowhere/x.csv'));
    await expectRefusal('PATH_ESCAPES', () => save('../x.csv'));
    await expectRefusal('FILE_IS_SYMLINK', () => ask(root, 'SELECT 1', { readable: ['folder'] }));
    expect(digestAt(outside)).toBe(before);
  });

  it('a root must be absolute and must exist, and limits must be within theirs', async () => {
    await expectRefusal('SHAPE_INVALID', () => ask('here', 'SELECT 1'));
    await expectRefusal('FILE_NOT_FOUND', () => ask('/nowhere/at/all', 'SELECT 1'));
    await expectRefusal('SHAPE_INVALID', () => inMemory('SELECT 1', { timeout_ms: 300_001 }));
    await expectRefusal('SHAPE_INVALID', () => inMemory('SELECT 1', { memory_mb: 0.5 }));
  });
});
