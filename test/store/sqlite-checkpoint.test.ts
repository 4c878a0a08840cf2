import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { sqliteLimits } from '../../src/limits.ts';
import type { Store } from '../../src/store/store.ts';
import { proposed } from './facts.ts';
import { committer, linesOf } from './processes.ts';
import { made, opened } from './sqlite-file.ts';

const has_strace = spawnSync('strace', ['-V']).status === 0;
if (!has_strace) console.warn('NOT RUN: the test of a failing checkpoint, because strace is not installed.');

it('moves the WAL into the file in a thread, long before a commit would have to', async () => {
  const path = await made();
  const store = await opened(path);
  await commitEnough(store);
  await vi.waitFor(() => expect(walOf(path).moved).toBeGreaterThan(0), { timeout: 10_000 });
  expect(walOf(path).pages).toBeLessThan(sqliteLimits.wal_pages);
  await store.close();
});

it.skipIf(!has_strace)('takes no commit after a checkpoint failed, until it is opened again', async () => {
  const path = await made();
  const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', path];
  const inject = ['-e', 'trace=fdatasync,fsync', '-e', 'inject=fdatasync,fsync:error=EIO:when=1'];
  const lines = await linesOf([...strace, ...inject, ...committer(path, 'own', '1000')]);
  const answers = lines.map(({ answer }) => answer);
  const until = answers.indexOf('WRITE_FAILED');
  expect(until).toBeGreaterThanOrEqual(sqliteLimits.checkpoint_commits);
  expect(new Set(answers.slice(0, until))).toEqual(new Set(['ok']));
  expect(new Set(answers.slice(until))).toEqual(new Set(['WRITE_FAILED']));
  const store = await opened(path);
  expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
  for (const { intent_id } of lines.slice(0, until))
    expect(await store.find('intent', intent_id)).not.toBeNull();
  await store.commit({ events: [proposed()] });
  await store.close();
});

it('is closed while its thread is at work, and a second time', async () => {
  const path = await made();
  const store = await opened(path);
  await commitEnough(store);
  await Promise.all([store.close(), store.close()]);
  await store.close();
  expect(statSync(`${path}-wal`).size).toBe(0);
});

it('does not keep a process from its end that leaves the store open', async () => {
  const path = await made();
  const [command, ...args] = committer(path, 'left open', String(sqliteLimits.checkpoint_commits));
  expect(spawnSync(command!, args, { timeout: 20_000 })).toMatchObject({ status: 0, signal: null });
  const store = await opened(path);
  const entries = 3 + 2 * sqliteLimits.checkpoint_commits;
  expect(await store.rebuild({ write: false })).toMatchObject({ entries, differences: [] });
  await store.close();
});

it('is not made again, empty, where it was removed before the thread looked', async () => {
  const path = await made();
  const store = await opened(path);
  await commitEnough(store);
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix);
  await store.close();
  expect(existsSync(path)).toBe(false);
});

it('moves the WAL with its commits where no thread can be started', async () => {
  vi.doMock('node:worker_threads', () => ({
    Worker: class {
      constructor() {
        throw new Error('Access to this API has been restricted');
      }
    },
  }));
  try {
    const path = await made();
    const store = await opened(path);
    await commitEnough(store);
    await commitEnough(store);
    await store.close();
    expect(statSync(`${path}-wal`).size).toBe(0);
  } finally {
    vi.doUnmock('node:worker_threads');
  }
});

/** As many commits as the thread waits for. */
async function commitEnough(store: Store): Promise<void> {
  const commits = Array.from({ length: sqliteLimits.checkpoint_commits }, () =>
    store.commit({ events: [proposed()] }),
  );
  await Promise.all(commits);
}

/** From SQLite's own index over the WAL: pages in it, and how many of them are in the file already. */
function walOf(path: string): { pages: number; moved: number } {
  const index = readFileSync(`${path}-shm`);
  return { pages: index.readUInt32LE(16), moved: index.readUInt32LE(96) };
}
