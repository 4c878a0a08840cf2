import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { readJournal } from '../../../src/plan/rollback/journal.ts';
import { loadManifest } from '../../../src/plan/rollback/manifest.ts';
import { rollBack } from '../../../src/plan/rollback/roll-back.ts';
import { scratch } from '../../support/scratch.ts';
import {
  action,
  create,
  derive,
  deriveAndExecute,
  execute,
  journalOf,
  lay,
  picture,
  plan,
  REPORTS,
  text,
} from './story.ts';

const DATABASE = 'data/shop.duckdb';
const sql = (id: string, operation: Record<string, string | boolean>, target = DATABASE) =>
  action(
    id,
    'SQL_EXECUTE',
    target,
    { type: 'sql_execute', parameters: {}, ...operation },
    { timeout_ms: 60_000 },
  );

async function project(): Promise<string> {
  const root = scratch();
  lay(root, { 'data/readme': 'r' });
  const instance = await DuckDBInstance.create(join(root, DATABASE));
  const connection = await instance.connect();
  await connection.run('CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1), (2); CHECKPOINT');
  connection.closeSync();
  instance.closeSync();
  return root;
}

async function rows(root: string): Promise<number> {
  const instance = await DuckDBInstance.create(join(root, DATABASE), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const found = (await connection.runAndReadAll('SELECT count(*)::INTEGER FROM t')).getRows()[0]![0];
  connection.closeSync();
  instance.closeSync();
  return Number(found);
}

describe('SQL in a plan', () => {
  it('changes the database, saves a result, announces both, and is rolled back exactly', async () => {
    const root = await project();
    const before = picture(root);
    const made = plan([
      sql('1', { query: 'INSERT INTO t VALUES (3)' }),
      sql('2', {
        query: 'SELECT i FROM t ORDER BY i',
        save_results_to: 'out/rows.csv',
        expect_results: true,
      }),
    ]);
    const effect = await derive(root, made);
    expect(effect.actions[0]).toMatchObject({ undo: 'exact', statements: ['INSERT'] });
    expect(effect.actions[0]!.changes[0]).toMatchObject({ path: DATABASE, after: 'unknown' });
    const outcome = await execute(root, effect);
    expect(outcome.errors).toEqual([]);
    expect(outcome.status).toBe('SUCCESS');
    expect(await rows(root)).toBe(3);
    expect(text(root, 'out/rows.csv')).toBe('i\n1\n2\n3\n');
    expect(readJournal(root, REPORTS).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['started', 'leaves', 'ended', 'finished']),
    );
    expect(readdirSync(join(root, 'data')).sort()).toEqual(['readme', 'shop.duckdb']);
    expect(
      (await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root), effect })).status,
    ).toBe('rolled_back');
    expect(picture(root)).toEqual(before);
    expect(existsSync(join(root, 'out'))).toBe(false);
  });

  it('a statement that fails leaves everything as it was', async () => {
    const root = await project();
    const before = picture(root);
    const outcome = await deriveAndExecute(
      root,
      plan([
        create('1', 'n'),
        sql('2', { query: 'INSERT INTO t VALUES (9); INSERT INTO nowhere VALUES (1)' }),
      ]),
    );
    expect(outcome.status).toBe('ROLLED_BACK');
    expect(outcome.actions[1]).toMatchObject({ status: 'FAILED' });
    expect(picture(root)).toEqual(before);
  });

  it('a query file that changed since the approval is drift', async () => {
    const root = await project();
    lay(root, { 'q.sql': 'INSERT INTO t VALUES (4)' });
    const effect = await derive(root, plan([sql('1', { query_file: 'q.sql' })]));
    writeFileSync(join(root, 'q.sql'), 'DELETE FROM t');
    const outcome = await execute(root, effect);
    expect(outcome.errors[0]?.error_type).toBe('PLAN_DRIFT');
    expect(await rows(root)).toBe(2);
  });

  it('a statement that may not run is refused before anybody approves it', async () => {
    const root = await project();
    await expect(derive(root, plan([sql('1', { query: "COPY t TO '/tmp/x.csv'" })]))).rejects.toMatchObject({
      code: 'SQL_STATEMENT_FORBIDDEN',
    });
  });
});
