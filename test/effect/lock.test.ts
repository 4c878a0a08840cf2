import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withLockedFile } from '../../src/effect/lock.ts';
import { inspectMachine } from '../../src/effect/machine.ts';
import { elapsed, until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

/** Another process that holds the lock until it is killed. */
async function holder(path: string) {
  const child = spawn('flock', ['--exclusive', path, 'sh', '-c', 'echo held; exec sleep 1000'], {
    detached: true,
  });
  const release = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // released already
    }
  };
  onTestFinished(release);
  await once(child.stdout, 'data');
  return release;
}

describe('withLockedFile', () => {
  it('gives back what was done under the lock, for a file and for a folder', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'f'), '');
    expect(await withLockedFile(folder, () => 1)).toBe(1);
    expect(await withLockedFile(join(folder, 'f'), async () => 2)).toBe(2);
  });

  it('lets in one at a time, and holds the lock after flock(1) has ended', async () => {
    const folder = scratch();
    let inside = 0;
    let most = 0;
    const act = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await elapsed(30, 'none of the others is let in meanwhile');
      inside -= 1;
    };
    await Promise.all([1, 2, 3, 4].map(() => withLockedFile(folder, act)));
    expect(most).toBe(1);
  });

  it('waits no longer than it was told for another process', async () => {
    const folder = scratch();
    await holder(folder);
    await expectRefusal('LOCK_UNAVAILABLE', () => withLockedFile(folder, () => 'in', { timeout_ms: 100 }));
  });

  it('gets the lock as soon as its holder dies', async () => {
    const folder = scratch();
    const release = await holder(folder);
    const waiting = withLockedFile(folder, () => 'in', { timeout_ms: 20_000 });
    release();
    expect(await waiting).toBe('in');
  });

  it('releases the lock when what was done failed', async () => {
    const folder = scratch();
    const failing = withLockedFile(folder, () => {
      throw new Error('boom');
    });
    await expect(failing).rejects.toThrow('boom');
    expect(await withLockedFile(folder, () => 'in', { timeout_ms: 1000 })).toBe('in');
  });

  it('refuses a lock on a folder that was replaced meanwhile', async () => {
    const folder = join(scratch(), 'queue');
    mkdirSync(folder);
    const release = await holder(folder);
    const waiting = withLockedFile(folder, () => 'in', { timeout_ms: 20_000 });
    const waits = new RegExp(`-> FLOCK .*:${statSync(folder).ino} `);
    await until(() => waits.test(readFileSync('/proc/locks', 'utf8')));
    renameSync(folder, `${folder}.old`);
    mkdirSync(folder);
    release();
    await expectRefusal('LOCK_UNAVAILABLE', () => waiting);
  });

  it('refuses what is missing, a link, and a machine without flock', async () => {
    const folder = scratch();
    symlinkSync(folder, join(folder, 'link'));
    await expectRefusal('LOCK_UNAVAILABLE', () => withLockedFile(join(folder, 'none'), () => 'in'));
    await expectRefusal('LOCK_UNAVAILABLE', () => withLockedFile(join(folder, 'link'), () => 'in'));
    const machine = inspectMachine([folder]);
    await expectRefusal('LOCK_UNAVAILABLE', () => withLockedFile(folder, () => 'in', { machine }));
  });
});
