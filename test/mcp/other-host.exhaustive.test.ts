import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anotherHost, type Shared, shared } from '../journey/postgres-host.ts';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { postgres } from '../store/postgres-place.ts';
import { entriesAbout } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { gateProcess } from './process.ts';
import { BUILT_CLI, enrolled, TASKS_META } from './stage.ts';

const LONG = { timeout: 180_000 };
const SOON = { timeout: 60_000 };
const server = postgres();

/** `keyturn execute` under a host name of its own, as a process elsewhere is. */
async function executingAt(host: string, cwd: string): Promise<void> {
  const shell = ['-u', 'sh', '-c', 'hostname "$0" && exec "$@"', host];
  const child = spawn('unshare', [...shell, process.execPath, BUILT_CLI, 'execute'], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  await new Promise<void>((done, failed) => {
    child.stderr.on('data', (part) => {
      said += part;
      if (said.includes('Ctrl-C ends it')) done();
    });
    child.once('exit', () => failed(new Error(`keyturn execute ended: ${said}`)));
  });
}

/** A gate on this host, and the executor that runs its calls on another one. */
async function apart(tenant: string) {
  const p: Shared = await shared(server(), tenant);
  const files = join(p.root, 'files');
  mkdirSync(files);
  const log = join(files, 'log');
  writeServers(p.root, { odd: { script: SERVERS.odd, args: ['plain', log], more: { cwd: '/' } } }, files);
  const other = await anotherHost(p);
  await other.keyturn.system.rotateControlKey({ reason: 'issues there', signer: p.ada });
  await other.keyturn.system.addExecutor({ name: 'far', labels: [], reason: 'a test', signer: p.ada });
  await accepted(p.keyturn, 'odd', p.ada);
  await enrolled(p);
  await executingAt('far', other.root);
  const gate = gateProcess(p.root, 'scout');
  const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
  const turn = async () => {
    await expect.poll(waiting, SOON).toHaveLength(1);
    const { intent_id } = (await waiting())[0]!;
    const { hash } = await p.keyturn.intents.get({ intent_id });
    const audience = `${p.keyturn.host.origin}/far`;
    await p.keyturn.intents.turn({ intent_id, hash, audience, signer: p.ada });
    return intent_id;
  };
  const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  const runOf = async (intent_id: string) => (await p.keyturn.intents.result({ intent_id })).run;
  return { p, files, gate, turn, calls, runOf };
}

const ended = async ({ keyturn }: Shared, intent_id: string) =>
  (await entriesAbout(keyturn, intent_id)).filter(({ kind }) => kind === 'execution.finished');

describe('a call that runs on another host', () => {
  it('tells its client how far it has come, in numbers', LONG, async () => {
    const { p, files, gate, turn, runOf } = await apart('far-progress');
    const params = { name: 'odd__act', arguments: { how: 'steps' }, _meta: { progressToken: 'mine' } };
    gate.send({ id: 'call', method: 'tools/call', params });
    const intent_id = await turn();
    const told = () =>
      gate.heard().flatMap(({ method, params }) => (method === 'notifications/progress' ? [params] : []));
    const TOLD = [1, 2].map((progress) => ({ progressToken: 'mine', progress, total: 2 }));
    await expect.poll(told, SOON).toEqual(TOLD.slice(0, 1));
    const { execution_id } = (await runOf(intent_id))!;
    expect(await p.keyturn.runs.live({ execution_id })).toMatchObject({ source: 'other host' });
    const scout = p.keyturn.as({ name: 'scout' });
    expect((await scout.runs.progress({ execution_id })).progress).toEqual({ progress: 1, total: 2 });
    writeFileSync(join(files, 'log.step-1'), '');
    await expect.poll(told, SOON).toEqual(TOLD);
    writeFileSync(join(files, 'log.step-2'), '');
    await expect.poll(() => gate.heard().find(({ id }) => id === 'call')?.result, SOON).toBeDefined();
    expect(told()).toEqual(TOLD);
    // Once it is recorded nothing of it is left beside the ledger.
    const left = `SELECT count(*)::int AS n FROM keyturn.service_state WHERE kind LIKE 'run-%'`;
    await expect.poll(async () => (await server().sql(left))[0]!.n, SOON).toBe(0);
  });

  it('is stopped when its client cancels, sent once, and the ledger says why', LONG, async () => {
    const { p, gate, turn, calls, runOf } = await apart('far-cancel');
    gate.send({ id: 'call', method: 'tools/call', params: { name: 'odd__act', arguments: { how: 'hang' } } });
    const intent_id = await turn();
    await expect.poll(calls, SOON).toEqual(['hang']);
    const { execution_id } = (await runOf(intent_id))!;
    await p.keyturn.people.enrol({ name: 'spy', principal: 'agent', public_key: null, signer: p.ada });
    const spied = () => p.keyturn.as({ name: 'spy' }).runs.cancel({ execution_id });
    await expectRefusal('EXECUTION_NOT_FOUND', spied);
    gate.send({ method: 'notifications/cancelled', params: { requestId: 'call' } });
    await expect.poll(async () => (await runOf(intent_id))?.result, SOON).toBe('partial');
    expect((await ended(p, intent_id))[0]!.body).toMatchObject({
      result: 'partial',
      reason_code: 'RUN_CANCELLED',
    });
    expect((await entriesAbout(p.keyturn, intent_id)).map(({ kind }) => kind)).not.toContain(
      'violation.detected',
    );
    expect(await p.keyturn.runs.cancel({ execution_id })).toEqual({ asked: false });
    expect(calls()).toEqual(['hang']);
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(8);
  });

  it('is a task that says how far it is, and that is cancelled after the gate was killed', LONG, async () => {
    const { p, gate, turn, calls, runOf } = await apart('far-task');
    const { result } = await gate.ask('tools/call', {
      name: 'odd__act',
      arguments: { how: 'steps' },
      _meta: TASKS_META,
    });
    const { taskId } = result;
    expect(await turn()).toBe(taskId);
    await expect.poll(calls, SOON).toEqual(['steps']);
    const get = async (of: typeof gate) => (await of.ask('tasks/get', { taskId, _meta: TASKS_META })).result;
    await expect.poll(async () => (await get(gate)).statusMessage, SOON).toBe('It runs: 1 of 2.');
    await gate.kill();
    const next = gateProcess(p.root, 'scout');
    expect((await next.ask('tasks/cancel', { taskId, _meta: TASKS_META })).error).toBeUndefined();
    await expect.poll(async () => (await runOf(taskId))?.result, SOON).toBe('partial');
    expect(await get(next)).toMatchObject({ status: 'completed' });
    expect(calls()).toEqual(['steps']);
  });
});
