import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { isRunning, until } from '../support/processes.ts';
import { type Project, project } from '../support/project.ts';
import { cliPath } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { authority, call, granted, yes } from './authority.ts';

const propose = (p: Project, over: object = {}) =>
  p.keyturn.intents.propose({
    declared_goal: 'Say hello.',
    ...call('say', { word: 'hello' }),
    ...over,
  } as never);

/** Another process, as far as the store can tell. */
async function elsewhere<T>(p: Project, act: (other: Project) => Promise<T>): Promise<T> {
  const keyturn = await Keyturn.open({ at: p.root });
  try {
    return await act({ ...p, keyturn });
  } finally {
    await keyturn.close();
  }
}

async function ran(p: Project, intent: { intent_id: string; hash: string }) {
  const { intent_id, hash } = intent;
  await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
  await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
  return runSeen(p.keyturn, { intent_id, hash, confirm: yes });
}

describe('the result of an intent', () => {
  it('says where it stands, how its run ended and what that printed', async () => {
    const p = await authority();
    const intent = await propose(p);
    expect(await p.keyturn.intents.result({ intent_id: intent.intent_id })).toEqual({
      intent_id: intent.intent_id,
      status: 'proposed',
      status_word: 'waiting',
      is_over: false,
      reason: null,
      replaced_by: null,
      run: null,
      undo: null,
      undone_by: null,
    });
    await ran(p, intent);
    expect(await p.keyturn.intents.result({ intent_id: intent.intent_id })).toMatchObject({
      status_word: 'succeeded',
      is_over: true,
      run: { result: 'success', exit_code: 0, output: { stdout: 'hello\n', stderr: '' } },
    });
  });

  it('says why it was rejected or withdrawn', async () => {
    const p = await authority();
    const [one, two] = [await propose(p), await propose(p)];
    const { intent_id, hash } = one;
    await p.keyturn.intents.reject({ intent_id, hash, reason: 'Not today.', signer: p.ada });
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({
      is_over: true,
      reason: 'Not today.',
    });
    await p.keyturn.intents.withdraw({ intent_id: two.intent_id, reason: 'Too late.', receipt: two.receipt });
    expect(await p.keyturn.intents.result({ intent_id: two.intent_id })).toMatchObject({
      is_over: true,
      reason: 'Too late.',
    });
  });

  it('says that an output was erased', async () => {
    const p = await authority();
    const intent = await propose(p);
    const { execution_id } = await ran(p, intent);
    const story = await p.keyturn.intents.story({ intent_id: intent.intent_id });
    const { stdout } = story.outputs.find((one) => one.execution_id === execution_id)!;
    await p.keyturn.ledger.erase({ digest: stdout!, reason: 'private', signer: p.ada } as never);
    expect((await p.keyturn.intents.result({ intent_id: intent.intent_id })).run?.output).toEqual({
      absent: 'erased',
    });
  });

  it('of an intent that is not there is refused', async () => {
    const p = await authority();
    await expectRefusal('INTENT_NOT_FOUND', () => p.keyturn.intents.result({ intent_id: randomUUID() }));
  });
});

