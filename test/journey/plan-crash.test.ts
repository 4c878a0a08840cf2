import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { picture } from '../plan/engine/story.ts';
import type { Intent, Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  create,
  expectProvable,
  planOf,
  planProjects,
  remove,
  rename,
  replace,
  run,
  runnable,
} from './plan-story.ts';

/** Real processes that die during a run of a plan. Needs the build in dist/. */

const planProject = planProjects();
const script = fileURLToPath(new URL('../support/plan-child.mjs', import.meta.url));

/** Starts a child, and kills it so long after it is ready; undefined lets it end by itself. */
function child(args: readonly string[], kill_after_ms?: number): Promise<{ said: string; took_ms: number }> {
  const started = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  let ready_at = 0;
  started.stdout.on('data', (chunk: Buffer) => {
    if (said === '') {
      ready_at = performance.now();
      if (kill_after_ms !== undefined) setTimeout(() => started.kill('SIGKILL'), kill_after_ms);
    }
    said += chunk.toString();
  });
  return new Promise((resolve) => {
    started.on('close', () =>
      resolve({ said: said.replace('ready\n', '').trim(), took_ms: performance.now() - ready_at }),
    );
  });
}

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

async function ready() {
  const p = await planProject(FILES);
  const before = picture(p.root);
  const intent = await runnable(p, PLAN);
  return { p, before, intent };
}

/**
 * What must hold after a crash, wherever it was: looking changes nothing, nothing runs again, and a rollback by a human
 * brings every byte back.
 */
async function expectRecoverable(p: Project, before: object, intent: Intent): Promise<string> {
  const found = picture(p.root);
  const again = await Keyturn.open({ at: p.root });
  const { status, runs } = await again.intent(intent.intent_id);
  const in_doubt = (await again.inDoubt()).map(({ state, life }) => [state.intent_id, life]);
  await again.close();
  expect(picture(p.root), 'opening a project rolls nothing back').toEqual(found);
  expect(['approved', 'claimed', 'succeeded']).toContain(status);
  if (status === 'approved') expect(found, 'before the claim nothing is touched').toEqual(before);
  if (status === 'approved') return status;

  const execution_id = runs.at(-1)!.execution_id;
  if (status === 'claimed') {
    expect(in_doubt).toEqual([[intent.intent_id, 'dead']]);
    await expectRefusal('RUN_IN_DOUBT', () => run(p, intent));
    await expectRefusal('RUN_IN_DOUBT', () =>
      p.keyturn.retry({ intent_id: intent.intent_id, reason: 'again', signer: p.ada }),
    );
  }
  await p.keyturn.previewRollback(execution_id);
  expect(picture(p.root), 'nothing is rolled back without a human').toEqual(found);
  const undo = () => p.keyturn.rollback({ execution_id, reason: 'it crashed', signer: p.ada });
  expect(await undo()).toMatchObject({ status: 'rolled_back', instructions: [] });
  expect(picture(p.root)).toEqual(before);
  expect((await undo()).status).toBe('rolled_back');
  expect(picture(p.root)).toEqual(before);
  const end = (await p.keyturn.intent(intent.intent_id)).status;
  expect(end).toBe(status === 'claimed' ? 'rolled_back' : 'undone');
  await expectProvable(p);
  return status;
}

describe('kill -9 of a process that runs a plan', () => {
  it('left alone the process finishes the plan', async () => {
    const { p, before, intent } = await ready();
    expect((await child([p.root, 'run', intent.intent_id, intent.hash])).said).toBe('success');
    expect(await expectRecoverable(p, before, intent)).toBe('succeeded');
  });

  it.each(['checkpoint', 'm0', 'm3', 'del', 'mv', 'add', 'validation', 'done'])(
    'at "%s" leaves a run in doubt, and the rollback restores every byte',
    async (what) => {
      const { p, before, intent } = await ready();
      await child([p.root, 'run', intent.intent_id, intent.hash, what]);
      expect(await expectRecoverable(p, before, intent)).toBe('claimed');
    },
  );

  it('at random moments: the next command says what is in doubt, and the rollback restores every byte', async () => {
    const { p: whole, intent: left_alone } = await ready();
    const { took_ms } = await child([whole.root, 'run', left_alone.intent_id, left_alone.hash]);
    for (let i = 0; i < 8; i++) {
      const { p, before, intent } = await ready();
      await child([p.root, 'run', intent.intent_id, intent.hash], Math.random() * took_ms);
      await expectRecoverable(p, before, intent);
    }
  }, 60_000);

  it('a rollback that is killed is finished by the next one', async () => {
    for (let i = 0; i < 4; i++) {
      const { p, before, intent } = await ready();
      const { execution_id } = await run(p, intent);
      await child([p.root, 'rollback', execution_id], Math.random() * 60);
      const { status } = await p.keyturn.intent(intent.intent_id);
      expect(['succeeded', 'rolling_back', 'undone']).toContain(status);
      await p.keyturn.rollback({ execution_id, reason: 'again', signer: p.ada });
      expect(picture(p.root)).toEqual(before);
      expect((await p.keyturn.intent(intent.intent_id)).status).toBe('undone');
      await expectProvable(p);
    }
  }, 60_000);
});
