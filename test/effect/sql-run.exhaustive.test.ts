import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classifySql } from '../../src/effect/sql/classify.ts';
import { askRunner } from '../../src/effect/sql/process.ts';
import type { SqlRequest } from '../../src/effect/sql/request.ts';
import { processesThatName } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

import { ask, bytesOf, digestAt, FILE, inMemory, prepared, stageIn } from './sql-scene.ts';

describe('a run that succeeds', () => {
  it('creates the database, and a later run changes it and says what changed', async () => {
    const root = scratch();
    const created = await ask(root, 'CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)', {
      expected_sha256: null,
    });
    expect(created.database).toEqual({ before_sha256: null, after_sha256: digestAt(root), changed: true });
    expect(created.statements.map((s) => s.rows_changed)).toEqual([0, 2]);
    expect(statSync(join(root, FILE)).mode & 0o777).toBe(0o600);
    chmodSync(join(root, FILE), 0o640);

    const before = digestAt(root);
    const changed = await ask(root, 'UPDATE my.main.t SET a = a + $by; FROM t', {
      parameters: { by: 10 },
      expected_sha256: before,
    });
    expect(changed).toMatchObject({
      statements: [
        { number: 1, kind: 'UPDATE', rows_changed: 2 },
        { number: 2, kind: 'SELECT' },
      ],
      columns: [{ name: 'a', type: 'INTEGER' }],
      rows: [[11], [12]],
      row_count: 2,
      truncated: false,
      database: { before_sha256: before, after_sha256: digestAt(root), changed: true },
      saved: null,
    });
    expect(digestAt(root)).not.toBe(before);
    expect(statSync(join(root, FILE)).mode & 0o777).toBe(0o640);
    expect(readdirSync(root)).toEqual([FILE]);
  });

  it('leaves one file that is the whole database: a byte copy of it opens and holds everything', async () => {
    const root = await prepared();
    writeFileSync(join(root, 'copy.duckdb'), bytesOf(root));
    const copy = await ask(root, 'SELECT count(*) FROM t', { database: 'copy.duckdb' });
    expect(copy.rows).toEqual([['3']]);
  });

  it('a run that only reads leaves every byte as it was', async () => {
    const root = await prepared();
    const before = digestAt(root);
    const { database, rows } = await ask(root, 'EXPLAIN SELECT * FROM t; SELECT max(a) FROM t', {
      expect_results: true,
    });
    expect(rows).toEqual([[2]]);
    expect(database).toEqual({ before_sha256: before, after_sha256: before, changed: false });
    expect(digestAt(root)).toBe(before);
  });

  it('values become JSON in the documented way', async () => {
    const { rows } =
      await inMemory(`SELECT 9223372036854775807::BIGINT, 1.50::DECIMAL(10,2), 0.5::DOUBLE, 'nan'::DOUBLE,
      DATE '2024-01-02', TIMESTAMP '2024-01-02 03:04:05', TIMESTAMPTZ '2024-01-02 03:04:05+02', '\\xAA\\x00b'::BLOB, 7, true, NULL,
      [1, 2], {'k': 1::BIGINT}, 'é'`);
    expect(rows).toEqual([
      [
        '9223372036854775807',
        '1.50',
        0.5,
        'NaN',
        '2024-01-02',
        '2024-01-02 03:04:05',
        '2024-01-02 01:04:05+00',
        '\\xAA\\x00b',
        7,
        true,
        null,
        [1, 2],
        { k: '1' },
        'é',
      ],
    ]);
  });

  it('rows are bounded in number and in bytes, and the outcome says so', async () => {
    const some = await inMemory('FROM range(100)', { max_rows: 3 });
    expect(some).toMatchObject({ rows: [['0'], ['1'], ['2']], row_count: null, truncated: true });
    const fat = await inMemory("SELECT repeat('x', 1000000) FROM range(100)", { expect_results: true });
    expect(fat).toMatchObject({ truncated: true });
    expect(fat.rows).toHaveLength(4);
  });

  it.each(['parquet', 'csv', 'json'] as const)(
    'a result is saved as %s, once, with its digest',
    async (format) => {
      const root = await prepared();
      mkdirSync(join(root, 'out'));
      const path = `out/result.${format}`;
      const text = 'SELECT a, uuid()::VARCHAR AS u FROM t WHERE a > $min ORDER BY a DESC';
      const { saved, rows, row_count } = await ask(root, text, {
        parameters: { min: 0 },
        save_results_to: { path, format },
        expect_results: true,
        max_rows: 1,
      });
      expect(saved).toEqual({ path, sha256: digestAt(root, path), size_bytes: bytesOf(root, path).length });
      expect(row_count).toBe(2);
      const read = await ask(root, `SELECT a, u FROM '${path}'`, { readable: ['out'] });
      expect(read.rows[0]![1]).toBe(rows[0]![1]); // the row in the report is the row in the file
      expect(read.rows.map((row) => Number(row[0]))).toEqual([2, 1]);
      expect(readdirSync(join(root, 'out'))).toEqual([`result.${format}`]);
    },
  );

  it('a saved result replaces a file whole', async () => {
    const root = scratch();
    writeFileSync(join(root, 'r.json'), 'x'.repeat(10_000));
    await ask(root, 'SELECT 1 AS one', {
      database: null,
      save_results_to: { path: 'r.json', format: 'json' },
    });
    expect(JSON.parse(readFileSync(join(root, 'r.json'), 'utf8'))).toEqual([{ one: 1 }]);
  });
});

