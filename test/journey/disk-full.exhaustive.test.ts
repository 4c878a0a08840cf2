import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { fullAtCall, hasStrace } from '../plan/engine/crash.ts';
import { picture } from '../plan/engine/story.ts';
import type { Intent, Project } from '../support/project.ts';
import { type FileWrite, type Full, kindsOf, kindsWritten, writesOf } from './disk-full.ts';
import { expectRecoverable, readyToRun, SCRIPT } from './plan-crash.ts';
import { expectProvable, planProjects, run } from './plan-story.ts';

/**
 * A disk that is full from one call on while a process runs a plan or rolls it back: the ledger, the kept head, the log, the
 * journal, the backups, the files and the reports are on it. Then there is room again.
 */
const planProject = planProjects();

/** `npm run soak` tries each call, the tests some of those of which there are many. */
const every = (stride: number) => Number(process.env.KEYTURN_SOAK_STRIDE ?? stride);

/** Every call that can find the disk full, but `write`. SQLite writes the ledger by pwrite64. */
const CALLS: readonly (readonly [string, number])[] = [
  ['pwrite64', every(7)],
  ['fsync,fdatasync', every(5)],
  ['ftruncate,fallocate', 1],
  ['mkdir,mkdirat', every(3)],
  ['link,linkat', every(2)],
];

/** `npm run soak` tries each write, the tests the first and the last of each kind. */
function chosen(writes: readonly FileWrite[]): Omit<Full, 'how'>[] {
  return kindsOf(writes).flatMap((kind) => {
    const count = writes.filter((write) => write.kind === kind).length;
    const nths = Array.from({ length: count }, (_, i) => i + 1);
    const tried = process.env.KEYTURN_SOAK_STRIDE ? nths : new Set([1, count]);
    return [...tried].map((nth) => ({ kind, nth }));
  });
}

/** By node; SQLite writes the ledger, and that is swept by its calls. */
const WRITTEN = {
  run: ['archive', 'backup', 'head', 'journal', 'log', 'manifest', 'new file', 'report'],
  rollback: ['archive', 'head', 'journal', 'manifest', 'restored file'],
};

/** Fills the disk at each of the writes. Returns the kinds that were met. */
async function sweep(
  how: Full['how'],
  attempt: (full?: Full) => Promise<readonly FileWrite[]>,
): Promise<string[]> {
  const met: FileWrite[] = [];
  for (const one of chosen(await attempt())) {
    const [first] = (await attempt({ ...one, how })).filter(({ failed }) => failed);
    // The head is written when commits have gathered, so there may be one fewer.
    if (first) met.push(first);
  }
  return kindsOf(met);
}

describe.each(['once', 'short', 'lasting'] as const)('a disk that is full at a write (%s)', (how) => {
  it('of a run: each kind of file is met, and a rollback restores every byte', async () => {
    const ends: Record<string, number> = {};
    const attempt = async (full?: Full) => {
      const { p, before, intent } = await readyToRun(planProject);
      const writes = writesOf(p.root, ['run', intent.intent_id, intent.hash], full);
      const end = await expectRecoverable(p, before, intent);
      const of = `${full?.kind ?? 'nothing'}, ${end}`;
      ends[of] = (ends[of] ?? 0) + 1;
      return writes;
    };
    expect(await sweep(how, attempt)).toEqual(WRITTEN.run);
    console.info(`run, ${how}: ${JSON.stringify(ends)}`);
  }, 3_600_000);

  it('of a rollback: each kind of file is met, and the next one restores every byte', async () => {
    const attempt = async (full?: Full) => {
      const { p, before, intent } = await readyToRun(planProject);
      const { execution_id } = await run(p, intent);
      const writes = writesOf(p.root, ['rollback', execution_id], full);
      await expectUndoable(p, before, intent, execution_id);
      return writes;
    };
    expect(await sweep(how, attempt)).toEqual(WRITTEN.rollback);
  }, 3_600_000);
});

it('a run and a rollback write to no other kind of file', async () => {
  const { p, intent } = await readyToRun(planProject);
  const kinds = kindsWritten(p.root, ['run', intent.intent_id, intent.hash]);
  expect(kinds).toEqual([...WRITTEN.run, 'ledger'].sort());
  const execution_id = (await p.keyturn.intents.get({ intent_id: intent.intent_id })).runs.at(
    -1,
  )!.execution_id;
  expect(kindsWritten(p.root, ['rollback', execution_id])).toEqual([...WRITTEN.rollback, 'ledger'].sort());
});

/** What a rollback left half done, the next one finishes. */
async function expectUndoable(p: Project, before: object, intent: Intent, execution_id: string) {
  const { status } = await p.keyturn.intents.get({ intent_id: intent.intent_id });
  expect(['succeeded', 'rolling_back', 'stuck', 'undone']).toContain(status);
  if (status !== 'undone')
    await p.keyturn.plans.rollback({ execution_id, reason: 'there is room again', signer: p.ada });
  expect(picture(p.root)).toEqual(before);
  expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('undone');
  await expectProvable(p);
}

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
        await expectUndoable(p, before, intent, execution_id);
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
