/**
 * The child that touches DuckDB: native code that may spin, crash or eat memory, so it lives in a process that can be
 * killed. Started by `process.ts` of this folder; an entry of its own in the build (dist/sql-runner.js).
 *
 * It reads one line (the job) from standard input, writes one line (the answer) to descriptor 3, and then waits for the
 * end of its input: until then it holds the lock on the real database. When its parent dies the input ends too.
 */
import { writeSync } from 'node:fs';
import { Refusal } from '../../refusal.ts';
import { type DuckDB, holdLock, loadDuckDB, messageOf } from './duckdb.ts';
import { execute } from './execute.ts';
import { ANSWER_FD, type Answer, type Done, type ExecuteJob, type Job } from './job.ts';
import { verifyList } from './verify.ts';

function firstLine(): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    process.stdin.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.includes(0x0a)) resolve(Buffer.concat(chunks).toString('utf8').split('\n', 1)[0]!);
    });
    process.stdin.once('end', () => process.exit(0));
  });
}

async function perform(job: Job): Promise<Answer> {
  try {
    const duckdb = await loadDuckDB();
    if (job.task === 'execute') return { ok: true, done: await executeLocked(duckdb, job) };
    await verifyList(duckdb, job);
    return { ok: true, done: { statements: [], columns: [], rows: [], row_count: 0, truncated: false } };
  } catch (error) {
    if (error instanceof Refusal)
      return { ok: false, code: error.code, message: error.message, details: error.details };
    return { ok: false, code: 'SQL_RUNNER_FAILED', message: messageOf(error), details: {} };
  }
}

async function executeLocked(duckdb: DuckDB, job: ExecuteJob): Promise<Done> {
  const guard = job.guard === null ? null : await holdLock(duckdb, job.guard);
  // Kept reachable until the process ends: a collected instance would let go of the lock.
  process.once('exit', () => guard?.closeSync());
  return execute(duckdb, job);
}

function answer(value: Answer): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let done = 0; done < bytes.length; ) done += writeSync(ANSWER_FD, bytes, done);
}

answer(await perform(JSON.parse(await firstLine()) as Job));
