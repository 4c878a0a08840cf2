import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/processes.ts';
import { type Service, service } from './service.ts';

const AGENT = resolve(import.meta.dirname, '../../examples/agent.py');
const has_python = spawnSync('python3', ['--version']).status === 0;
if (!has_python) console.warn('NOT RUN: the tests of examples/agent.py, because python3 is not installed.');

/** The agent as its own process, with nothing of this one but the path. */
function agent(s: Service, env: Record<string, string> = {}, tool = 'say') {
  const given = tool === 'wait' ? '{"seconds": 60}' : '{"word": "hello"}';
  const { PATH = '' } = process.env;
  const child = spawn('python3', [AGENT, tool, given, 'Say hello.'], {
    env: { PATH, KEYTURN_SERVICE: s.address, KEYTURN_TOKEN: s.token, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [said, erred] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => {
    erred += chunk.toString();
  });
  const proposed = new Promise<string>((done) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const [, intent_id] = /^proposed (\S+)\n/.exec(said) ?? [];
      if (intent_id) done(intent_id);
    });
  });
  const ended = new Promise<{ code: number | null; said: string; erred: string }>((done) =>
    child.on('close', (code) => done({ code, said, erred })),
  );
  const intent = () => Promise.race([proposed, ended.then(({ erred }) => Promise.reject(new Error(erred)))]);
  return { child, intent, ended };
}

describe.skipIf(!has_python)('examples/agent.py', () => {
  it('proposes with a token, waits for the human, and prints what came out', async () => {
    const s = await service({ most: 1 });
    const { intent, ended } = agent(s);
    const intent_id = await intent();
    const { hash, proposer } = await s.keyturn.intents.get({ intent_id });
    expect(proposer).toBe('bot');
    await s.keyturn.intents.turn({ intent_id, hash, signer: s.ada });
    expect(await ended).toEqual({
      code: 0,
      said: `proposed ${intent_id}\nsucceeded \nhello\n`,
      erred: '',
    });
  });

  it('says in one line what was wrong with how it was started', async () => {
    const without = (env: Record<string, string>, ...args: string[]) =>
      spawnSync('python3', [AGENT, ...args], {
        env: { PATH: process.env.PATH ?? '', ...env },
        encoding: 'utf8',
      });
    const KEYTURN_TOKEN = 'ktk1.x.bot';
    const [goal, here] = ['Say hello.', { KEYTURN_TOKEN, KEYTURN_SERVICE: 'http://localhost:1' }];
    for (const { status, stderr } of [
      without(here),
      without({}, 'say', '{}', goal),
      without(here, 'say', '{bad', goal),
    ]) {
      expect(status).toBe(2);
      expect(stderr).not.toContain('Traceback');
    }
  });

  it('tells of a no with its reason', async () => {
    const s = await service();
    const { intent, ended } = agent(s);
    const intent_id = await intent();
    const { hash } = await s.keyturn.intents.get({ intent_id });
    await s.keyturn.intents.reject({ intent_id, hash, reason: 'Not today.', signer: s.ada });
    expect(await ended).toMatchObject({ code: 1, said: expect.stringContaining('rejected Not today.\n') });
  });

  it('takes its proposal back when its patience ends, and when it is told to stop', async () => {
    const s = await service();
    const impatient = agent(s, { KEYTURN_WAIT_S: '0.2' });
    const patient = agent(s);
    const waits = await patient.intent();
    patient.child.kill('SIGTERM');
    for (const { intent, ended } of [impatient, patient]) {
      expect(await ended).toMatchObject({
        code: 3,
        said: expect.stringMatching(/\nwithdrawn\n$/),
        erred: '',
      });
      const { status_word } = await s.keyturn.intents.get({ intent_id: await intent() });
      expect(status_word).toBe('withdrawn');
    }
    expect(waits).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('says that it gave up while its tool runs, which cannot be taken back', async () => {
    const s = await service({ most: 1 });
    const { child, intent, ended } = agent(s, {}, 'wait');
    const intent_id = await intent();
    const { hash } = await s.keyturn.intents.get({ intent_id });
    await s.keyturn.intents.turn({ intent_id, hash, signer: s.ada });
    await until(async () => (await s.keyturn.intents.get({ intent_id })).status_word === 'running');
    child.kill('SIGTERM');
    expect(await ended).toEqual({
      code: 3,
      said: `proposed ${intent_id}\nrunning\n`,
      erred: expect.stringMatching(/^RUN_STILL_ALIVE: /),
    });
  });

  it('says why the service refused', async () => {
    const s = await service();
    expect(await agent(s, {}, 'no-such-tool').ended).toMatchObject({
      code: 2,
      said: '',
      erred: expect.stringMatching(/^TOOL_UNKNOWN: /),
    });
    expect(await agent(s, { KEYTURN_TOKEN: 'x' }).ended).toMatchObject({
      code: 2,
      erred: expect.stringMatching(/^TOKEN_INVALID: /),
    });
  });
});
