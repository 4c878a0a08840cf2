import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/processes.ts';
import { type Intent, type Project, ready } from '../support/project.ts';
import { SCRIPT } from './plan-crash.ts';
import { arrivedAt, gated, waiting } from './plan-gate.ts';
import { create, expectProvable, planOf, planProjects, run, runnable, statusOf } from './plan-story.ts';

const planProject = planProjects();

/** Runs a plan in a process of its own. Needs the build in dist/. */
function runningElsewhere({ root }: Project, { intent_id, hash }: Intent): ChildProcess {
  const child = spawn(process.execPath, [SCRIPT, root, 'run', intent_id, hash], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const over = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await over;
}

const turns = ({ root }: Project) =>
  readdirSync(join(root, '.keyturn', 'runs')).filter((name) => name.endsWith('.turn')).length;

describe('a plan that another process of this host runs', () => {
  it('is waited for, and no longer once that process was killed', async () => {
    const p = await gated(planProject);
    const first = await runnable(p, waiting('data', 'a'));
    const second = await runnable(p, planOf([create('1', 'data/b')]));
    const child = runningElsewhere(p, first);
    await arrivedAt(p, 'data');
    const report = run(p, second);
    await until(() => turns(p) === 2);
    expect(await statusOf(p, second)).toBe('approved');
    await killed(child);
    expect((await report).result).toBe('success');
    expect(await statusOf(p, first), 'in doubt').toBe('claimed');
    await until(() => turns(p) === 1);
    await run(p, await runnable(p, planOf([create('1', 'data/c')])));
    expect(turns(p), 'what was left is removed').toBe(0);
    await expectProvable(p);
  });

  it('is waited for as long as a tool goes on that outlived it', async () => {
    const p = await gated(planProject);
    const first = await runnable(p, waiting('left', 'a'));
    const second = await runnable(p, planOf([create('1', 'b')]));
    const child = runningElsewhere(p, first);
    const open = await arrivedAt(p, 'left');
    const report = run(p, second);
    await until(() => turns(p) === 2);
    await killed(child);
    // Meanwhile a tool goes the whole way, which is longer than what is left of the plan's.
    const effect = { kind: 'tool' as const, tool: 'nothing', arguments: {} };
    const tool = await p.keyturn.intents.propose({ declared_goal: 'Do nothing', effect });
    await ready(p, tool);
    expect((await run(p, tool)).result).toBe('success');
    expect(await statusOf(p, second)).toBe('approved');
    open();
    expect((await report).result).toBe('success');
  });

  it('runs beside one that shares no path with it', async () => {
    const p = await gated(planProject);
    const first = await runnable(p, waiting('one', 'a'));
    const second = await runnable(p, planOf([create('1', 'b')]));
    runningElsewhere(p, first);
    await arrivedAt(p, 'one');
    expect((await run(p, second)).result).toBe('success');
    expect(await statusOf(p, first)).toBe('claimed');
  });
});