describe('a run that fails changes nothing', () => {
  const failures: readonly [string, string, Partial<SqlRequest>, Parameters<typeof expectRefusal>[0]][] = [
    [
      'an error in the last statement',
      'INSERT INTO t VALUES (9); INSERT INTO t VALUES (9)',
      {},
      'SQL_STATEMENT_FAILED',
    ],
    ['a table that does not exist', 'DROP TABLE t; SELECT * FROM t', {}, 'SQL_STATEMENT_FAILED'],
    ['a syntax error', 'INSERT INTO t VALUES (9); SELEC 1', {}, 'SQL_STATEMENT_FORBIDDEN'],
    ['a syntax error inside', 'INSERT INTO t VALUES (9); SELECT FROM WHERE', {}, 'SQL_MALFORMED'],
    [
      'no rows where some are expected',
      'DELETE FROM t; SELECT * FROM t',
      { expect_results: true },
      'SQL_NO_RESULT',
    ],
    ['no SELECT where rows are expected', 'DELETE FROM t', { expect_results: true }, 'SQL_NO_RESULT'],
    [
      'no SELECT where rows are saved',
      'DELETE FROM t',
      { save_results_to: { path: 'r.csv', format: 'csv' } },
      'SQL_NO_RESULT',
    ],
    [
      'an endless recursion',
      'DELETE FROM t; WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r',
      { timeout_ms: 3000 },
      'SQL_TIMED_OUT',
    ],
    [
      'too much memory',
      "DELETE FROM t; SELECT count(DISTINCT i || repeat('x', 50)) FROM range(50000000) r(i)",
      { memory_mb: 64 },
      'SQL_OUT_OF_MEMORY',
    ],
    [
      'too much memory past the count of DuckDB',
      "DELETE FROM t; SELECT length(repeat('x', 4000000000))",
      {},
      'SQL_OUT_OF_MEMORY',
    ],
    [
      'too large a file',
      'CREATE TABLE big AS SELECT random() AS r FROM range(2000000)',
      { max_file_mb: 2 },
      'SQL_FILE_TOO_LARGE',
    ],
    [
      'a database that is not the approved one',
      'DELETE FROM t',
      { expected_sha256: 'a'.repeat(64) },
      'SQL_DATABASE_CHANGED',
    ],
    ['a database that should be new', 'DELETE FROM t', { expected_sha256: null }, 'SQL_DATABASE_CHANGED'],
  ];

  it.each(failures)('%s', async (_, text, more, code) => {
    const root = await prepared();
    const before = digestAt(root);
    await expectRefusal(code, () => ask(root, text, more));
    expect(digestAt(root)).toBe(before);
    expect(readdirSync(root)).toEqual([FILE]);
  });

  it('an abort kills the runner at once', async () => {
    const root = await prepared();
    const before = digestAt(root);
    const stop = new AbortController();
    const running = ask(root, 'DELETE FROM t; SELECT sleep_ms(60000)', { abort: stop.signal });
    const stage = await stageIn(root);
    stop.abort();
    await expectRefusal('SQL_ABORTED', () => running);
    expect(processesThatName(stage)).toEqual([]);
    expect(digestAt(root)).toBe(before);
    expect(readdirSync(root)).toEqual([FILE]);
    await expectRefusal('SQL_ABORTED', () => ask(root, 'SELECT 1', { abort: AbortSignal.abort() }));
  });

  it('a database that somebody replaces meanwhile is left to them', async () => {
    const root = await prepared();
    const running = ask(root, 'DELETE FROM t; SELECT sleep_ms(3000)');
    await stageIn(root);
    writeFileSync(join(root, 'other'), 'theirs');
    renameSync(join(root, 'other'), join(root, FILE));
    await expectRefusal('SQL_DATABASE_CHANGED', () => running);
    expect(bytesOf(root).toString()).toBe('theirs');
  });

  it('a new database is never put over a file that appeared meanwhile', async () => {
    const root = scratch();
    const running = ask(root, 'CREATE TABLE t (a INT); SELECT sleep_ms(3000)');
    await stageIn(root);
    writeFileSync(join(root, FILE), 'theirs');
    await expectRefusal('SQL_DATABASE_CHANGED', () => running);
    expect(bytesOf(root).toString()).toBe('theirs');
  });
});

