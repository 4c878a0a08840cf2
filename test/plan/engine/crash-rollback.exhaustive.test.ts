import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { bundleChild, expectRecoverable, hasStrace, killAfter, killAtCall, layProject } from './crash.ts';

let child: Awaited<ReturnType<typeof bundleChild>>;
beforeAll(async () => {
  child = await bundleChild();
});
afterAll(() => child.remove());

describe('kill -9 of a run', () => {
  it('left alone the child finishes the plan', async () => {
    const root = scratch();
    const { effect_file } = await layProject(root);
    const ran = await killAfter(child.path, ['run', root, effect_file], 30_000);
    expect(ran.output).toBe('ready\nSUCCESS\n');
  });

  it('at random moments: the rollback restores every byte', async () => {
    for (let delay_ms = 0; delay_ms < 16; delay_ms += 2) {
      const root = scratch();
      const { effect_file, before } = await layProject(root);
      await killAfter(child.path, ['run', root, effect_file], delay_ms);
      await expectRecoverable(root, before);
    }
  });

  /** The calls that change something; the exhaustive test goes through all of them, and through every call at all. */
  it.each([
    ['link,linkat', 1],
    ['link,linkat', 2],
    ['rename,renameat,renameat2', 2],
    ['rename,renameat,renameat2', 3],
    ['unlink,unlinkat', 1],
    ['unlink,unlinkat', 2],
    ['unlink,unlinkat', 3],
    ['mkdir,mkdirat', 6],
  ])('at %s number %i: the rollback restores every byte', async (calls, when) => {
    if (!hasStrace) return console.warn('SKIPPED: strace is not installed, so no kill at a system call');
    const root = scratch();
    const { effect_file, before } = await layProject(root);
    const { killed } = killAtCall(child.path, ['run', root, effect_file], calls, when);
    expect(killed).toBe(true);
    await expectRecoverable(root, before);
  });

  it('a rollback that is killed half way is finished by the next one', async () => {
    if (!hasStrace) return console.warn('SKIPPED: strace is not installed, so no kill at a system call');
    for (const [calls, when] of [
      ['rename,renameat,renameat2', 1],
      ['rename,renameat,renameat2', 2],
      ['unlink,unlinkat', 1],
      ['link,linkat', 1],
      ['rmdir', 1],
    ] as const) {
      const root = scratch();
      const { effect_file, before } = await layProject(root);
      await killAfter(child.path, ['run', root, effect_file], 30_000);
      expect(killAtCall(child.path, ['back', root], calls, when).killed).toBe(true);
      await expectRecoverable(root, before);
    }
  });
});
