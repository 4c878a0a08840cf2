import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, onTestFinished } from 'vitest';
import { planProjects } from '../journey/plan-story.ts';
import { freshFolder } from '../support/scratch.ts';

/** What the tests of P1 and P2 share: a real database, and another process that uses it. */

export const DB = 'data/shop.duckdb';

export const sql = (action_id: string, operation: object, target = DB) => ({
  action_id,
  action_type: 'SQL_EXECUTE',
  target,
  operation: { type: 'sql_execute', ...operation },
});

export const CHMOD = {
  action_id: '1',
  action_type: 'FILE_MODIFY',
  target: DB,
  operation: { type: 'mode_change', mode: '0600' },
};

/** The bytes of a database with t = 1, 2. */
export async function databaseBytes(): Promise<Buffer> {
  const path = join(freshFolder('keyturn-db-'), 'shop.duckdb');
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run('CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1), (2); CHECKPOINT');
  connection.closeSync();
  instance.closeSync();
  const bytes = readFileSync(path);
  rmSync(dirname(path), { recursive: true });
  return bytes;
}

/** Projects of a file, each with these files and the database, whose bytes come along. */
export function shops(files: Readonly<Record<string, string>> = {}) {
  const planProject = planProjects();
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await databaseBytes();
  });
  return async () => {
    const p = await planProject({ 'data/keep': '', ...files });
    writeFileSync(join(p.root, DB), bytes);
    return { p, path: join(p.root, DB), bytes };
  };
}

/** The rows of t, read as any program would read them: it opens, or this throws. */
export async function rowsOf(path: string): Promise<number[]> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll('SELECT i FROM t ORDER BY i')).getRows();
  connection.closeSync();
  instance.closeSync();
  return rows.map(([i]) => Number(i));
}

export interface Writer {
  readonly child: ChildProcess;
  /** Runs SQL there, and says what came of it. */
  run(text: string): Promise<string>;
  end(): Promise<void>;
}

/** Another process that has the database open for writing. Its changes stay in the log until it ends. */
export async function writerOf(path: string): Promise<Writer> {
  const duckdb = createRequire(import.meta.url).resolve('@duckdb/node-api');
  const script = `
    const { DuckDBInstance } = require(${JSON.stringify(duckdb)});
    const { createInterface } = require('node:readline');
    (async () => {
      const instance = await DuckDBInstance.create(${JSON.stringify(path)});
      const connection = await instance.connect();
      console.log('open');
      for await (const line of createInterface({ input: process.stdin })) {
        await connection.run(line);
        console.log('done');
      }
      connection.closeSync();
      instance.closeSync();
      process.exit(0);
    })().catch((error) => { console.log(error.message.split('\\n')[0]); process.exit(1); });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = async () => String((await lines.next()).value);
  const first = await said();
  if (first !== 'open') throw new Error(first);
  return {
    child,
    run: (text) => {
      child.stdin.write(`${text}\n`);
      return said();
    },
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}

/** Processes that have the file open, other than this one. */
export function holdersOf(path: string): number[] {
  const { dev, ino } = statSync(path);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.map(Number).filter((pid) => hasOpen(pid, { dev, ino }));
}

function hasOpen(pid: number, { dev, ino }: { dev: number; ino: number }): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      if (!readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('/')) return false;
      const open = statSync(`/proc/${pid}/fd/${fd}`);
      return open.dev === dev && open.ino === ino;
    });
  } catch {
    return false; // it ended
  }
}
