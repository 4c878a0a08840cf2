import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { fullAtCall, hasStrace } from '../plan/engine/crash.ts';
import { picture } from '../plan/engine/story.ts';
import { expectRecoverable, readyToRun, SCRIPT } from './plan-crash.ts';
import { expectProvable, planProjects, run } from './plan-story.ts';

/**
 * A disk that is full from one call on while a process runs a plan or rolls it back: the ledger, the kept head, the log, the
 * journal, the backups, the files and the reports are on it. Then there is room again.
 */
const planProject = planProjects();

/** `npm run soak` tries each call, the tests some of those of which there are many. */
const every = (stride: number) => Number(process.env.KEYTURN_SOAK_STRIDE ?? stride);

/** Every call that can find the disk full. */
const CALLS: readonly (readonly [string, number])[] = [
  ['write,pwrite64', every(23)],
  ['fsync,fdatasync', every(5)],
  ['ftruncate,fallocate', 1],
  ['mkdir,mkdirat', every(3)],
  ['link,linkat', every(2)],
];

describe('a disk that is full from one call on', () => {
  it.each(CALLS)(
    'of a run, %s: it is known what happened, and a rollback restores every byte',
    async (calls, stride) => {
      expect(hasStrace, 'this sweep needs strace').toBe(true);
      const ends: Record<string, number> = {};
      for (let when = 1, reached = true; reached; when += stride) {
        const { p, before, intent } = await readyToRun(planProject);
        reached = fullAtCall(SCRIPT, [p.root, 'run', intent.intent_id, intent.hash], calls, `${when}+`);
        const end = await expectRecoverable(p, before, intent);
        ends[end] = (ends[end] ?? 0) + 1;
      }
      console.info(`run, ${calls}: ${JSON.stringify(ends)}`);
    },
    3_600_000,
  );

  it.each(CALLS)(
    'of a rollback, %s: the next one restores every byte',
    async (calls, stride) => {
      for (let when = 1, reached = true; reached; when += stride) {
        const { p, before, intent } = await readyToRun(planProject);
        const { execution_id } = await run(p, intent);
        reached = fullAtCall(SCRIPT, [p.root, 'rollback', execution_id], calls, `${when}+`);
        const { status } = await p.keyturn.intent(intent.intent_id);
        expect(['succeeded', 'rolling_back', 'stuck', 'undone']).toContain(status);
        if (status !== 'undone')
          await p.keyturn.rollback({ execution_id, reason: 'there is room again', signer: p.ada });
        expect(picture(p.root)).toEqual(before);
        expect((await p.keyturn.intent(intent.intent_id)).status).toBe('undone');
        await expectProvable(p);
      }
    },
    3_600_000,
  );

  it('a process with room says so', async () => {
    const { p, intent } = await readyToRun(planProject);
    const ran = spawnSync(process.execPath, [SCRIPT, p.root, 'run', intent.intent_id, intent.hash]);
    expect(String(ran.stdout)).toContain('success');
  });
});
