import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { mcpLimits } from '../../src/limits.ts';
import { turned } from '../mcp-call/servers.ts';
import { piped } from './piped.ts';
import { idOf, TASKS_META, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };
const STEPS = { name: 'odd__act', arguments: { how: 'steps' } };

/** A call that a human approved, and that an executor in another process runs until the test lets it end. */
async function running() {
  const { p, send, answer } = await piped();
  send(1, 'tools/call', STEPS);
  const id = idOf((await answer(1)).result);
  const keyturn = await Keyturn.open({ at: p.root });
  const run = turned({ ...p, keyturn }, id);
  const end = async () => {
    for (const n of [1, 2]) writeFileSync(join(p.files, `log.step-${n}`), '');
    await run.catch(() => {});
  };
  onTestFinished(async () => {
    await end();
    await keyturn.close();
  });
  const word = async () => (await p.keyturn.intents.result({ intent_id: id })).status_word;
  await expect.poll(word, SOON).toBe('running');
  let last = 1;
  const ask = async (method: string, params: object) => {
    last += 1;
    send(last, method, params);
    return (await answer(last)).result;
  };
  const calls = () => readFileSync(join(p.files, 'log'), 'utf8').trim().split('\n');
  return { id, ask, end, calls };
}

describe('a call that runs', () => {
  it(
    'is told of as sent by keyturn_wait, keyturn_status and the same call, and is sent once',
    LONG,
    async () => {
      const { id, ask, end, calls } = await running();
      const own = (name: string) => ({ name, arguments: { id } });
      for (const params of [own('keyturn_wait'), own('keyturn_status'), STEPS]) {
        const told = await ask('tools/call', params);
        expect(told.isError).toBe(true);
        expect(textOf(told), params.name).toMatch(/^IT RUNS: /);
        expect(idOf(told)).toBe(id);
        expect(textOf(told)).not.toContain('turn the key');
      }
      expect(await ask('tasks/get', { taskId: id, _meta: TASKS_META })).toMatchObject({ status: 'working' });
      await end();
      for (const name of ['keyturn_status', 'keyturn_wait'])
        expect(textOf(await ask('tools/call', own(name)))).toBe('did steps');
      expect(calls()).toEqual(['steps']);
    },
  );
});

describe('a call in doubt', () => {
  it('that a human settles as happened long after its run is not made again at once', LONG, async () => {
    let now_ms = Date.now();
    const { p, send, answer } = await piped({}, { clock: () => new Date(now_ms) });
    const call = async (id: number) => {
      send(id, 'tools/call', { name: 'odd__act', arguments: { how: 'die' } });
      return (await answer(id)).result;
    };
    const intent_id = idOf(await call(1));
    const { execution_id } = await turned(p, intent_id);
    now_ms += 2 * mcpLimits.again_ms;
    expect(textOf(await call(2))).toContain(`keyturn resolve ${execution_id}`);
    await p.keyturn.runs.resolve({ execution_id, outcome: 'happened', reason: 'I looked', signer: p.ada });
    const told = await call(3);
    expect(told).toMatchObject({ isError: true, _meta: { 'keyturn/recorded': intent_id } });
    expect(textOf(told)).toContain('It HAPPENED');
    // That was read: from now on the same call is a new one, which waits for a human.
    expect(textOf(await call(4))).toContain('NOT RUN yet');
    expect((await p.keyturn.runs.list({})).runs).toHaveLength(1);
  });
});
