import { chmodSync, chownSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { userFor } from '../../src/effect/user.ts';

/** A fresh folder that is gone when the test is. */
export function scratch(): string {
  const folder = freshFolder('keyturn-test-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The caller removes it. It belongs to the user that tools run as: also where the tests run as root they can write in it. */
export function freshFolder(prefix: string): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), prefix));
  chmodSync(folder, 0o755);
  giveToTools(folder);
  return folder;
}

/** Lets tools write this file or folder, if it is there. */
export function giveToTools(path: string): void {
  const { uid, gid, switched } = userFor(null);
  if (switched && existsSync(path)) chownSync(path, uid, gid);
}
