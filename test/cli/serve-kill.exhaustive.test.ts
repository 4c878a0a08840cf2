import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { webLimits } from '../../src/limits.ts';
import { elapsed, until } from '../support/processes.ts';
import { cliPath } from '../support/pty.ts';
import { fileFolder, makeProject, type Project } from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

function execute(words: readonly string[] = ['execute']) {
  const child = spawn(process.execPath, [cliPath(), ...words], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const turned = (tool: string, args: Record<string, string | number>) =>
  project.inside(async (keyturn) => {
    const { intent_id, hash } = await keyturn.intents.propose({
      declared_goal: 'Do it.',
      effect: { kind: 'tool', tool, arguments: args },
      signer: project.alice,
    });
    await keyturn.intents.turn({ intent_id, hash, signer: project.alice });
    return intent_id;
  });

describe('an executor that is killed', () => {
  it('leaves its run in doubt, and the next one goes on with the others, each once', async () => {
    const first = execute();
    const claimed = (async () => {
      for await (const part of first.stderr) if (/claimed/.test(String(part))) return;
    })();
    const slow = await turned('wait', { seconds: 60 });
    await claimed;
    first.kill('SIGKILL');
    await once(first, 'exit');
    const others = [await turned('greet', { name: 'Ada' }), await turned('greet', { name: 'Bo' })];
    const second = execute();
    await project.inside(async (keyturn) => {
      for (const intent_id of others)
        expect((await keyturn.intents.waitFor({ intent_id })).status).toBe('succeeded');
      const { runs } = await keyturn.runs.inDoubt();
      expect(runs).toMatchObject([{ intent_id: slow, state: 'dead' }]);
      expect((await keyturn.intents.get({ intent_id: slow })).runs).toHaveLength(1);
      await keyturn.ledger.verify({ deep: true });
    });
    second.kill('SIGTERM');
    expect((await once(second, 'exit'))[0]).toBe(0);
  }, 120_000);
});

describe('a second signal to keyturn serve and keyturn execute', () => {
  it('ends it at once, and leaves in doubt what ran: nothing runs it again', async () => {
    for (const [words, signals] of [
      [
        ['serve', '--port', '0'],
        ['SIGTERM', 'SIGTERM'],
      ],
      [['execute'], ['SIGINT', 'SIGINT']],
      [['execute'], ['SIGTERM', 'SIGINT']],
    ] as const) {
      const child = execute(words);
      let said = '';
      child.stderr.on('data', (part) => {
        said += part;
      });
      const intent_id = await turned('wait', { seconds: 60 });
      await until(() => new RegExp(`${intent_id} .*claimed`).test(said));
      child.kill(signals[0]);
      await elapsed(500, 'one signal lets what runs go on');
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      const from = performance.now();
      child.kill(signals[1]);
      const [code] = await once(child, 'exit');
      expect([code, performance.now() - from < webLimits.grace_ms / 4]).toEqual([1, true]);
      await project.inside(async (keyturn) => {
        const next = execute();
        const other = await turned('greet', { name: 'Ada' });
        expect((await keyturn.intents.waitFor({ intent_id: other })).status).toBe('succeeded');
        expect((await keyturn.intents.get({ intent_id })).runs).toHaveLength(1);
        next.kill('SIGTERM');
        expect((await once(next, 'exit'))[0]).toBe(0);
        const { runs } = await keyturn.runs.inDoubt();
        expect(runs.find((one) => one.intent_id === intent_id)).toMatchObject({ status_word: 'IN DOUBT' });
      });
    }
  }, 120_000);
});
