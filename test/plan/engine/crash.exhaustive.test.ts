import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import {
  bundleChild,
  expectPipedOnce,
  expectRecoverable,
  hasStrace,
  killAfter,
  killAtCall,
  layProject,
  PIPED,
} from './crash.ts';

let child: Awaited<ReturnType<typeof bundleChild>>;
beforeAll(async () => {
  child = await bundleChild();
});
afterAll(() => child.remove());

/** `npm run soak` kills at each call; the tests at each call that changes something, and at some of those that only write or read. */
const every = (stride: number) => Number(process.env.KEYTURN_SOAK_STRIDE ?? stride);
const CALLS: readonly (readonly [string, number])[] = [
  ['link,linkat', 1],
  ['rename,renameat,renameat2', 1],
  ['unlink,unlinkat', 1],
  ['mkdir,mkdirat', 1],
  ['rmdir', 1],
  ['fsync,fdatasync', 1],
  ['fchmod,fchmodat,chmod', 1],
  ['fchown,fchownat,chown,lchown', 1],
  ['setxattr,lsetxattr,fsetxattr', 1],
  ['utimensat,futimesat', 1],
  ['write,pwrite64', every(5)],
  ['open,openat', every(20)],
];

describe.each(['run', 'back'])('kill -9 at every system call of a %s', (task) => {
  it.each(CALLS)(
    '%s: the rollback restores every byte',
    async (calls, stride) => {
      expect(hasStrace, 'this sweep needs strace').toBe(true);
      let kills = 0;
      for (let when = 1, killed = true; killed; when += stride) {
        const root = scratch();
        const { effect_file, before } = await layProject(root);
        if (task === 'back') await killAfter(child.path, ['run', root, effect_file], 30_000);
        killed = killAtCall(child.path, [task, root, effect_file], calls, when).killed;
        if (killed) kills++;
        await expectRecoverable(root, before);
      }
      console.info(`${task}, ${calls}: ${kills} kills`);
    },
    3_600_000,
  );
});

describe('kill -9 at every system call of a run with a pipeline', () => {
  it.each(CALLS)(
    '%s: it ran once or not at all, and the files are restored',
    async (calls, stride) => {
      let kills = 0;
      for (let when = 1, killed = true; killed; when += stride) {
        const root = scratch();
        const { effect_file, before } = await layProject(root, PIPED);
        killed = killAtCall(child.path, ['run', root, effect_file], calls, when).killed;
        if (killed) kills++;
        await expectPipedOnce(root, before);
      }
      console.info(`pipeline, ${calls}: ${kills} kills`);
    },
    3_600_000,
  );
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
