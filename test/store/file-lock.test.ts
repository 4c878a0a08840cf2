import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFileLock } from '../../src/store/sqlite/file-lock.ts';

async function withFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'keyturn-file-lock-'));
  try {
    await act(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

// The folder is that of the store: whenever its time changes, the next commit has to look at the files of the store again.
it('a lock makes no file beside its own', () =>
  withFolder(async (folder) => {
    const lock = await openFileLock(join(folder, 'lock'));
    const { ctimeNs: before } = statSync(folder, { bigint: true });
    lock.hold(() => undefined);
    lock.hold(() => undefined);
    expect(statSync(folder, { bigint: true }).ctimeNs).toBe(before);
    lock.close();
  }));

it('while one connection holds a lock, another one does not get it', () =>
  withFolder(async (folder) => {
    const [one, other] = [await openFileLock(join(folder, 'lock')), await openFileLock(join(folder, 'lock'))];
    one.hold(() =>
      expect(() => other.hold(() => undefined)).toThrow(expect.objectContaining({ code: 'STORE_BUSY' })),
    );
    expect(other.hold(() => 'held')).toBe('held');
    for (const lock of [one, other]) lock.close();
  }));
