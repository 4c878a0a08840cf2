import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { approval, HASH, ID } from '../lane/lane.ts';
import { until } from '../support/processes.ts';
import { inTerminal, keyturn } from '../support/pty.ts';
import { TOOL, writeRegistry } from '../support/registry.ts';
import { scratch } from '../support/scratch.ts';
import { ALICE, makeScene, type Scene, TURN, typing, YES } from './grant-scene.ts';
import { expectError, fileFolder, type Intent, talkAt } from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

const freeze = (...words: string[]) => scene.talk(['freeze', ...words], ALICE);
const unfreeze = (...words: string[]) => scene.talk(['unfreeze', ...words, '--reason', 'it is over'], ALICE);

describe('freeze', () => {
  it('stops everything at the next check, and status says so first and loudly', async () => {
    const [intent, waiting] = [
      await scene.granted('greet', { name: 'Ada' }),
      await scene.propose('greet', { name: 'Eve' }),
    ];
    const frozen = await freeze('--reason', 'incident 12');
    expect(frozen).toMatchObject({
      code: 0,
      stdout: '[OK] alice froze everything. What runs is stopped, and nothing starts\n',
      stderr: '',
    });
    const [first, second] = (await scene.run('status')).stdout.split('\n');
    expect(first).toMatch(/^!!! FROZEN: Everything is frozen since \S+Z, by alice: incident 12\. !!!$/);
    expect(second).toBe('  A human lets it go: keyturn unfreeze --reason …');

    const checked = await scene.run('check', intent.id, intent.hash);
    expect(checked.stdout).toBe('[ERROR] Frozen\n');
    expect(checked.stderr).toMatch(
      /^FROZEN: Everything is frozen since \S+Z, by alice: incident 12\. A human /,
    );
    const run = await scene.run('run', intent.id, intent.hash);
    expect(run.stdout).toMatch(/^\[ERROR\] Frozen\n\[ERROR\] Execution not eligible\n/);
    expect(run.stderr).toMatch(/^FROZEN: /);
    expect((await scene.storyOf(intent)).at(-1)).toMatchObject({
      kind: 'execution.refused',
      body: { reason_code: 'FROZEN' },
    });
    expectError('FROZEN', await scene.run('grant', intent.id));
    expectError('FROZEN', await scene.run('turn', waiting.id));
    expect((await scene.run('doctor')).stdout).toMatch(/^BAD {2}freezes: Everything is frozen/m);
    expectError('FROZEN_ALREADY', await scene.run('freeze', '--reason', 'again'));

    expectError('NO_TERMINAL', await scene.run('unfreeze', '--reason', 'x'));
    const thawed = await unfreeze();
    expect(thawed).toMatchObject({ code: 0, stdout: '[OK] alice unfroze everything\n' });
    expect(thawed.screen).toContain('Everything is frozen since');
    expectError('NOT_FROZEN', await scene.run('unfreeze', '--reason', 'x'));
    expect((await scene.talk(['turn', waiting.id], TURN, ALICE)).code).toBe(0);
    expect((await scene.talk(['run', intent.id, intent.hash], YES)).code).toBe(0);
  });

  it('stops one agent, one tool or the tenant, and nothing else', async () => {
    const [greet, fail] = [
      await scene.granted('greet', { name: 'Ada' }),
      await scene.granted('wait', { seconds: 0 }),
    ];
    const check = async ({ id, hash }: Intent) => (await scene.run('check', id, hash)).code;
    expect((await freeze('--tool', 'greet', '--reason', 'it is rude')).code).toBe(0);
    expect([await check(greet), await check(fail)]).toEqual([1, 0]);
    expect((await unfreeze('--tool', 'greet')).stdout).toBe('[OK] alice unfroze the tool "greet"\n');
    expect((await freeze('--agent', 'bot', '--reason', 'it behaves oddly')).code).toBe(0);
    expect([await check(greet), await check(fail)]).toEqual([1, 1]);
    await unfreeze('--agent', 'bot');
    expect((await freeze('--agent', 'scout', '--reason', 'another one')).code).toBe(0);
    expect([await check(greet), await check(fail)]).toEqual([0, 0]);
    await unfreeze('--agent', 'scout');
    expect((await freeze('--tenant', '--reason', 'all of it')).stdout).toContain(
      'froze the tenant "default"',
    );
    expect([await check(greet), await check(fail)]).toEqual([1, 1]);
    await unfreeze('--tenant');
  });

  it('needs a reason, one target, and somebody who exists; an unknown tool is said', async () => {
    expectError('USAGE', await scene.run('freeze'));
    expectError('USAGE', await scene.run('unfreeze'));
    expectError('USAGE', await scene.run('freeze', '--tool', 'a', '--tenant', '--reason', 'x'));
    expectError('PRINCIPAL_UNKNOWN', await scene.run('freeze', '--agent', 'nobody', '--reason', 'x'));
    const odd = await freeze('--tool', 'plan-9', '--reason', 'x');
    expect(odd.stdout).toContain(
      'The registry has no tool "plan-9". The freeze holds for that name all the same\n',
    );
    // The person who mistyped it can still leave.
    expect(odd.screen).toMatch(/The registry has no tool "plan-9"[\s\S]*Passphrase of alice/);
    await unfreeze('--tool', 'plan-9');
  });

  it('is on the screen of each who decides about what it stops, and status tells what and why', async () => {
    const waiting = await scene.propose('greet', { name: 'Ada' });
    await freeze('--tool', 'greet', '--reason', 'under repair');
    const alarm = /^!!! FROZEN: The tool "greet" is frozen since/m;
    expect((await scene.run('show', waiting.id)).stdout).toMatch(alarm);
    const review = await scene.talk(['review'], ['q to stop: ', 'q']);
    expect(review.screen).toMatch(alarm);
    const approved = await scene.talk(['approve', waiting.id], typing(waiting), ALICE);
    expect(approved).toMatchObject({ code: 0 });
    expect(approved.screen).toMatch(alarm);
    const status = (await scene.run('status')).stdout;
    expect(status).toMatch(
      new RegExp(
        `^Approved, and may not run now \\(\\d\\):(\\n .*)*\\n  ${waiting.id.slice(0, 8)}  greet: .+\\n    \\S`,
        'm',
      ),
    );
    await unfreeze('--tool', 'greet');
    expect((await scene.run('show', waiting.id)).stdout).not.toMatch(alarm);
  });

  it('F5: what runs is stopped, the violation is recorded, and the run is in doubt', async () => {
    const intent = await scene.granted('endless');
    const session = inTerminal(['run', intent.id, intent.hash], { cwd: folder });
    await session.expect(YES[0]);
    session.type('y');
    await until(async () => (await scene.stateOf(intent)).status === 'claimed');
    expect((await freeze('--reason', 'stop now')).code).toBe(0);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('FROZEN: ');
    expect((await scene.kindsOf(intent)).slice(-2)).toEqual(['violation.detected', 'execution.finished']);
    await unfreeze();
  });
});

