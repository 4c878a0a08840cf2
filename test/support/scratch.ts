import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A fresh folder that is gone when the test is. */
export function scratch(): string {
  const folder = freshFolder('keyturn-test-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Gone when all tests are over (run-folders.ts), if no test removes it before. Where the tests run as root, tools run as `nobody`: then whatever a test makes from here on can be
 * written by every user, unless the test names a mode.
 */
export function freshFolder(prefix: string): string {
  const { KEYTURN_TEST_RUN: run = '' } = process.env;
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `${prefix}${run}`));
  // Not by `src/`: the tests of findings also run on older trees.
  const is_root = process.getuid?.() === 0;
  if (is_root) process.umask(0);
  chmodSync(folder, is_root ? 0o777 : 0o755);
  return folder;
}
