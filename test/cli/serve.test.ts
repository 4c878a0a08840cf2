import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { cliPath } from '../support/pty.ts';
import { answerOf, expectError, fileFolder, makeProject, PASSPHRASE, type Project } from './project.ts';

const ALICE = ['Passphrase of alice: ', PASSPHRASE] as const;
const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

/** `keyturn serve`, once it listens. */
async function serve(...words: string[]) {
  const child = spawn(process.execPath, [cliPath(), 'serve', '--port', '0', '--json', ...words], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const { address, link } = JSON.parse(String(line)).result as { address: string; link: string | null };
  expect(link === null).toBe(words.includes('--no-link'));
  return { child, address };
}

describe('keyturn serve', () => {
  it('runs what an agent proposed with a token and a human turned, and stops in order', async () => {
    const added = await project.talk(['identity', 'add', 'robot', '--agent', '--token'], ALICE);
    const [, token] = /^Token: +(ktk1\S+)$/m.exec(added.stdout)!;
    const { child, address } = await serve();
    const ask = async (verb: string, request: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify(request);
      return (await fetch(`${address}/v1/intents/${verb}`, { method: 'POST', headers, body })).json();
    };
    const effect = { kind: 'tool', tool: 'greet', arguments: { name: 'Ada' } };
    const { intent_id, hash } = (await ask('propose', { declared_goal: 'Greet Ada.', effect })) as {
      intent_id: string;
      hash: string;
    };
    await project.inside((keyturn) => keyturn.intents.turn({ intent_id, hash, signer: project.alice }));
    expect(await ask('waitFor', { intent_id })).toMatchObject({
      status: 'succeeded',
      run: { output: { stdout: 'Hello, Ada!\n' } },
    });
    const other = await project.propose('greet', { name: 'Bo' });
    const turned = await project.talk(['turn', other.id], ['Turn the key? (y/n) ', 'y'], ALICE);
    expect([turned.code, turned.stdout]).toEqual([0, expect.stringContaining('Hello, Bo!')]);
    await project.inside(async (keyturn) => {
      const { runs, status } = await keyturn.intents.get({ intent_id: other.id });
      expect([runs.length, status]).toEqual([1, 'succeeded']);
    });
    expectError('SERVICE_RUNNING', await project.run('serve', '--port', '0'));
    expectError('SERVICE_RUNNING', await project.run('execute'));
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
    const { tokens } = answerOf(await project.run('token', 'list', '--json')).result as unknown as {
      tokens: { token_id: string; last_used_at: string | null }[];
    };
    expect(tokens).toMatchObject([{ name: 'robot', last_used_at: expect.any(String) }]);
    const { token_id } = tokens[0]!;
    const gone = await project.talk(
      ['token', 'revoke', 'robot', token_id.slice(0, 8), '--reason', 'done'],
      ALICE,
    );
    expect(gone.stdout).toBe(`[OK] The token ${token_id} of robot is revoked\n`);
  });

  it('prints no link where it is told so, and one for each time that its account asks', async () => {
    const { child } = await serve('--no-execute', '--no-link');
    const words: string[] = [];
    child.stdout.on('data', (part) => void words.push(String(part)));
    const asked = async () => {
      const { code, stdout } = await project.run('link');
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^Open within 5 minutes, once: http:\S+#link=\S+\n$/),
      ]);
      return new URL(stdout.split(' ').at(-1)!.trim());
    };
    const [one, other] = [await asked(), await asked()];
    const open = async ({ origin, hash }: URL) => {
      const body = JSON.stringify({ link: hash.slice('#link='.length) });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${origin}/v1/session`, { method: 'POST', headers, body })).status;
    };
    expect([await open(one), await open(other), await open(one)]).toEqual([200, 200, 401]);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(words.join('')).not.toContain('link');
    expectError('SERVICE_MISSING', await project.run('link'));
  });

  it('can be started again after it was killed', async () => {
    const { child } = await serve('--no-execute');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const again = await serve('--no-execute');
    again.child.kill('SIGTERM');
    expect((await once(again.child, 'exit'))[0]).toBe(0);
  });

  it('is the only one of its ledger file: a second process is refused, and the first goes on', async () => {
    const { child, address } = await serve('--no-execute');
    expectError('SERVICE_RUNNING', await project.run('serve', '--port', '0'));
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  });

  it('refuses what it does not understand', async () => {
    for (const words of [
      ['--port', 'x'],
      ['--port', '65536'],
      ['--parallel', '0'],
    ])
      expectError('USAGE', await project.run('serve', ...words));
    expectError('USAGE', await project.run('identity', 'add', 'eva', '--token'));
    const reason = ['--reason', 'a test'];
    expectError('TOKEN_INVALID', await project.run('token', 'add', 'alice', ...reason));
    const added = await project.talk(['token', 'add', 'bot', ...reason], ALICE);
    expect(added.stdout).toMatch(/^\[OK\] bot has a new token\nToken: +ktk1\./);
  });
});