describe('a lane that a project opens', () => {
  let registry: string;
  let queue: string;
  const lane = (...more: string[]) => [
    ...['lane', 'run', ID, HASH, '--queue', queue, '--registry', registry],
    ...more,
  ];
  beforeAll(() => {
    const config = join(folder, 'keyturn.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('allow: false', 'allow: true'));
    [queue, registry] = [join(folder, 'queue'), join(folder, 'lane.yaml')];
    mkdirSync(queue);
    writeFileSync(join(queue, 'approved.jsonl'), `${JSON.stringify(approval())}\n`);
    const tool = { ...TOOL, executable: '/bin/true' };
    writeRegistry(registry, {
      version: 1,
      tools: [tool],
      bindings: [{ intent: ID, tool: TOOL.name, arguments: {} }],
    });
  });

  it('obeys a freeze of everything, of the tenant and of its tool, and of nothing else', async () => {
    const frozen = /^\[ERROR\] Cannot execute: .* is frozen since .*\nNo execution attempted\.\n$/;
    for (const target of [[], ['--tenant'], ['--tool', TOOL.name]]) {
      await freeze(...target, '--reason', 'stop');
      for (const words of [lane(), lane('--dry-run')]) {
        const refused = await scene.run(...words);
        expect(refused.stdout).toMatch(frozen);
        expect(refused.stderr).toMatch(/^FROZEN: /);
      }
      await unfreeze(...target);
    }
    await freeze('--tool', 'greet', '--reason', 'another one');
    expect((await scene.run(...lane('--dry-run'))).code).toBe(0);
    await unfreeze('--tool', 'greet');
  });

  it('a freeze between the question and the y is seen', async () => {
    const session = inTerminal(lane(), { cwd: folder });
    await session.expect(YES[0]);
    await freeze('--reason', 'meanwhile');
    session.type('y');
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('FROZEN: ');
    expect(() => readFileSync(join(queue, 'executed.jsonl'))).toThrow();
    await unfreeze();
    expect((await talkAt({ cwd: folder }, lane(), YES)).code).toBe(0);
  });

  it('a store that cannot be read is a no', async () => {
    rmSync(join(queue, 'executed.jsonl'));
    const other = scratch();
    cpSync(folder, other, { recursive: true });
    const words = ['lane', 'run', ID, HASH, '--queue', queue, '--registry', registry, '--dry-run'];
    expect((await keyturn(words, { cwd: other })).code).toBe(0);
    writeFileSync(join(other, '.keyturn', 'store.db'), 'nonsense');
    const refused = await keyturn(words, { cwd: other });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^STORE_[A-Z]+: /);
  });
});
