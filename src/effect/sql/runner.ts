/**
 * The child that touches DuckDB: native code that may spin, crash or eat memory, so it lives in a process that can be
 * killed. Started by `process.ts` of this folder; an entry of its own in the build (dist/sql-runner.js).
 *
 * For each line (a job) of its standard input it writes one line (the answer) to descriptor 3. When its parent dies the input
 * ends, and it ends too, with the locks that it holds.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { DuckDBInstance } from '@duckdb/node-api';
import { Refusal } from '../../refusal.ts';
import { holdLock, loadDuckDB, messageOf } from './duckdb.ts';
import { execute } from './execute.ts';
import { ANSWER_FD, type Done, type Job, NOTHING_DONE, type SqlAnswer } from './job.ts';
import { verifyList } from './verify.ts';

/** Kept reachable until the process ends: a collected instance would let go of its lock. */
const held: DuckDBInstance[] = [];

async function perform(job: Job): Promise<Done> {
  const duckdb = await loadDuckDB();
  if (job.task === 'execute') return execute(duckdb, job);
  if (job.task === 'classify') await verifyList(duckdb, job);
  else for (const path of job.databases) held.push(await holdLock(duckdb, path));
  return NOTHING_DONE;
}

async function answerTo(job: Job): Promise<SqlAnswer> {
  try {
    return { ok: true, done: await perform(job) };
  } catch (error) {
    if (error instanceof Refusal)
      return { ok: false, code: error.code, message: error.message, facts: error.facts };
    return { ok: false, code: 'SQL_RUNNER_FAILED', message: messageOf(error), facts: {} };
  }
}

function say(value: SqlAnswer): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let done = 0; done < bytes.length; ) done += writeSync(ANSWER_FD, bytes, done);
}

for await (const line of createInterface({ input: process.stdin }))
  say(await answerTo(JSON.parse(line) as Job));
process.exit(0);