describe('waiting for an intent', () => {
  it('ends when another process has run it', async () => {
    const p = await authority();
    const intent = await propose(p);
    const decided = p.keyturn.intents.waitFor({ intent_id: intent.intent_id, until: 'decided' });
    const ended = p.keyturn.intents.waitFor({ intent_id: intent.intent_id });
    await elsewhere(p, (other) => ran(other, intent));
    expect((await decided).status_word).not.toBe('waiting');
    expect(await ended).toMatchObject({ status_word: 'succeeded', run: { output: { stdout: 'hello\n' } } });
  });

  it('is over at once for what has ended', async () => {
    const p = await authority();
    const intent = await granted(p);
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(await p.keyturn.intents.waitFor({ intent_id: intent.intent_id })).toMatchObject({ is_over: true });
  });

  it('ends for each of many who wait, and nobody else', async () => {
    const p = await authority();
    const intents = await Promise.all(Array.from({ length: 10 }, () => propose(p)));
    const waits = intents.map(({ intent_id }) => p.keyturn.intents.waitFor({ intent_id }));
    let open = waits.length;
    for (const wait of waits) void wait.then(() => (open -= 1));
    for (const { intent_id, receipt } of intents.slice(0, 9))
      await p.keyturn.intents.withdraw({ intent_id, reason: 'enough', receipt });
    await Promise.all(waits.slice(0, 9));
    expect(open).toBe(1);
    const last = intents[9]!;
    await p.keyturn.intents.withdraw({ intent_id: last.intent_id, reason: 'enough', receipt: last.receipt });
    expect(await waits[9]).toMatchObject({ status_word: 'withdrawn' });
  });

  it('ends when it expires, which no entry says', async () => {
    let ahead_ms = 0;
    const p = await authority(() => new Date(Date.now() + ahead_ms));
    const expiry = new Date(Date.now() + 600_000).toISOString();
    const { intent_id } = await propose(p, { expiry });
    ahead_ms = 599_900;
    expect(await p.keyturn.intents.waitFor({ intent_id })).toMatchObject({
      status_word: 'expired',
      is_over: true,
    });
  });

  it('ends with the reason of its signal, before and while it waits', async () => {
    const p = await authority();
    const { intent_id } = await propose(p);
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(p.keyturn.intents.waitFor({ intent_id, signal })).rejects.toThrow('gone');
    const controller = new AbortController();
    const waiting = p.keyturn.intents.waitFor({ intent_id, signal: controller.signal });
    const lost = expect(waiting).rejects.toThrow('went away');
    controller.abort(new Error('went away'));
    await lost;
  });

  it('goes on for one whose words were erased, and says so at its end', async () => {
    const p = await authority();
    const { intent_id, hash, receipt } = await propose(p);
    const waiting = p.keyturn.intents.waitFor({ intent_id });
    await p.keyturn.ledger.erase({ digest: hash, reason: 'A test.', signer: p.ada });
    await p.keyturn.intents.withdraw({ intent_id, reason: 'enough', receipt });
    expect(await waiting).toMatchObject({ status_word: 'withdrawn', is_over: true, reason: 'enough' });
    expect(await p.keyturn.intents.waitFor({ intent_id })).toMatchObject({ status_word: 'withdrawn' });
  });

  it('is refused when the store is removed meanwhile', async () => {
    const p = await authority();
    const { intent_id } = await propose(p);
    const waiting = expectRefusal('STORE_MISSING', () => p.keyturn.intents.waitFor({ intent_id }));
    rmSync(p.keyturn.layout.store);
    await waiting;
  });

  it('is refused for one that is not there, and when the store is closed meanwhile', async () => {
    const p = await authority();
    await expectRefusal('INTENT_NOT_FOUND', () => p.keyturn.intents.waitFor({ intent_id: randomUUID() }));
    const { intent_id } = await propose(p);
    const other = await Keyturn.open({ at: p.root });
    const waiting = expectRefusal('STORE_CLOSED', () => other.intents.waitFor({ intent_id }));
    await other.close();
    await waiting;
    await expectRefusal('STORE_CLOSED', () => other.intents.list({}));
    await expectRefusal('STORE_CLOSED', () =>
      other.system.freeze({ scope: 'system', reason: 'late', signer: p.ada }),
    );
  });
});

const HELD = `version: 1
tools:
  - name: hold
    summary: Ends once there is a file.
    executable: /bin/sh
    args: ["-c", "while [ ! -e gate ]; do sleep 0.02; done"]
    parameters: {}
    sandbox: none
    undo: none
`;

/**
 * A run in another process, which ends and records its end at the first look at the clock after `arm`: after the state was read, and
 * before the caller looks whether its process lives.
 */
async function endsWhileLookedAt() {
  let armed: (() => void) | null = null;
  const p = await project(HELD, () => {
    const end = armed;
    armed = null;
    end?.();
    return new Date();
  });
  const effect = { kind: 'tool' as const, tool: 'hold', arguments: {} };
  const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'Hold.', effect });
  await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
  const executor = spawn(process.execPath, [cliPath(), 'execute'], { cwd: p.root, stdio: 'ignore' });
  onTestFinished(() => void executor.kill('SIGKILL'));
  await until(async () => (await p.keyturn.intents.get({ intent_id })).status === 'claimed');
  const { execution_id } = (await p.keyturn.intents.get({ intent_id })).runs.at(-1)!;
  const arm = () => {
    armed = () => {
      writeFileSync(join(p.root, 'gate'), '');
      expect(spawnSync(process.execPath, [cliPath(), 'wait', intent_id], { cwd: p.root }).status).toBe(0);
      executor.kill('SIGKILL');
      while (isRunning(executor.pid!));
    };
  };
  return { keyturn: p.keyturn, signer: p.ada, intent_id, execution_id, arm, isArmed: () => armed !== null };
}

describe('a run that ends, and its process with it, while somebody looks', () => {
  it('is not in doubt for who waits for it', async () => {
    const { keyturn, intent_id, arm, isArmed } = await endsWhileLookedAt();
    arm();
    expect(await keyturn.intents.waitFor({ intent_id })).toMatchObject({ status_word: 'succeeded' });
    expect(isArmed()).toBe(false);
  });
});
