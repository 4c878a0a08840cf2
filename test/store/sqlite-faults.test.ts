import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { sqliteLimits } from '../../src/limits.ts';
import type { Store } from '../../src/store/store.ts';
import { elapsed } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { proposed } from './facts.ts';
import { committer, linesOf } from './processes.ts';
import { made, opened } from './sqlite-file.ts';

const has_strace = spawnSync('strace', ['-V']).status === 0;
const can_mount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
if (!has_strace) console.warn('NOT RUN: the test of a failing sync, because strace is not installed.');
if (!can_mount)
  console.warn('NOT RUN: the tests of a full and a read-only disk, because only root can mount one.');

describe('a SQLite store that cannot write', () => {
  it('waits for another writer, then says that it is busy, and goes on afterwards', async () => {
    const path = await made();
    const store = await opened(path);
    await sqliteHeld(path, () => expectRefusal('STORE_BUSY', () => store.commit({ events: [proposed()] })));
    await store.commit({ events: [proposed()] });
    await store.close();
  });

  it('does not refuse a commit with one that has waited longer', async () => {
    const path = await made();
    const store = await opened(path, 'write', 2_000);
    let later: Promise<unknown> = Promise.resolve();
    await sqliteHeld(path, async () => {
      const first = expectRefusal('STORE_BUSY', () => store.commit({ events: [proposed()] }));
      await elapsed(1_500, 'the first has waited for most of its time');
      later = store.commit({ events: [proposed()] });
      later.catch(() => {});
      await first;
    });
    await later;
    await store.close();
  });

  it.skipIf(!can_mount)('because of a read-only disk says so, and is read all the same', async () => {
    await onDisk('4m', async (folder, remount) => {
      const path = join(folder, 'store.db');
      copyFileSync(await made(), path);
      remount('ro');
      await expectRefusal('STORE_READ_ONLY', () => opened(path, 'write'));
      await expectRefusal('STORE_READ_ONLY', () => opened(join(folder, 'other.db'), 'create'));
      const reader = await opened(path, 'read');
      expect(await reader.tip()).toMatchObject({ size: 3 });
      expect(await reader.rebuild({ write: false })).toMatchObject({ differences: [] });
      await reader.close();
    });
  });

  it.skipIf(!can_mount)(
    'because the disk is full says so, acknowledges nothing, and writes again once reopened',
    async () => {
      await onDisk('1m', async (folder) => {
        const path = await made(folder);
        const store = await opened(path);
        writeFileSync(join(folder, 'filler'), Buffer.alloc(700 * 1024));
        const objects = [randomBytes(300 * 1024)];
        const outcomes = await Promise.allSettled([
          store.commit({ claims: ['a'], events: [proposed()] }),
          store.commit({ claims: ['b'], events: [proposed()], objects }),
        ]);
        const codes = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code);
        expect(codes).toEqual(['DISK_FULL', 'DISK_FULL']);
        await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed()] }));
        expect(await store.tip()).toMatchObject({ size: 3 });
        await store.close();
        rmSync(join(folder, 'filler'));
        const again = await opened(path);
        await again.commit({ claims: ['a'], events: [proposed()] });
        expect(await again.rebuild({ write: false })).toMatchObject({ entries: 4, differences: [] });
        await again.close();
      });
    },
  );

  it.skipIf(!can_mount)(
    'because the disk is full when the WAL is moved says so, and loses nothing that it acknowledged',
    async () => {
      await onDisk('16m', async (folder) => {
        const path = await made(folder);
        const store = await opened(path);
        const commit = () => store.commit({ events: [proposed()] });
        for (let i = 1; i < sqliteLimits.checkpoint_commits; i++) await commit();
        const { bavail, bsize } = statfsSync(folder);
        // Enough for the WAL of some more commits, and too little for what the WAL has for the file.
        writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize - 400 * 1024));
        const refused = vi.waitFor(() => expectRefusal('WRITE_FAILED', commit), { interval: 50 });
        expect(await refused).toMatchObject({ facts: { found: 'DISK_FULL' } });
        const { size } = await store.tip();
        await store.close();
        rmSync(join(folder, 'filler'));
        const again = await opened(path);
        expect(await again.rebuild({ write: false })).toMatchObject({ entries: size, differences: [] });
        await again.close();
      });
    },
  );

  it.skipIf(!has_strace)(
    'because a sync failed acknowledges nothing more until it is opened again',
    async () => {
      const path = await made();
      // The first sync of a fresh WAL is the first commit's; the second commit's fails.
      const faulty = ['-f', '-qq', '-o', '/dev/null', '-P', `${path}-wal`];
      const inject = ['-e', 'trace=fdatasync,fsync', '-e', 'inject=fdatasync,fsync:error=EIO:when=3'];
      const lines = await linesOf(['strace', ...faulty, ...inject, ...committer(path, 'reopen', '')]);
      expect(lines.map(({ answer }) => answer)).toEqual(['ok', 'WRITE_FAILED', 'WRITE_FAILED', 'ok']);
      const store = await opened(path, 'read');
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
      for (const { intent_id, answer } of lines)
        if (answer === 'ok') expect(await store.find('intent', intent_id)).not.toBeNull();
      await store.close();
    },
  );

  it.each([
    ['was removed', (wal: string) => rmSync(wal)],
    [
      'was replaced by a copy',
      (wal: string) => {
        copyFileSync(wal, `${wal}.copy`);
        renameSync(`${wal}.copy`, wal);
      },
    ],
  ])(
    'because its WAL %s, long after the last change beside it, acknowledges nothing more',
    async (_, act) => {
      const path = await made();
      const store = await opened(path);
      await commitUntilSettled(store, path);
      act(`${path}-wal`);
      for (let i = 0; i < 2; i++)
        await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed()] }));
      await store.close();
    },
  );
});

it.skipIf(!has_strace)(
  'a commit does not ask for the times of the WAL, which its sync would write',
  async () => {
    const path = await made();
    const log = `${path}.log`;
    const strace = ['strace', '-f', '-qq', '-o', log, '-e', 'trace=%stat', '-P', `${path}-wal`];
    const commits = await linesOf([...strace, ...committer(path, 'own', '400')]);
    // Until the folder is old enough to tell that nothing changed in it.
    expect(readFileSync(log, 'utf8').split('\n').length).toBeLessThan(commits.length / 2);
  },
);

/** Until the time of the folder is old enough to tell every later change in it. */
async function commitUntilSettled(store: Store, path: string): Promise<void> {
  const age_ms = () => Date.now() - statSync(dirname(path)).ctimeMs;
  do await store.commit({ events: [proposed()] });
  while (age_ms() < 200);
  await store.commit({ events: [proposed()] });
}

async function sqliteHeld(path: string, act: () => Promise<unknown>): Promise<void> {
  const db = new DatabaseSync(path);
  db.exec('BEGIN IMMEDIATE');
  await act();
  db.exec('ROLLBACK');
  db.close();
}

/** Runs on a small disk of its own. */
async function onDisk(
  size: string,
  act: (folder: string, remount: (how: 'ro') => void) => Promise<void>,
): Promise<void> {
  const folder = scratch();
  const mount = (...args: string[]) => expect(spawnSync('mount', args).status).toBe(0);
  mount('-t', 'tmpfs', '-o', `size=${size}`, 'keyturn-test', folder);
  try {
    await act(folder, (how) => mount('-o', `remount,${how}`, folder));
  } finally {
    // Lazily: the driver may hold the closed database until its statements are garbage.
    expect(spawnSync('umount', ['--lazy', folder]).status).toBe(0);
  }
}
