import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { create, planOf, ran, undo } from '../journey/plan-story.ts';
import { objectOf } from '../support/ledger.ts';
import { found, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const mount = (...words: string[]) => spawnSync('mount', words).status === 0;

/** A project on a disk of its own, with a run whose backups and objects could go; null where no disk can be mounted. */
async function onDisk() {
  const root = scratch();
  if (!mount('-t', 'tmpfs', '-o', 'size=8m', 'keyturn-test', root)) {
    console.warn('SKIPPED: this needs the right to mount a tmpfs (run as root)');
    return null;
  }
  onTestFinished(() => void spawnSync('umount', ['-l', root]));
  const p = await found(root, { registry: TOOLS });
  onTestFinished(() => p.keyturn.close());
  const { report } = await ran(p, planOf([create('1', 'n', 'x'.repeat(50_000))]));
  await undo(p, report);
  const { objects } = await p.keyturn.system.previewGc({ keep_bytes: 0 });
  expect(objects.removes.length).toBeGreaterThan(0);
  return { p, request: { runs: [], objects: objects.removes, reason: 'full', signer: p.ada } };
}

function fill(root: string): string {
  const path = join(root, 'fills');
  for (let size = 1 << 20; size >= 1; size = Math.floor(size / 2))
    for (;;)
      try {
        appendFileSync(path, Buffer.alloc(size));
      } catch {
        break;
      }
  return path;
}

describe('P8: a gc on a disk', () => {
  it('that is full removes no object that it cannot record, and goes on when there is room again', async () => {
    const found = await onDisk();
    if (!found) return;
    const { p, request } = found;
    const fills = fill(p.root);
    const { objects } = await p.keyturn.system.gc(request);
    expect(objects).toMatchObject({ objects: 0, bytes: 0, code: 'DISK_FULL' });
    rmSync(fills);
    const again = await Keyturn.open({ at: p.root });
    onTestFinished(() => again.close());
    for (const { digest } of request.objects)
      expect((await objectOf(again, digest)).length).toBeGreaterThan(0);
    await again.ledger.verifyStore({ deep: true });
    expect((await again.system.gc(request)).objects).toMatchObject({
      objects: request.objects.length,
      code: null,
    });
    await again.ledger.verifyStore({ deep: true });
  });

  it('that is read-only lists what it would remove, and removes nothing', async () => {
    const found = await onDisk();
    if (!found) return;
    const { p, request } = found;
    await p.keyturn.close();
    // A second way to the same disk: the driver may hold the closed database on the first one open for a while.
    const at = scratch();
    expect(mount('--bind', p.root, at) && mount('-o', 'remount,bind,ro', at)).toBe(true);
    onTestFinished(() => void spawnSync('umount', ['--lazy', at]));
    await expectRefusal('STORE_READ_ONLY', () => Keyturn.open({ at }));
    const look = await Keyturn.open({ at, mode: 'read' });
    onTestFinished(() => look.close());
    expect((await look.system.previewGc({ keep_bytes: 0 })).objects.removes).toHaveLength(
      request.objects.length,
    );
    expect((await look.system.gc(request)).objects).toMatchObject({ objects: 0, code: 'STORE_READ_ONLY' });
  });
});
