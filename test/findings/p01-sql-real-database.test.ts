import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create, planOf, proposed, remove, rename, run, runnable } from '../journey/plan-story.ts';
import { picture } from '../plan/engine/story.ts';
import { expectRefusal } from '../support/refusal.ts';
import { CHMOD, DB, rowsOf, shops, sql, writerOf } from './p01-database.ts';

const shop = shops();

const DROP = planOf([create('1', 'n'), sql('2', { query: 'DROP TABLE t' })]);

/** The main header with its first flag set: an encrypted database. */
function encrypted(path: string): Buffer {
  const changed = readFileSync(path);
  changed.writeBigUInt64LE(1n, 20);
  return changed;
}

describe('P1: SQL looks at the real database', () => {
  it.each(['.wal', '.wal.checkpoint', '.wal.recovery'])(
    'a log %s beside it is refused when the plan is proposed',
    async (ending) => {
      const { p, path } = await shop();
      writeFileSync(`${path}${ending}`, 'x');
      await expectRefusal('SQL_DATABASE_HAS_LOG', () => proposed(p, DROP));
    },
  );

  it.each<[string, string, (path: string) => void]>([
    ['that is empty', 'SQL_DATABASE_FOREIGN', (path) => writeFileSync(path, '')],
    [
      'of SQLite',
      'SQL_DATABASE_FOREIGN',
      (path) => writeFileSync(path, Buffer.from('SQLite format 3\0'.padEnd(8192, '\0'))),
    ],
    ['that is encrypted', 'SQL_DATABASE_ENCRYPTED', (path) => writeFileSync(path, encrypted(path))],
    ['of 2 GB', 'PLAN_LIMIT_EXCEEDED', (path) => truncateSync(path, 2 * 1024 ** 3)],
    ['that is a folder', 'FILE_NOT_REGULAR', (path) => replaced(path, () => mkdirSync(path))],
    ['that is a link', 'FILE_IS_SYMLINK', (path) => replaced(path, () => symlinkSync('keep', path))],
    ['that is a pipe', 'FILE_NOT_REGULAR', (path) => replaced(path, () => execFileSync('mkfifo', [path]))],
  ])('a database %s is refused when the plan is proposed', async (_, code, spoil) => {
    const { p, path } = await shop();
    spoil(path);
    await expectRefusal(code as 'INTERNAL', () => proposed(p, DROP));
  });

  it('one that its own results would replace is refused when the plan is proposed', async () => {
    const { p, path } = await shop();
    const target = 'data/shop.json';
    copyFileSync(path, join(p.root, target));
    const saved = sql('1', { query: 'SELECT i FROM t', save_results_to: target }, target);
    await expectRefusal('FILE_EXISTS', () => proposed(p, planOf([saved])));
  });

  it.each([remove('1', DB), rename('1', DB, 'data/other.duckdb')])(
    'a log beside it is refused for $action_type too, and beside any other file it means nothing',
    async (action) => {
      const { p, path } = await shop();
      writeFileSync(`${path}.wal`, 'x');
      await expectRefusal('SQL_DATABASE_HAS_LOG', () => proposed(p, planOf([action])));
      writeFileSync(path, 'no database');
      await proposed(p, planOf([action]));
    },
  );

  it('one that another process has open is refused before anything is copied or changed', async () => {
    const { p, path } = await shop();
    const intent = await runnable(p, DROP);
    const before = picture(p.root);
    const writer = await writerOf(path);
    const report = await run(p, intent);
    expect(report).toMatchObject({ result: 'failure', reason_code: 'SQL_DATABASE_BUSY' });
    expect(picture(p.root)).toEqual(before);
    expect(await writer.run('INSERT INTO t VALUES (3)')).toBe('done');
    await writer.end();
    expect(await rowsOf(path)).toEqual([1, 2, 3]);
  });
});

describe('P1: actions that are no SQL look at the real database too', () => {
  it('a mode change of one that another process opened after the approval is refused, and nothing is lost', async () => {
    const { p, path } = await shop();
    const intent = await runnable(p, planOf([create('0', 'n'), CHMOD]));
    const before = picture(p.root);
    const writer = await writerOf(path);
    expect(await run(p, intent)).toMatchObject({ result: 'failure', reason_code: 'SQL_DATABASE_BUSY' });
    expect(picture(p.root)).toEqual(before);
    expect(await writer.run('INSERT INTO t VALUES (3)')).toBe('done');
    await writer.end();
    expect(await rowsOf(path)).toEqual([1, 2, 3]);
  });

  it('a log that appears while the human decides is refused', async () => {
    const { p, path } = await shop();
    const intent = await runnable(p, planOf([remove('1', DB)]));
    const confirm = async () => {
      writeFileSync(`${path}.wal`, 'x');
      return true;
    };
    expect(await run(p, intent, { confirm })).toMatchObject({ reason_code: 'SQL_DATABASE_HAS_LOG' });
    expect(existsSync(path)).toBe(true);
  });
});

function replaced(path: string, make: () => void): void {
  rmSync(path);
  make();
}
