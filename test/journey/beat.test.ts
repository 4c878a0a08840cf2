import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { call, serving, session, withToken } from '../serve/service.ts';
import { until } from '../support/processes.ts';
import { type Project, project } from '../support/project.ts';
import { authority, proposeSay } from './authority.ts';
import { executorOf } from './executing.ts';

const BOUND = `version: 1
tools:
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["{word}"]
    parameters: { word: { type: string, max_length: 100 } }
    sandbox: none
    undo: none
    executor: database
`;

const heard = async ({ keyturn }: Project) => (await keyturn.system.get()).executors[0]!.heard;
const isRunning = async (p: Project) => (await heard(p))?.is_running === true;

describe('an executor', () => {
  it('is heard while it runs, and last heard once it stopped; no entry tells of it', async () => {
    const p = await authority();
    expect(await heard(p)).toBeNull();
    const { size } = await p.keyturn.ledger.head();
    const { end } = await executorOf(p);
    await until(() => isRunning(p));
    const { since, at } = (await heard(p))!;
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(since));
    await end();
    expect(await heard(p)).toMatchObject({ is_running: false, since });
    expect((await p.keyturn.ledger.head()).size).toBe(size);
  });

  it('that said nothing for long is not running, whatever it said last; damage says nothing', async () => {
    const p = await authority();
    const { public_key } = (await p.keyturn.system.get()).executors[0]!;
    const path = join(p.root, '.keyturn', 'beat.json');
    const at = new Date(Date.now() - 16_000).toISOString();
    writeFileSync(path, JSON.stringify({ [public_key]: { instance: 'x', since: at, at, is_running: true } }));
    expect(await heard(p)).toEqual({ is_running: false, since: at, at });
    writeFileSync(path, '{"damaged');
    expect(await heard(p)).toBeNull();
  });
});

describe('what waits for an executor', () => {
  it('says that none is running which could take it: status, story, /readyz and /metrics', async () => {
    const p = await project(BOUND);
    const { public_key } = generateKeyPair();
    await p.keyturn.system.addExecutor({
      public_key,
      name: 'far',
      labels: ['database'],
      reason: 'a test',
      signer: p.ada,
    });
    const { token } = await withToken(p, 'bot');
    await executorOf(p);
    const s = await serving(p);
    const intent = await proposeSay(p);
    await p.keyturn.intents.turn({ ...intent, signer: p.ada });
    const waits_for = { executor: 'database', enrolled: 1, running: 0, is_here: false };
    expect((await p.keyturn.system.status()).approved).toMatchObject([{ waits_for }]);
    const { intent_id } = intent;
    expect((await p.keyturn.intents.story({ intent_id })).waits_for).toEqual(waits_for);
    await until(() => isRunning(p));
    await until(async () => (await call(s, '/readyz')).body.executors?.running === 1);
    const { status, body } = await call(s, '/readyz');
    expect([status, body]).toEqual([
      200,
      { ready: true, reasons: [], executors: { enrolled: 2, running: 1, unserved: 1 } },
    ]);
    const { text } = await call(s, '/metrics', undefined, { token });
    for (const line of ['keyturn_executors 2', 'keyturn_executors_running 1', 'keyturn_ordered_unserved 1'])
      expect(text.split('\n')).toContain(line);
    const told = await call(s, '/v1/system/get', {}, { cookie: await session(s) });
    expect(told.body.executors.map((one: { heard: object | null }) => one.heard !== null)).toEqual([
      true,
      false,
    ]);
  });

  it('says nothing of the kind once one runs', async () => {
    const p = await project(BOUND);
    await p.keyturn.system.addExecutor({ labels: ['database'], reason: 'a test', signer: p.ada });
    const { told } = await executorOf(p);
    const intent = await proposeSay(p);
    await p.keyturn.intents.turn({ ...intent, signer: p.ada });
    await until(() => told.some(({ outcome }) => outcome === 'success'));
    const { intent_id } = intent;
    expect((await p.keyturn.intents.story({ intent_id })).waits_for).toBeNull();
  });
});
