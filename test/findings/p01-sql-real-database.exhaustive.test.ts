import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runSql } from '../../src/effect/sql/run.ts';
import { create, planOf, ran, run, runnable, undo, when } from '../journey/plan-story.ts';
import { picture } from '../plan/engine/story.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { DB, holdersOf, rowsOf, shops, sql, writerOf } from './p01-database.ts';

const shop = shops({ 'ro/a.csv': 'i\n7\n' });

const INSERT = sql('2', { query: 'INSERT INTO t VALUES (3)' });

/** Looks until something is so. It is asked of the system, so there is no time in it. */
const LONG = 'INSERT INTO t SELECT 3; SELECT count(*) FROM range(100000000000) r WHERE r.range % 7 = 3';

describe('P1: the real database is locked for the whole action', () => {
  it('a log that appears after the claim is refused, and nothing is touched', async () => {
    const { p, path } = await shop();
    const intent = await runnable(p, planOf([create('1', 'n'), INSERT]));
    const before = picture(p.root);
    const late = when('checkpoint', () => writeFileSync(`${path}.wal`, 'x'));
    expect(await run(p, intent, late)).toMatchObject({
      result: 'failure',
      reason_code: 'SQL_DATABASE_HAS_LOG',
    });
    rmSync(`${path}.wal`);
    expect(picture(p.root)).toEqual(before);
  });

  it('another version of the format is refused, and nothing is touched', async () => {
    const { p, path, bytes } = await shop();
    writeFileSync(path, withVersion(bytes, 999n));
    const before = picture(p.root);
    const { report } = await ran(p, planOf([create('1', 'n'), INSERT]));
    expect(report).toMatchObject({ result: 'failure', reason_code: 'SQL_DATABASE_VERSION' });
    expect(picture(p.root)).toEqual(before);
  });

  it('no other process opens it for writing from the checkpoint on, also when SQL reads the file itself', async () => {
    const { p, path } = await shop();
    // A POSIX lock goes when its process closes any descriptor of the file, and SQL here opens and closes it.
    const query = `CREATE TABLE b AS SELECT content FROM read_blob('${DB}'); ${LONG}`;
    const stop = new AbortController();
    let refused = '';
    const { report } = await ran(
      p,
      planOf([sql('2', { query: query.replaceAll(DB, path), readable: ['data'] })]),
      {
        abort: stop.signal,
        onProgress: ({ what }) => {
          if (what !== '2') return;
          void (async () => {
            await until(() => holdersOf(path).length > 0);
            refused = await writerOf(path).then(
              () => 'opened',
              (error: Error) => error.message,
            );
            stop.abort();
          })();
        },
      },
    );
    expect(refused).toContain('Could not set lock');
    expect(report).toMatchObject({ result: 'rolled_back' });
    expect(await rowsOf(path)).toEqual([1, 2]);
  });

  it('when the process that holds the lock dies, the action fails and everything is as before', async () => {
    const { p, path } = await shop();
    const before = picture(p.root);
    const intent = await runnable(p, planOf([create('1', 'n'), sql('2', { query: LONG })]));
    const kill = async () => {
      for (const pid of await until(() => holdersOf(path).length > 0 && holdersOf(path)))
        process.kill(pid, 'SIGKILL');
    };
    const report = await run(
      p,
      intent,
      when('2', () => void kill()),
    );
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'SQL_LOCK_LOST' });
    expect(picture(p.root)).toEqual(before);
  });

  it('a process that had it open and died before the lock leaves its log, and nothing is lost', async () => {
    const { p, path } = await shop();
    const intent = await runnable(p, planOf([INSERT]));
    const writer = await writerOf(path);
    await writer.run('INSERT INTO t VALUES (9)');
    writer.child.kill('SIGKILL');
    await new Promise((resolve) => writer.child.once('close', resolve));
    expect(existsSync(`${path}.wal`)).toBe(true);
    await expectRefusal('SQL_DATABASE_HAS_LOG', () => run(p, intent));
    expect(await rowsOf(path)).toEqual([1, 2, 9]);
  });

  it('is staged once, and what is staged is gone afterwards', async () => {
    const { p, path } = await shop();
    const { report } = await ran(p, planOf([INSERT]));
    expect(report.result).toBe('success');
    expect(await rowsOf(path)).toEqual([1, 2, 3]);
    expect(Object.keys(picture(p.root)).filter((name) => name.startsWith('data/'))).toEqual([
      'data/keep',
      DB,
    ]);
  });

  it('an undo is refused while another process has it open, and goes through afterwards', async () => {
    const { p, path } = await shop();
    const before = picture(p.root);
    const { report } = await ran(p, planOf([INSERT]));
    const writer = await writerOf(path);
    expect(await p.keyturn.plans.previewRollback({ run: report.execution_id })).toMatchObject({
      status: 'preview',
      paths: [{ step: 'refuse', code: 'SQL_DATABASE_BUSY', done: false }],
    });
    const stuck = await undo(p, report);
    expect(stuck).toMatchObject({ status: 'stuck', paths: [{ code: 'SQL_DATABASE_BUSY', done: false }] });
    expect(await rowsOf(`${path}`).catch(() => 'held')).toBe('held');
    await writer.end();
    expect(await undo(p, report)).toMatchObject({ status: 'rolled_back' });
    expect(picture(p.root)).toEqual(before);
  });

  it('an undo is refused where a log is beside it', async () => {
    const { p, path } = await shop();
    const { report } = await ran(p, planOf([INSERT]));
    writeFileSync(`${path}.wal`, 'x');
    const after = readFileSync(path);
    expect(await undo(p, report)).toMatchObject({
      status: 'stuck',
      paths: [{ code: 'SQL_DATABASE_HAS_LOG' }],
    });
    expect(readFileSync(path).equals(after)).toBe(true);
  });

  it('SQL that a pipeline runs is held to the same', async () => {
    const { p, path } = await shop();
    const ask = () => runSql({ root: p.root, database: DB, text: 'DELETE FROM t', expect_results: false });
    const writer = await writerOf(path);
    await expectRefusal('SQL_DATABASE_BUSY', ask);
    await writer.end();
    writeFileSync(`${path}.wal.recovery`, 'x');
    await expectRefusal('SQL_DATABASE_HAS_LOG', ask);
    expect(await rowsOf(path)).toEqual([1, 2]);
  });
});

/** The main header of a DuckDB file: a checksum over its 4 KiB, the magic word, then the storage version. */
function withVersion(file: Buffer, version: bigint): Buffer {
  const changed = Buffer.from(file);
  changed.writeBigUInt64LE(version, 12);
  let checksum = 5381n;
  for (let at = 8; at < 4096; at += 8)
    checksum ^= BigInt.asUintN(64, changed.readBigUInt64LE(at) * 0xbf58476d1ce4e5b9n);
  changed.writeBigUInt64LE(checksum, 0);
  return changed;
}
