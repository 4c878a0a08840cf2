import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { bundleChild, expectRecoverable, fullAtCall, hasStrace, killAfter, layProject } from './crash.ts';

let child: Awaited<ReturnType<typeof bundleChild>>;
beforeAll(async () => {
  child = await bundleChild();
});
afterAll(() => child.remove());

/** Every call that can find the disk full. */
const CALLS = [
  'write,pwrite64',
  'copy_file_range,sendfile',
  'fsync,fdatasync',
  'mkdir,mkdirat',
  'link,linkat',
  'rename,renameat,renameat2',
];

/** `npm run soak` tries each call, the tests every fifth. */
const STRIDE = Number(process.env.KEYTURN_SOAK_STRIDE ?? 5);

describe.each(['run', 'back'])('a disk that is full at every call of a %s', (task) => {
  it.each(CALLS)(
    '%s: the rollback restores every byte',
    async (calls) => {
      expect(hasStrace, 'this sweep needs strace').toBe(true);
      for (let when = 1, reached = true; reached; when += STRIDE) {
        const root = scratch();
        const { effect_file, before } = await layProject(root);
        if (task === 'back') await killAfter(child.path, ['run', root, effect_file], 30_000);
        reached = fullAtCall(child.path, [task, root, effect_file], calls, when);
        await expectRecoverable(root, before);
      }
    },
    3_600_000,
  );
});
