import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { sqliteLimits } from '../../limits.ts';
import { DURABLE } from './database.ts';

/**
 * Moves the WAL into the file, in a thread. The sync of so many pages takes as long as fifty commits, and nothing else of the process would go
 * on meanwhile. What the thread has not moved when the WAL is full, the next commit moves itself.
 */
export interface Checkpoints {
  noteCommits(count: number): void;
  /** Ends the thread, so that nothing of it is in the way when the store is closed. */
  end(): Promise<void>;
}

/** A failed sync of the file is told: which of its pages the disk has is unknown then. Another connection in the way is no failure. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const rest = () => {
    Atomics.store(workerData.at_work, 0, 0);
    Atomics.notify(workerData.at_work, 0);
  };
  process.on('exit', rest);
  const { DatabaseSync } = require(workerData.driver);
  const db = new DatabaseSync(workerData.location, { timeout: 0, defensive: true });
  // SQLite opens the WAL with the first read, and has none to move before.
  db.exec(workerData.settings + 'SELECT count(*) FROM sqlite_schema');
  parentPort.on('message', (is_more) => {
    if (!is_more) {
      db.close();
      parentPort.close();
      return;
    }
    let failure = null;
    try {
      // The file is synced only when no commit came meanwhile. After the first time there is little left to move, and that is likely.
      for (let i = 0; i < 3; i++) db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch ({ message, code, errcode, sqliteExtendedCode, systemErrno }) {
      // A copy of an error would have lost the codes.
      failure = { message, code, errcode, sqliteExtendedCode, systemErrno };
    }
    rest();
    parentPort.postMessage(failure);
  });
`;

export function checkpointsOf(path: string, onFailure: (error: object) => void): Checkpoints {
  let commits = 0;
  let thread: Promise<Worker | null> | null = null;
  let is_at_work = false;
  let is_over = false;
  // 1 until the thread has done what it was told. Node cuts a thread off where the process ends, and the driver aborts the process then.
  const at_work = new Int32Array(new SharedArrayBuffer(4));
  const onExit = () => void Atomics.wait(at_work, 0, 1, sqliteLimits.checkpoint_exit_ms);
  const tell = (worker: Worker, is_more: boolean) => {
    Atomics.store(at_work, 0, 1);
    worker.postMessage(is_more);
  };

  async function move(): Promise<void> {
    commits = 0;
    is_at_work = true;
    // Where a thread may not be started, such as under the permission model of Node, there is none.
    thread ??= start().catch(() => null);
    const worker = await thread;
    if (worker) tell(worker, true);
  }

  /** Null where there can be none, or no more: commits then move the WAL themselves. */
  async function start(): Promise<Worker | null> {
    const { Worker } = await import('node:worker_threads');
    const driver = createRequire(import.meta.url).resolve('@photostructure/sqlite');
    // A store that was removed meanwhile must not be made again, empty.
    const location = `${pathToFileURL(path)}?mode=rw`;
    const workerData = { driver, location, settings: DURABLE, at_work };
    const worker = new Worker(THREAD, { eval: true, workerData });
    Atomics.store(at_work, 0, 1);
    process.on('exit', onExit);
    worker.once('exit', () => process.off('exit', onExit));
    worker.on('message', (failure: object | null) => {
      is_at_work = false;
      if (failure !== null) onFailure(failure);
    });
    worker.on('error', () => {
      thread = Promise.resolve(null);
    });
    // After the listeners: one for messages would keep a process that is done from its end.
    worker.unref();
    return worker;
  }

  return {
    noteCommits: (count) => {
      commits += count;
      if (commits >= sqliteLimits.checkpoint_commits && !is_at_work && !is_over) void move();
    },
    end: async () => {
      is_over = true;
      const worker = await thread;
      if (!worker) return;
      const ended = new Promise((exit) => worker.once('exit', exit));
      worker.ref();
      tell(worker, false);
      await ended;
    },
  };
}
