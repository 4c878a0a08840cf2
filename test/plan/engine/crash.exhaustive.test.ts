import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { bundleChild, expectRecoverable, hasStrace, killAfter, killAtCall, layProject } from './crash.ts';

let child: Awaited<ReturnType<typeof bundleChild>>;
beforeAll(async () => {
  child = await bundleChild();
});
afterAll(() => child.remove());

/** Every call with which a run or a rollback changes or reads the project. */
const CALLS = [
  'link,linkat',
  'rename,renameat,renameat2',
  'unlink,unlinkat',
  'mkdir,mkdirat',
  'rmdir',
  'fsync,fdatasync',
  'fchmod',
  'utimensat,futimesat',
  'write,pwrite64',
  'open,openat',
];

describe.each(['run', 'back'])('kill -9 at every system call of a %s', (task) => {
  it.each(CALLS)('%s: the rollback restores every byte', async (calls) => {
    expect(hasStrace, 'this sweep needs strace').toBe(true);
    for (let when = 1, killed = true; killed; when++) {
      const root = scratch();
      const { effect_file, before } = await layProject(root);
      if (task === 'back') await killAfter(child.path, ['run', root, effect_file], 30_000);
      killed = killAtCall(child.path, [task, root, effect_file], calls, when).killed;
      await expectRecoverable(root, before);
    }
  });
});

/** A twentieth of what `npm run soak` does. */
const KILLS = Number(process.env.KEYTURN_SOAK_KILLS ?? 50);

it('kill -9 at random moments: the rollback restores every byte', async () => {
  for (let i = 0; i < KILLS; i++) {
    const root = scratch();
    const { effect_file, before } = await layProject(root);
    await killAfter(child.path, ['run', root, effect_file], Math.random() * 40);
    await expectRecoverable(root, before);
  }
});
