import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DuckDB, loadDuckDB, type OpenDatabase, openLocked } from '../../src/effect/sql/duckdb.ts';
import {
  RUNNABLE_KINDS,
  type RunnableKind,
  requireRunnable,
  statementsOf,
} from '../../src/effect/sql/statement.ts';
import { expectRefusal } from '../support/refusal.ts';

const kinds = (text: string) => statementsOf(text).map(({ kind }) => kind);
const run = (text: string, allowed?: readonly RunnableKind[]) => requireRunnable(statementsOf(text, allowed));

describe('the list of statements', () => {
  it('each statement has a number, a kind, its parameters and exactly the text that runs', () => {
    const text = '-- first\nINSERT INTO t VALUES ($a, $b, $a) ; /* then */ SELECT $b -- last';
    expect(statementsOf(text)).toEqual([
      {
        number: 1,
        kind: 'INSERT',
        object: null,
        danger: null,
        parameters: ['a', 'b'],
        text: 'INSERT INTO t VALUES ($a, $b, $a)',
        forbidden: null,
      },
      {
        number: 2,
        kind: 'SELECT',
        object: null,
        danger: null,
        parameters: ['b'],
        text: 'SELECT $b',
        forbidden: null,
      },
    ]);
  });

  it.each([
    ['from t', 'SELECT'],
    ['values (1)', 'SELECT'],
    ['(select 1)', 'SELECT'],
    ['describe t', 'SELECT'],
    ['with a as (select 1), b as (delete) select 1', 'SELECT'],
    ['with a as (select 1) insert into t from a', 'INSERT'],
    ['with a as (select 1) update t set a = 1', 'UPDATE'],
    ['with a as (select 1) delete from t', 'DELETE'],
    ['truncate t', 'DELETE'],
    ["comment on table t is 'x'", 'ALTER'],
    ['explain select 1', 'EXPLAIN'],
    ['frobnicate', 'UNKNOWN'],
    ['"select" 1', 'UNKNOWN'],
  ])('%s is of kind %s', (text, kind) => {
    expect(kinds(text)).toEqual([kind]);
  });

  it.each([
    ['drop table t', 'drop'],
    ['DROP VIEW IF EXISTS v', 'drop'],
    ['alter table t drop column c', 'drop'],
    ['alter table t add column c int', null],
    ['truncate t', 'truncate'],
    ['truncate table t', 'truncate'],
    ['delete from t', 'delete'],
    ['delete from t where a = 1', null],
    ['delete from t where "a" = 1', null],
    ['delete from t where true', 'delete'],
    ['delete from t where 1 = 1', 'delete'],
    ['delete from t where $all', 'delete'],
    ['delete from t where 1 = 1 returning a', 'delete'],
    ['delete from t /* where a = 1 */', 'delete'],
    ['delete from t -- where a = 1', 'delete'],
    ['delete from t using u where t.a = u.a', null],
    ['with x as (select 1 where a) delete from t', 'delete'],
    ['update t set a = (select b from u where u.c = 1)', 'update'],
    ['update t set a = 1 where b = 2', null],
    ['update t set "where" = 1', 'update'],
    ["update t set a = 'where b = 2'", 'update'],
    ['create or replace table t as select 1', 'replace'],
    ['create table t (a int)', null],
    ['insert into t values (1)', null],
    ['select 1', null],
  ])('%s takes away without being asked which rows: %s', (text, danger) => {
    expect(statementsOf(text).map((statement) => statement.danger)).toEqual([danger]);
  });

  it.each([
    ["select ';' ; select 2", 2],
    ["select 'it''s ; one'", 1],
    ["select E'a\\'; select 2; --'", 1],
    ["select 'a\\'; select 2; --'", 2],
    ['select "a;""b;"', 1],
    ['select $$ ; $$, $x$ ; $$ ; $x$', 1],
    ['select 1 -- ; drop table t\n; select 2', 2],
    ['select 1 /* ; /* ; */ ; */ ; select 2', 2],
    [';;select 1;;', 1],
  ])('%s holds %i', (text, count) => {
    expect(statementsOf(text)).toHaveLength(count);
  });
});

describe('a text without an honest reading', () => {
  it('a text without a statement is refused', async () => {
    await expectRefusal('SQL_EMPTY', () => statementsOf(''));
    await expectRefusal('SQL_EMPTY', () => statementsOf(' -- nothing\n ; /* ; */ ;'));
  });

  it.each([
    ['an open quote', "select 'a"],
    ['an open name', 'select "a'],
    ['an open comment', 'select 1 /* /* */'],
    ['an open dollar quote', 'select $a$ x $b$'],
    ['an open escape quote', "select E'a\\'"],
    ['a dollar alone', 'select $ 1'],
    ['a U& literal', "select U&'\\0041'"],
    ['a NUL', 'select 1\u0000'],
    ['a lone surrogate', 'select \ud800'],
    ['turned writing', "select 'a\u202eb'"],
    ['a bare carriage return that ends a comment', 'select 1 -- \r; drop table t'],
    ['a space that is none', 'select\u00a01'],
    ['a space of no width', 'sel\u200bect 1'],
  ])('%s is refused', async (_, text) => {
    await expectRefusal('SQL_MALFORMED', () => statementsOf(text));
  });

  it('a text that is too long, or has too many statements, is refused', async () => {
    await expectRefusal('INPUT_TOO_LARGE', () => statementsOf(`select '${'x'.repeat(1024 * 1024)}'`));
    await expectRefusal('INPUT_TOO_LARGE', () => statementsOf('select 1;'.repeat(1001)));
  });
});