describe('parameters', () => {
  it('one value serves each use of its name, whatever its case', async () => {
    const { rows } = await inMemory('SELECT $a + $A, $s, $f, $b, $n', {
      parameters: { a: 2, s: "'; DROP TABLE t; --", f: 0.5, b: true, n: null },
    });
    expect(rows).toEqual([['4', "'; DROP TABLE t; --", 0.5, true, null]]);
  });

  it.each([
    ['a missing value', 'SELECT $a, $b', { a: 1 }, 'SQL_PARAMETER_MISSING'],
    ['a value of no use', 'SELECT $a', { a: 1, b: 2 }, 'SQL_PARAMETER_UNUSED'],
    ['a name in a string only', "SELECT '$a'", { a: 1 }, 'SQL_PARAMETER_UNUSED'],
    ['a name twice', 'SELECT $a', { a: 1, A: 2 }, 'SQL_PARAMETER_INVALID'],
    ['a number for a name', 'SELECT $1', { 1: 1 }, 'SQL_PARAMETER_INVALID'],
    ['an unnamed number', 'SELECT $1', {}, 'SQL_PARAMETER_INVALID'],
    ['a question mark', 'SELECT ?', {}, 'SQL_PARAMETER_MISSING'],
    ['a value that is no scalar', 'SELECT $a', { a: [1] as unknown as string }, 'SQL_PARAMETER_INVALID'],
    ['a number that is none', 'SELECT $a', { a: Number.NaN }, 'SQL_PARAMETER_INVALID'],
    ['an integer that cannot be held', 'SELECT $a', { a: 2 ** 60 }, 'SQL_PARAMETER_INVALID'],
  ] as const)('%s is refused', async (_, text, parameters, code) => {
    await expectRefusal(code, () => inMemory(text, { parameters }));
  });
});

describe('the preview', () => {
  it('lists statements by kind before their tables exist', async () => {
    const listed = await classifySql(
      'CREATE TABLE t (a INT); INSERT INTO t VALUES ($a); SELECT * FROM nowhere',
    );
    expect(listed.map(({ kind, object }) => [kind, object])).toEqual([
      ['CREATE', 'TABLE'],
      ['INSERT', null],
      ['SELECT', null],
    ]);
  });

  it('lists what may not run, and says so', async () => {
    const listed = await classifySql("SELECT 1; COPY t TO 'x'");
    expect(listed.map(({ forbidden }) => forbidden?.what ?? null)).toEqual([null, 'COPY']);
  });

  it('refuses what the parser of DuckDB refuses', async () => {
    await expectRefusal('SQL_MALFORMED', () => classifySql('SELECT 1; INSERT INTO INTO t'));
    await expectRefusal('SQL_MALFORMED', () =>
      classifySql(`SELECT ${'('.repeat(50_000)}1${')'.repeat(50_000)}`),
    );
  });
});

describe('a statement that DuckDB reads otherwise than it was listed', () => {
  it('does not run', async () => {
    // By its first word an UPDATE; DuckDB knows better, and so would do something that no human approved.
    const root = await prepared();
    const before = digestAt(root);
    await expectRefusal('SQL_STATEMENT_FORBIDDEN', () => ask(root, 'DELETE FROM t; UPDATE EXTENSIONS'));
    expect(digestAt(root)).toBe(before);
  });
});

describe('the runner', () => {
  const start = (...argv: string[]) =>
    askRunner(
      { command: { argv, fds: [], filter: undefined, close: () => {} }, cwd: '/', timeout_ms: 20_000 },
      { task: 'classify', text: '', statements: [] },
    );

  it('one that cannot start, dies, or talks nonsense is a refusal', async () => {
    await expectRefusal('SQL_RUNNER_FAILED', () => start('/nowhere/node'));
    await expectRefusal('SQL_RUNNER_FAILED', () => start(process.execPath, '-e', 'process.abort()'));
    const nonsense = "require('fs').writeSync(3, 'nonsense\\n'); setInterval(() => {}, 1000)";
    await expectRefusal('SQL_RUNNER_FAILED', () => start(process.execPath, '-e', nonsense));
    const flood = "for (;;) require('fs').writeSync(3, Buffer.alloc(65536, 'x'))";
    await expectRefusal('SQL_RUNNER_FAILED', () => start(process.execPath, '-e', flood));
  });

  it('without a sandbox on this machine nothing runs, unless the caller gives it up', async () => {
    const machine = {
      bwrap: null,
      prlimit: null,
      flock: null,
      mkfifo: null,
      proc: true,
      system: [],
      network: [],
      key_lists: [],
    };
    await expectRefusal('SANDBOX_UNAVAILABLE', () => inMemory('SELECT 1', { machine }));
    expect((await inMemory('SELECT 1', { machine, sandbox: 'none' })).rows).toEqual([[1]]);
  });
});
