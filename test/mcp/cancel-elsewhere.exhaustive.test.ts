import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { accepted, mcpProject, SERVERS, turned } from '../mcp-call/servers.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { piped } from './piped.ts';
import { posted } from './posted.ts';
import { gateProcess } from './process.ts';
import { enrolled, TASKS_META } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };

const calls = ({ files }: { readonly files: string }) =>
  existsSync(join(files, 'log')) ? readFileSync(join(files, 'log'), 'utf8').trim().split('\n') : [];
const wishes = ({ root }: Project) =>
  readdirSync(join(root, '.keyturn', 'runs')).filter((name) => name.endsWith('.stop'));
const waiting = async ({ keyturn }: Project) =>
  (await keyturn.intents.list({ status_word: 'waiting' })).intents;

/** Runs the only call that waits, as an executor in another process does. */
async function runElsewhere(p: Project) {
  const keyturn = await Keyturn.open({ at: p.root });
  onTestFinished(() => keyturn.close());
  await expect.poll(() => waiting(p), SOON).toHaveLength(1);
  const { intent_id } = (await waiting(p))[0]!;
  return { intent_id, running: turned({ ...p, keyturn }, intent_id) };
}

describe('a call that runs in another process, and that its client cancels', () => {
  it('is asked to stop there, and ends in doubt, sent once', LONG, async () => {
    const { p, act, raw } = await piped({}, { hold_ms: 20_000 });
    act(1, { how: 'hang' });
    const { intent_id, running } = await runElsewhere(p);
    await expect.poll(() => calls(p), SOON).toEqual(['hang']);
    const { execution_id } = (await p.keyturn.intents.result({ intent_id })).run!;
    await p.keyturn.people.enrol({ name: 'spy', principal: 'agent', public_key: null, signer: p.ada });
    await expectRefusal('EXECUTION_NOT_FOUND', () =>
      p.keyturn.as({ name: 'spy' }).runs.cancel({ execution_id }),
    );
    raw(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }));
    expect(await running).toMatchObject({ result: 'partial', reason_code: 'RUN_CANCELLED' });
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({ status_word: 'IN DOUBT' });
    // A run that is over is not asked, and nothing is left of what asked for it.
    expect(await p.keyturn.runs.cancel({ execution_id })).toEqual({ asked: false });
    expect(wishes(p)).toEqual([]);
    expect(calls(p)).toEqual(['hang']);
  });

  it('is a task over HTTP that the executor of the service runs', LONG, async () => {
    const { p, post, turn } = await posted();
    const ask = async (method: string, params: object) =>
      (await post({ id: 1, method, params: { ...params, _meta: TASKS_META } })).body;
    const { result } = await ask('tools/call', { name: 'odd__act', arguments: { how: 'hang' } });
    const { taskId } = result;
    await turn(taskId);
    await expect.poll(() => calls(p), SOON).toEqual(['hang']);
    expect((await ask('tasks/cancel', { taskId })).error).toBeUndefined();
    const ended = async () => (await p.keyturn.intents.result({ intent_id: taskId })).run?.result;
    await expect.poll(ended, SOON).toBe('partial');
    expect(calls(p)).toEqual(['hang']);
  });
});

describe('a call that runs in the gate, and that its client cancels', () => {
  const cancelled = (requestId: number) =>
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

  it('in shadow mode is recorded as cancelled, and not as a server that was lost', LONG, async () => {
    const { p, act, raw } = await piped({ mode: 'shadow' });
    act(1, { how: 'hang' });
    await expect.poll(() => calls(p), SOON).toEqual(['hang']);
    raw(cancelled(1));
    const ended = async () => (await p.keyturn.ledger.entries({ kind: 'mcp.shadow_ended' } as never)).entries;
    await expect.poll(ended, SOON).toHaveLength(1);
    const about = await entriesAbout(p.keyturn, (await ended())[0]!.subject);
    const entry = about.find(({ kind }) => kind === 'mcp.shadow_ended');
    expect(entry!.body).toMatchObject({ result: 'partial', reason_code: 'RUN_CANCELLED' });
  });

  it('under a grant is recorded as cancelled', LONG, async () => {
    const p = await mcpProject({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'] } });
    await accepted(p.keyturn, 'odd', p.ada);
    await enrolled(p);
    await p.keyturn.agents.delegate({
      ...{ delegate: 'scout', actions: ['mcp:odd:*'], ttl_s: 600, approves: true },
      ...{ grant: { uses: 5 }, reason: 'a test', signer: p.ada },
    });
    const gate = gateProcess(p.root, 'scout');
    gate.send({ id: 1, method: 'tools/call', params: { name: 'odd__act', arguments: { how: 'hang' } } });
    await expect.poll(() => calls(p), { timeout: 60_000 }).toEqual(['hang']);
    gate.child.stdin.write(`${cancelled(1)}\n`);
    const ended = async () => (await p.keyturn.runs.list({})).runs[0];
    await expect.poll(async () => (await ended())?.result, SOON).toBe('partial');
    const { intent_id } = (await ended())!;
    const found = (await entriesAbout(p.keyturn, intent_id)).find(
      ({ kind }) => kind === 'execution.finished',
    );
    expect(found!.body).toMatchObject({ reason_code: 'RUN_CANCELLED' });
  });
});
