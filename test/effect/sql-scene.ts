import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { SqlRequest } from '../../src/effect/sql/request.ts';
import { runSql } from '../../src/effect/sql/run.ts';
import { STAGE_PREFIX } from '../../src/effect/sql/stage.ts';
import { until } from '../support/processes.ts';
import { scratch } from '../support/scratch.ts';

export const FILE = 'my.duckdb';

export const ask = (root: string, text: string, more: Partial<SqlRequest> = {}) =>
  runSql({ root, database: FILE, text, expect_results: false, ...more });
export const inMemory = (text: string, more: Partial<SqlRequest> = {}) =>
  ask(scratch(), text, { database: null, ...more });
export const bytesOf = (root: string, name = FILE) => readFileSync(join(root, name));
export const digestAt = (root: string, name = FILE) => sha256(bytesOf(root, name));

/** A root with a database that holds t = 0, 1, 2. */
export async function prepared(): Promise<string> {
  const root = scratch();
  await ask(root, 'CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t FROM range(3)');
  return root;
}

/** Waits until the run has its stage with a copy of the database in it, or with the new one. */
export function stageIn(root: string): Promise<string> {
  return until(() => {
    const stage = readdirSync(root).find((name) => name.startsWith(STAGE_PREFIX));
    const copy = stage && join(root, stage, FILE);
    return copy && existsSync(copy) && statSync(copy).size > 0 && join(root, stage);
  });
}

/** A second process that opens the database with DuckDB, says so or says why not, and keeps it open. */
export async function otherProcess(path: string): Promise<string> {
  const duckdb = createRequire(import.meta.url).resolve('@duckdb/node-api');
  const script = `require(${JSON.stringify(duckdb)}).DuckDBInstance.create(${JSON.stringify(path)})
    .then((i) => { globalThis.i = i; console.log('open'); setInterval(() => {}, 1000); }, (e) => console.log(e.message));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const chunk of child.stdout) return String(chunk);
  return expect.fail('the other process said nothing');
}
