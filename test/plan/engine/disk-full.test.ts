import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { create, deriveAndExecute, lay, modify, picture, plan } from './story.ts';

/** A file system of its own, small enough to fill. Only root may mount one. */
function smallDisk(megabytes: number): string | null {
  const root = join(scratch(), 'disk');
  mkdirSync(root);
  const mount = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', root];
  if (spawnSync('mount', mount).status !== 0) return null;
  onTestFinished(() => void spawnSync('umount', ['-l', root]));
  return root;
}

const MB = 1024 * 1024;

it('a disk that fills up in the middle ends rolled back and said', async () => {
  const root = smallDisk(8);
  if (root === null) return console.warn('SKIPPED: this needs the right to mount a tmpfs (run as root)');
  lay(root, { a: `x${'.'.repeat(MB)}`, b: `x${'.'.repeat(MB)}` });
  const before = picture(root);
  const grow = '+'.repeat(100 * 1024);
  const growing = Array.from({ length: 60 }, (_, i) => create(`n${i}`, `new/n${i}`, grow));
  const outcome = await deriveAndExecute(
    root,
    plan([modify('1', 'a', 'x', 'y'), modify('2', 'b', 'x', 'y'), ...growing], {
      stop_on_error: false,
      rollback_on_failure: false,
    }),
  );
  expect(outcome.errors[0]).toMatchObject({ error_type: 'DISK_FULL', recovery_action: 'ROLLED_BACK' });
  expect(outcome.actions[1]?.status).toBe('SUCCESS');
  expect(outcome.status).toBe('ROLLED_BACK');
  expect(picture(root)).toEqual(before);
});

it('a disk that is too small for the backups is found before anything is touched', async () => {
  const root = smallDisk(3);
  if (root === null) return console.warn('SKIPPED: this needs the right to mount a tmpfs (run as root)');
  lay(root, { a: `x${'.'.repeat(MB)}`, b: `x${'.'.repeat(MB)}` });
  const before = picture(root);
  const outcome = await deriveAndExecute(
    root,
    plan([modify('1', 'a', 'x', 'y'), modify('2', 'b', 'x', 'y')]),
  );
  expect(outcome.errors[0]?.error_type).toBe('DISK_FULL');
  expect(outcome.status).toBe('FAILED');
  expect(picture(root)).toEqual(before);
});

it.each([
  ['an edit', 9, ['a', 'b', 'c'], []],
  [
    'a new file',
    7,
    ['a', 'b'],
    Array.from({ length: 10 }, (_, i) => create(`n${i}`, `n${i}`, '+'.repeat(120_000))),
  ],
])('%s gets the room of the files that were replaced before it', async (_what, megabytes, edited, more) => {
  const root = smallDisk(megabytes);
  if (root === null) return console.warn('SKIPPED: this needs the right to mount a tmpfs (run as root)');
  const content = `x${'.'.repeat(MB - 100)}`;
  // Each of them is there three times before the first is replaced: itself, its backup and its new content.
  lay(root, Object.fromEntries(edited.map((path) => [path, content])));
  const edits = edited.map((path) => modify(path, path, 'x', 'y'));
  const outcome = await deriveAndExecute(root, plan([...edits, ...more]));
  expect(outcome).toMatchObject({ status: 'SUCCESS', errors: [] });
});