describe('what may not run', () => {
  it.each([
    ["copy t to 'x.csv'", 'COPY'],
    ["CoPy/**/t to 'x.csv'", 'COPY'],
    ["attach 'x.db'", 'ATTACH'],
    ['detach x', 'DETACH'],
    ['install httpfs', 'INSTALL'],
    ['force install httpfs', 'UNKNOWN'],
    ['load httpfs', 'LOAD'],
    ['set threads = 1', 'SET'],
    ['reset threads', 'SET'],
    ['use memory', 'SET'],
    ['pragma version', 'PRAGMA'],
    ["export database 'x'", 'EXPORT'],
    ["import database 'x'", 'MULTI'],
    ['call pragma_version()', 'CALL'],
    ['checkpoint', 'CALL'],
    ['begin', 'TRANSACTION'],
    ['commit', 'TRANSACTION'],
    ['rollback', 'TRANSACTION'],
    ['prepare x as select 1', 'PREPARE'],
    ['execute x', 'EXECUTE'],
    ['vacuum', 'VACUUM'],
    ['pivot t on a', 'MULTI'],
    ['merge into t using s on true when matched then delete', 'MERGE_INTO'],
    ["create secret s (type http, bearer_token 'x')", 'CREATE SECRET'],
    ['create or replace persistent secret s (type http)', 'CREATE SECRET'],
    ['create temp macro m() as 1', 'CREATE MACRO'],
    ['create function f() as 1', 'CREATE FUNCTION'],
    ['drop schema s cascade', 'DROP SCHEMA'],
    ['drop secret s', 'DROP SECRET'],
    ['alter database d rename to e', 'ALTER DATABASE'],
    ["explain copy t to 'x.csv'", 'EXPLAIN COPY'],
    ['explain analyze insert into t values (1)', 'EXPLAIN ANALYZE'],
    ['explain (analyze) select 1', 'EXPLAIN with options'],
    ['explain explain select 1', 'EXPLAIN EXPLAIN'],
  ])('%s is named and refused', async (text, what) => {
    const refusal = await expectRefusal('SQL_STATEMENT_FORBIDDEN', () => run(`select 1; ${text}`));
    expect(refusal.facts).toMatchObject({ statement: 2, what });
  });

  it.each([
    "select * from enable_profiling(save_location = 'x')",
    "select * from system.main.enable_logging('x')",
    'from "Force_Checkpoint" /* */ ()',
    "from query('from enable_peg_parser()')",
    'insert into t from query_table("x")',
    'explain from checkpoint()',
  ])('%s is refused for what it calls', async (text) => {
    await expectRefusal('SQL_FUNCTION_FORBIDDEN', () => run(text));
  });

  it('a column may have the name of such a function', () => {
    expect(() => run("select query, 'checkpoint()' from t where checkpoint > 1")).not.toThrow();
  });

  it('what may run may run', () => {
    run('create table t (a int); create temp view v as from t; create unique index i on t (a)');
    run(
      "insert into t values (1); update t set a = 2; delete from t; alter table t add b int; comment on table t is 'x'",
    );
    run('drop view v; drop table t; explain update t set a = 1; summarize t');
    run('merge into t using s on true when matched then delete', RUNNABLE_KINDS);
  });

  it('a caller can allow less, and can never allow COPY', async () => {
    await expectRefusal('SQL_STATEMENT_FORBIDDEN', () => run('insert into t values (1)', ['SELECT']));
    await expectRefusal('SQL_STATEMENT_FORBIDDEN', () => run("copy t to 'x'", ['COPY' as RunnableKind]));
  });
});

describe('our scanner and the parser of DuckDB', () => {
  const pieces = fc.array(
    fc.constantFrom(
      'select 1',
      "select 'a;b'",
      "select E'\\';'",
      "select 'x\\'",
      'select "a;" from (select 1 as "a;")',
      'select $$;$$',
      'select $t$ ; $$ $t$',
      ' ',
      '\n',
      ';',
      ' ; ',
      '; ',
      '-- ; \n',
      '/* ; */',
      '/* /* ; */ */',
      "-- '\n",
      '/* " */',
      ' as "x;y" ',
      ", ';' ",
      ' as é ',
      ", $$'$$ ",
      ', 1e5 ',
      ', 0x1F ',
      '\r\n',
    ),
    { maxLength: 14 },
  );

  async function countByDuckDB({ connection }: OpenDatabase, text: string): Promise<number | null> {
    try {
      return (await connection.extractStatements(text)).count;
    } catch {
      return null;
    }
  }

  it('count the same statements in every text that both accept', async () => {
    const duckdb: DuckDB = await loadDuckDB();
    const database = await openLocked(duckdb, {
      path: null,
      read_only: false,
      allowed_directories: [],
      memory_mb: 64,
      threads: 1,
    });
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(pieces, async (parts) => {
        const text = parts.join('');
        const expected = await countByDuckDB(database, text);
        if (expected === null) return;
        compared++;
        expect(statementsOf(text)).toHaveLength(expected);
      }),
      { numRuns: 3000 },
    );
    database.close();
    expect(compared).toBeGreaterThan(100);
  });
});
