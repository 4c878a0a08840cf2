import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { picture } from '../plan/engine/story.ts';
import type { Intent, Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  create,
  expectProvable,
  planOf,
  type planProjects,
  remove,
  rename,
  replace,
  run,
  runnable,
} from './plan-story.ts';

/** One process that runs a plan. Needs the build in dist/. */
export const SCRIPT = fileURLToPath(new URL('../support/plan-child.mjs', import.meta.url));

const FILES = {
  ...Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`f${i}`, `old ${'x'.repeat(20_000)} ${i}`])),
  gone: 'gone',
  moved: 'moved',
  bystander: 'b',
};
const PLAN = planOf([
  ...Array.from({ length: 6 }, (_, i) => replace(`m${i}`, `f${i}`, 'old', 'new')),
  remove('del', 'gone'),
  rename('mv', 'moved', 'new/place'),
  create('add', 'new/deep/n'),
]);

export async function readyToRun(planProject: ReturnType<typeof planProjects>) {
  const p = await planProject(FILES);
  const before = picture(p.root);
  const intent = await runnable(p, PLAN);
  return { p, before, intent };
}

/**
 * What must hold after a crash or a full disk, wherever it was: looking changes nothing, nothing runs again, and a rollback by a human
 * brings every byte back.
 */
export async function expectRecoverable(p: Project, before: object, intent: Intent): Promise<string> {
  const found = picture(p.root);
  const again = await Keyturn.open({ at: p.root });
  const { status, runs } = await again.intents.get({ intent_id: intent.intent_id });
  const in_doubt = (await again.runs.inDoubt()).runs.map(({ intent_id, state }) => [intent_id, state]);
  await again.close();
  expect(picture(p.root), 'opening a project rolls nothing back').toEqual(found);
  expect(['approved', 'claimed', 'succeeded', 'partial', 'failed', 'rolled_back']).toContain(status);
  if (!['claimed', 'succeeded', 'partial'].includes(status)) {
    expect(found, 'nothing was touched, or all of it is undone').toEqual(before);
    await expectProvable(p);
    return status;
  }

  const execution_id = runs.at(-1)!.execution_id;
  if (status === 'claimed') {
    expect(in_doubt).toEqual([[intent.intent_id, 'dead']]);
    await expectRefusal('RUN_IN_DOUBT', () => run(p, intent));
    await expectRefusal('RUN_IN_DOUBT', () =>
      p.keyturn.runs.retry({ intent_id: intent.intent_id, reason: 'again', signer: p.ada }),
    );
  }
  await p.keyturn.plans.previewRollback({ run: execution_id });
  expect(picture(p.root), 'nothing is rolled back without a human').toEqual(found);
  const undo = () => p.keyturn.plans.rollback({ execution_id, reason: 'it crashed', signer: p.ada });
  expect(await undo()).toMatchObject({ status: 'rolled_back', instructions: [] });
  expect(picture(p.root)).toEqual(before);
  expect((await undo()).status).toBe('rolled_back');
  expect(picture(p.root)).toEqual(before);
  const end = (await p.keyturn.intents.get({ intent_id: intent.intent_id })).status;
  expect(end).toBe(status === 'succeeded' ? 'undone' : 'rolled_back');
  await expectProvable(p);
  return status;
}
