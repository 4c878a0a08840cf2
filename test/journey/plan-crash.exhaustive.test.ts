import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { picture } from '../plan/engine/story.ts';
import { killedAfter } from '../support/processes.ts';
import { expectRecoverable, readyToRun, SCRIPT } from './plan-crash.ts';
import { expectProvable, planProjects, run } from './plan-story.ts';

/** Real processes that die during a run of a plan. Needs the build in dist/. */

const planProject = planProjects();
const ready = () => readyToRun(planProject);

/** Starts a child, and kills it so long after it is ready; undefined lets it end by itself. */
async function child(args: readonly string[], kill_after_ms?: number) {
  const started = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { said, took_ms } = await killedAfter(started, kill_after_ms);
  return { said: said.replace('ready\n', '').trim(), took_ms };
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
  }, 600_000);

  it('a rollback that is killed is finished by the next one', async () => {
    for (let i = 0; i < 4; i++) {
      const { p, before, intent } = await ready();
      const { execution_id } = await run(p, intent);
      await child([p.root, 'rollback', execution_id], Math.random() * 60);
      const { status } = await p.keyturn.intents.get({ intent_id: intent.intent_id });
      expect(['succeeded', 'rolling_back', 'undone']).toContain(status);
      await p.keyturn.plans.rollback({ execution_id, reason: 'again', signer: p.ada });
      expect(picture(p.root)).toEqual(before);
      expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('undone');
      await expectProvable(p);
    }
  }, 600_000);
});
