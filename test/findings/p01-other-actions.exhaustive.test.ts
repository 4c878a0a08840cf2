import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create, planOf, ran, remove, rename, run, runnable, undo } from '../journey/plan-story.ts';
import { picture } from '../plan/engine/story.ts';
import { CHMOD, DB, rowsOf, shops, sql, writerOf } from './p01-database.ts';

const shop = shops();

const COPY = {
  action_id: '1',
  action_type: 'FILE_CREATE',
  target: 'data/copy.duckdb',
  operation: { type: 'create', content_file: DB },
};

describe('P1: a database that an action other than SQL replaces, moves or removes', () => {
  it.each([remove('1', DB), rename('1', DB, 'data/other.duckdb')])(
    '$action_type of one that another process opened after the approval is refused, and nothing is lost',
    async (action) => {
      const { p, path } = await shop();
      const intent = await runnable(p, planOf([create('0', 'n'), action]));
      const before = picture(p.root);
      const writer = await writerOf(path);
      expect(await run(p, intent)).toMatchObject({ result: 'failure', reason_code: 'SQL_DATABASE_BUSY' });
      expect(picture(p.root)).toEqual(before);
      expect(await writer.run('INSERT INTO t VALUES (3)')).toBe('done');
      await writer.end();
      expect(await rowsOf(path)).toEqual([1, 2, 3]);
    },
  );

  it.each([
    [rename('1', DB, 'data/other.duckdb'), 'data/other.duckdb'],
    [COPY, 'data/copy.duckdb'],
    [CHMOD, DB],
  ])(
    'an undo of $action_type is held to the same, and goes on when the writer is done',
    async (action, at) => {
      const { p } = await shop();
      const before = picture(p.root);
      const { report } = await ran(p, planOf([action]));
      const writer = await writerOf(join(p.root, at));
      expect((await p.keyturn.plans.previewRollback({ run: report.execution_id })).paths[0]).toMatchObject({
        step: 'refuse',
        code: 'SQL_DATABASE_BUSY',
      });
      expect((await undo(p, report)).paths[0]).toMatchObject({ done: false, code: 'SQL_DATABASE_BUSY' });
      await writer.end();
      expect((await undo(p, report)).status).toBe('rolled_back');
      expect(picture(p.root)).toEqual(before);
    },
  );

  it('several are locked together, beside one that is none, before SQL works on what a rename left', async () => {
    const { p, path, bytes } = await shop();
    for (const name of ['b', 'c']) writeFileSync(join(p.root, `data/${name}.duckdb`), bytes);
    writeFileSync(join(p.root, 'data/broken.duckdb'), bytes.subarray(0, 5000));
    const before = picture(p.root);
    const plan = planOf([
      rename('1', DB, 'data/moved.duckdb'),
      remove('2', 'data/b.duckdb'),
      remove('3', 'data/broken.duckdb'),
      rename('4', 'data/c.duckdb', DB),
      sql('5', { query: 'INSERT INTO t VALUES (3)' }, 'data/moved.duckdb'),
    ]);
    const { report } = await ran(p, plan);
    expect(report.result).toBe('success');
    expect(await rowsOf(join(p.root, 'data/moved.duckdb'))).toEqual([1, 2, 3]);
    expect(await rowsOf(path)).toEqual([1, 2]);
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(picture(p.root)).toEqual(before);
  });

  it('what only begins like one can be removed and brought back', async () => {
    const { p, path, bytes } = await shop();
    writeFileSync(path, bytes.subarray(0, 5000));
    const { report } = await ran(p, planOf([remove('1', DB)]));
    expect(report.result).toBe('success');
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(readFileSync(path).equals(bytes.subarray(0, 5000))).toBe(true);
  });
});
