import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateKeyPair, privateKeyOf, sign } from '../../src/canonical/ed25519.ts';
import { controlPlaneAt } from '../../src/cli/control-plane.ts';
import { signedHeaders } from '../../src/client/signed.ts';
import { type Executed, Keyturn } from '../../src/keyturn.ts';
import { kinds, PERMITS, policy, rules } from '../journey/authority.ts';
import { anotherHost, type Shared, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { cliPath } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { call, refusalIn, serving } from './service.ts';

const server = postgres();

/** Appends a line, so that every run can be counted; then it may wait. */
const tools = (script: string) => `version: 1
tools:
  - name: mark
    summary: Appends a word to a file.
    executable: ${script}
    args: ["{word}", "{seconds}"]
    parameters: { word: { type: string, max_length: 20 }, seconds: { type: integer, min: 0, max: 60 } }
    cwd: /
    sandbox: none
    undo: none
    executor: far
`;

/** A project with its control key, a service of it, and a second host that has the key of an executor and no other. */
async function fleet(tenant: string) {
  const folder = scratch();
  const marks = join(folder, 'marks');
  const script = join(folder, 'mark.sh');
  writeFileSync(script, `#!/bin/sh\necho "$1" >> ${marks}\nexec sleep "$2"\n`, { mode: 0o755 });
  const p = await shared(server(), tenant, tools(script));
  const host = await anotherHost(p);
  await host.keyturn.system.addExecutor({
    name: 'executor',
    labels: ['far'],
    reason: 'a test',
    signer: p.ada,
  });
  const keys = readdirSync(join(host.root, '.keyturn', 'keys'));
  expect(keys).toEqual(['executor.seed']);
  const s = await serving(p);
  const marked = () => (existsSync(marks) ? readFileSync(marks, 'utf8').trim().split('\n') : []);
  return { p, host, s, marked };
}

async function turned({ keyturn, ada }: Shared, word: string, seconds = 0) {
  const { intent_id, hash } = await keyturn.intents.propose({
    declared_goal: 'Mark.',
    effect: { kind: 'tool', tool: 'mark', arguments: { word, seconds } },
    signer: ada,
  });
  const { capability_id: order_id } = await keyturn.intents.turn({ intent_id, hash, signer: ada });
  return { intent_id, hash, order_id };
}

/** An executor of the second host, in this process, that asks the service. */
async function executorAt({ root }: Pick<Project, 'root'>, address: string) {
  const keyturn = await Keyturn.open({ at: root });
  const told: Executed[] = [];
  const stop = new AbortController();
  const done = keyturn.host.execute({
    signal: stop.signal,
    grace_ms: 100,
    most: 2,
    control_plane: controlPlaneAt(keyturn, address),
    tell: (one) => told.push(one),
  });
  const end = async () => {
    stop.abort();
    await done.catch(() => {});
    await keyturn.close();
  };
  onTestFinished(end);
  return { told, end };
}

/** `keyturn execute --control-plane` as a process of its own. */
async function executing(cwd: string, address: string): Promise<ChildProcess> {
  const words = [cliPath(), 'execute', '--control-plane', address];
  const child = spawn(process.execPath, words, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr!.on('data', (part) => {
    said += part;
  });
  await until(() => said.includes('Ctrl-C ends it') || child.exitCode !== null);
  expect(said).toContain('Ctrl-C ends it');
  return child;
}

describe('an executor on a host without a control key', () => {
  it('runs what was turned, once, with what the service issued; all of it verifies', async () => {
    const { p, host, s, marked } = await fleet('runs');
    const { told, end } = await executorAt(host, s.address);
    const far = async () =>
      (await p.keyturn.system.get()).executors.find(({ labels }) => labels.includes('far'))!.heard;
    await until(async () => (await far())?.is_running === true);
    const { intent_id } = await turned(p, 'one');
    expect((await p.keyturn.intents.waitFor({ intent_id })).status).toBe('succeeded');
    await until(() => told.length === 2);
    expect(told.map(({ outcome }) => outcome)).toEqual(['claimed', 'success']);
    expect(marked()).toEqual(['one']);
    expect((await kinds(p, intent_id)).slice(-3)).toEqual([
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
    await p.keyturn.ledger.verify({ deep: true });
    await end();
    expect(await far()).toMatchObject({ is_running: false });
    const next = await turned(p, 'none');
    expect((await p.keyturn.intents.story({ intent_id: next.intent_id })).waits_for).toEqual({
      executor: 'far',
      enrolled: 1,
      running: 0,
      is_here: false,
    });
  }, 120_000);

  it('claims nothing while the service is gone, and goes on when it is back', async () => {
    const { p, host, s, marked } = await fleet('gone');
    await s.stop();
    const { told } = await executorAt(host, s.address);
    const { intent_id } = await turned(p, 'two');
    await until(() => told.length > 0);
    expect(told).toMatchObject([{ outcome: 'waits', code: 'SERVICE_UNREACHABLE' }]);
    expect(await kinds(p, intent_id)).not.toContain('execution.claimed');
    expect(await kinds(p, intent_id)).not.toContain('execution.refused');
    expect(marked()).toEqual([]);
    await serving(p, { port: s.port });
    expect((await p.keyturn.intents.waitFor({ intent_id })).status).toBe('succeeded');
    expect(marked()).toEqual(['two']);
  }, 120_000);

  it('leaves its run in doubt when it is killed, and nobody runs it again', async () => {
    const { p, host, s, marked } = await fleet('killed');
    const child = await executing(host.root, s.address);
    const { intent_id } = await turned(p, 'three', 60);
    await until(() => marked().length === 1);
    child.kill('SIGKILL');
    await new Promise((done) => child.once('exit', done));
    const { told } = await executorAt(host, s.address);
    const after = await turned(p, 'four');
    expect((await p.keyturn.intents.waitFor({ intent_id: after.intent_id })).status).toBe('succeeded');
    expect(told.map((one) => one.intent_id)).not.toContain(intent_id);
    expect((await p.keyturn.intents.get({ intent_id })).status_word).toBe('IN DOUBT');
    expect(marked()).toEqual(['three', 'four']);
  }, 120_000);

  it('is told what the policies deny, and the order ends with their decision', async () => {
    const { p, host, s, marked } = await fleet('denied');
    const { intent_id } = await turned(p, 'five');
    const never = policy(
      'never',
      'capability',
      'forbid (principal, action == Keyturn::Action::"grant", resource);',
    );
    await rules(p, `${PERMITS}\n${never}`);
    const { told } = await executorAt(host, s.address);
    await until(() => told.length === 1);
    expect(told).toMatchObject([{ outcome: 'refused', code: 'POLICY_DENIED' }]);
    expect((await kinds(p, intent_id)).at(-1)).toBe('order.denied');
    expect(marked()).toEqual([]);
    await p.keyturn.ledger.verify({ deep: true });
  }, 120_000);
});

describe('a request of an executor', () => {
  const PATH = '/v1/executor/issue';

  async function signed(
    { address }: { readonly address: string },
    keyturn: Keyturn,
    body: string,
    over: { name?: string; sign?: (bytes: Uint8Array) => string } = {},
  ) {
    const signer = { ...keyturn.host.executorSigner(), ...over };
    return signedHeaders(signer, `${address}${PATH}`, body, { 'content-type': 'application/json' });
  }

  it('is refused where it is forged, replayed, of another order, or of a key that is none or was revoked', async () => {
    const { p, host, s } = await fleet('forged');
    const { intent_id, hash, order_id } = await turned(p, 'six');
    const body = JSON.stringify({ intent_id, hash, order_id });
    const asks = async (headers: Readonly<Record<string, string>>, sent = body) =>
      call(s, PATH, sent, { headers: { ...headers } });

    const headers = await signed(s, host.keyturn, body);
    const answer = await asks(headers);
    expect([answer.status, Object.keys(answer.body).sort()]).toEqual([200, ['decision', 'issued', 'token']]);
    expect(refusalIn(await asks(headers))).toEqual([401, 'MESSAGE_REPLAYED']);
    const other = JSON.stringify({ intent_id, hash, order_id: intent_id });
    expect(refusalIn(await asks(await signed(s, host.keyturn, body), other))).toEqual([
      401,
      'MESSAGE_SIGNATURE_INVALID',
    ]);
    expect((await asks(await signed(s, host.keyturn, other), other)).body.code).toBe('ORDER_MISSING');
    const { public_key, seed } = generateKeyPair();
    const key = privateKeyOf(seed);
    const forged = await signed(s, host.keyturn, body, { sign: (bytes) => sign(bytes, key) });
    expect(refusalIn(await asks(forged))).toEqual([401, 'MESSAGE_SIGNATURE_INVALID']);
    const stranger = { name: `executor:${public_key}`, sign: (bytes: Uint8Array) => sign(bytes, key) };
    expect(refusalIn(await asks(await signed(s, host.keyturn, body, stranger)))).toEqual([
      401,
      'MESSAGE_SIGNATURE_INVALID',
    ]);
    expect(refusalIn(await asks({}))).toEqual([401, 'CALLER_UNPROVEN']);
    // Asking writes nothing: only the claim does.
    expect((await kinds(p, intent_id)).at(-1)).toBe('order.given');

    const own = host.keyturn.host.executorSigner().name.slice('executor:'.length);
    await p.keyturn.system.revokeExecutor({ public_key: own, reason: 'lost', signer: p.ada });
    expect(refusalIn(await asks(await signed(s, host.keyturn, body)))).toEqual([
      401,
      'MESSAGE_SIGNATURE_INVALID',
    ]);
  }, 120_000);

  it('is no way for an executor that the order is not for', async () => {
    const { p, s } = await fleet('elsewhere');
    const third = await anotherHost(p);
    await third.keyturn.system.addExecutor({ name: 'other', labels: [], reason: 'a test', signer: p.ada });
    const { intent_id, hash, order_id } = await turned(p, 'seven');
    const body = JSON.stringify({ intent_id, hash, order_id });
    const answer = await call(s, PATH, body, { headers: { ...(await signed(s, third.keyturn, body)) } });
    expect(answer.body.code).toBe('EXECUTOR_ELSEWHERE');
    rmSync(join(third.root, '.keyturn', 'keys', 'executor.seed'));
    await expectRefusal('EXECUTOR_UNKNOWN', async () => third.keyturn.host.executorSigner());
  }, 120_000);
});
