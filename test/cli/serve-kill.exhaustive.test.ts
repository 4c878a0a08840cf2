import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { cliPath } from '../support/pty.ts';
import { fileFolder, makeProject, type Project } from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

function execute() {
  const child = spawn(process.execPath, [cliPath(), 'execute'], {
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
