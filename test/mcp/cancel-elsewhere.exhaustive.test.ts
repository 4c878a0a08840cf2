import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { turned } from '../mcp-call/servers.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { piped } from './piped.ts';
import { posted } from './posted.ts';
import { TASKS_META } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };

const calls = ({ files }: { readonly files: string }) =>
  existsSync(join(files, 'log')) ? readFileSync(join(files, 'log'), 'utf8').trim().split('\n') : [];
const wishes = ({ root }: Project) =>
  readdirSync(join(root, '.keyturn', 'runs')).filter((name) => name.endsWith('.stop'));
const waiting = async ({ keyturn }: Project) => (await keyturn.intents.list({ standing: 'waiting' })).intents;

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
    expect((await running).result).toBe('partial');
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({ standing: 'IN DOUBT' });
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
    const standing = async () => (await p.keyturn.intents.result({ intent_id: taskId })).run?.result;
    await expect.poll(standing, SOON).toBe('partial');
    expect(calls(p)).toEqual(['hang']);
  });
});
