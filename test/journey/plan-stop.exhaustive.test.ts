import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processesOf, until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { kinds, lastBody } from './authority.ts';
import { planOf, planProjects, proposed, replace, yes } from './plan-story.ts';

/** A pipeline that takes half a minute, so that there is time to stop the plan it is part of. */
const SLOW = `version: 1
tools:
  - name: wait
    summary: Waits.
    executable: /usr/bin/sleep
    args: ["30"]
    sandbox: none
    undo: none
  - name: pause
    summary: Waits a second.
    executable: /usr/bin/sleep
    args: ["1"]
    sandbox: none
    undo: none
  - name: leave
    summary: Leaves something at work.
    executable: /bin/sh
    args: ["-c", "left=$(setsid sh -c 'echo moved; exec sleep 41.5 >/dev/null 2>&1' &)"]
    sandbox: none
    undo: none
pipelines:
  - name: leaving
    summary: Leaves something at work.
    steps: [{ tool: leave }, { tool: leave }]
  - name: slowly
    summary: Waits.
    steps: [{ tool: wait }]
  - name: briefly
    summary: Waits a second.
    steps: [{ tool: pause }]
`;

const makeProject = planProjects();

/** A query that would take hours. */
const QUERY = planOf([
  replace('a1', 'notes.txt', 'old', 'new'),
  {
    action_id: 'a2',
    action_type: 'SQL_EXECUTE',
    target: 'data.duckdb',
    operation: {
      type: 'sql_execute',
      query: 'CREATE TABLE t AS SELECT count(*) AS n FROM range(3000000) a, range(3000000) b',
    },
    depends_on: ['a1'],
  },
]);

const pipeline = (name: string) => ({
  action_id: 'a2',
  action_type: 'PIPELINE_RUN',
  target: name,
  operation: { type: 'pipeline_run', pipeline: name },
  depends_on: ['a1'],
  reversible: false,
});

const PIPELINE = planOf([replace('a1', 'notes.txt', 'old', 'new'), pipeline('slowly')]);

async function granted(plan: string) {
  const p = await makeProject({ 'notes.txt': 'old\n', 'later.txt': 'old\n' }, SLOW);
  const intent = await proposed(p, plan);
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  const { capability_id } = await p.keyturn.intents.grant({ ...intent, signer: p.ada });
  const notes = () => readFileSync(join(p.root, 'notes.txt'), 'utf8');
  return { p, intent, notes, capability_id };
}

type Granted = Awaited<ReturnType<typeof granted>>;

/** Runs the plan, and does something to it when its first change is made. */
async function stoppedBy({ p, intent, notes }: Granted, act: () => Promise<unknown>) {
  const running = runSeen(p.keyturn, { ...intent, confirm: yes });
  await until(() => notes() === 'new\n');
  await act();
  return running;
}

describe('F5: a plan whose ground is taken away while it runs', () => {
  it('is stopped by a freeze and rolled back, and the violation is recorded', async () => {
    const scene = await granted(QUERY);
    const { p, intent, notes } = scene;
    const report = await stoppedBy(scene, () =>
      p.keyturn.system.freeze({ scope: 'system', reason: 'stop', signer: p.ada }),
    );
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'FROZEN' });
    expect(notes()).toBe('old\n');
    expect(existsSync(join(p.root, 'data.duckdb'))).toBe(false);
    expect((await kinds(p, intent.intent_id)).slice(-2)).toEqual([
      'violation.detected',
      'execution.finished',
    ]);
  });

  it('is stopped by a revocation and rolled back', async () => {
    const scene = await granted(QUERY);
    const { p, notes, capability_id } = scene;
    const report = await stoppedBy(scene, () =>
      p.keyturn.runs.revokeCapability({ capability_id, reason: 'wrong', signer: p.ada }),
    );
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'CAPABILITY_REVOKED' });
    expect(notes()).toBe('old\n');
  });

  it('is stopped by a human and rolled back', async () => {
    const scene = await granted(QUERY);
    const { p, notes } = scene;
    const report = await stoppedBy(scene, async () => {
      const { execution_id } = await p.keyturn.runs.going();
      await p.keyturn.runs.stop({ execution_id, reason: 'wrong', signer: p.ada });
    });
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'RUN_STOPPED' });
    expect(notes()).toBe('old\n');
  });

  it('when a file that it has yet to change is changed by somebody else is rolled back, and that is a violation', async () => {
    const scene = await granted(
      planOf([
        replace('a1', 'notes.txt', 'old', 'new'),
        pipeline('briefly'),
        { ...replace('a3', 'later.txt', 'old', 'new'), depends_on: ['a2'] },
      ]),
    );
    const { p, intent, notes } = scene;
    const report = await stoppedBy(scene, async () => writeFileSync(join(p.root, 'later.txt'), 'older\n'));
    expect(report).toMatchObject({ result: 'partial', reason_code: 'PLAN_DRIFT' });
    expect(notes()).toBe('old\n');
    expect((await kinds(p, intent.intent_id)).slice(-2)).toEqual([
      'violation.detected',
      'execution.finished',
    ]);
  });

  it('by a freeze of a tool that only its pipeline uses, restores the files and says that the rest is partial', async () => {
    const scene = await granted(PIPELINE);
    const { p, notes } = scene;
    const report = await stoppedBy(scene, () =>
      p.keyturn.system.freeze({ scope: 'tool', name: 'wait', reason: 'it hangs', signer: p.ada }),
    );
    expect(report).toMatchObject({ result: 'partial', reason_code: 'FROZEN' });
    expect(notes()).toBe('old\n');
  });
});

describe('a plan and the scope of its capability', () => {
  it('does not run when it would change what the scope does not name', async () => {
    const p = await makeProject({ 'notes.txt': 'old\n' }, SLOW);
    const intent = await proposed(p, planOf([replace('a1', 'notes.txt', 'old', 'new')]));
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    const scope = { unconfined: false, network: false, read: [], write: [], pipelines: [] };
    await p.keyturn.intents.grant({ ...intent, signer: p.ada, scope });
    await expectRefusal('CAPABILITY_OUT_OF_SCOPE', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(await lastBody(p, intent.intent_id)).toMatchObject({ reason_code: 'CAPABILITY_OUT_OF_SCOPE' });
    expect(readFileSync(join(p.root, 'notes.txt'), 'utf8')).toBe('old\n');
  });

  it('is not rolled back while what a step of its pipeline left is at work', async () => {
    const plan = planOf([replace('a1', 'notes.txt', 'old', 'new'), pipeline('leaving')]);
    const { p, intent, notes } = await granted(plan);
    const { execution_id, result } = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(result).toBe('success');
    const rollback = () => p.keyturn.plans.rollback({ execution_id, reason: 'not wanted', signer: p.ada });
    await expectRefusal('RUN_STILL_ALIVE', rollback);
    expect(notes()).toBe('new\n');
    for (const pid of leftAtWork()) process.kill(pid, 'SIGKILL');
    await rollback();
    expect(notes()).toBe('old\n');
  });

  it('of a frozen tool does not run, also when only its pipeline uses that tool', async () => {
    const { p, intent, notes } = await granted(PIPELINE);
    await p.keyturn.system.freeze({ scope: 'tool', name: 'wait', reason: 'it hangs', signer: p.ada });
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(notes()).toBe('old\n');
  });
});

const leftAtWork = () => processesOf('sleep', '41.5').map(Number);
