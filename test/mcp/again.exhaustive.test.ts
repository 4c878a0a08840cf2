import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS, turned } from '../mcp-call/servers.ts';
import { gateProcess } from './process.ts';
import { enrolled, gate, idOf, TASKS_META, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };

async function odd(uses = 50) {
  const p = await mcpProject({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'] } });
  await accepted(p.keyturn, 'odd', p.ada);
  await enrolled(p);
  if (uses > 0)
    await p.keyturn.agents.delegate({
      delegate: 'scout',
      actions: ['mcp:odd:*'],
      ttl_s: 600,
      approves: true,
      grant: { uses },
      reason: 'a test',
      signer: p.ada,
    });
  const log = join(p.files, 'log');
  const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  return { p, calls };
}

/** The gate as a process whose pipes the test holds. */
function rawGate(root: string) {
  const gate = gateProcess(root, 'scout');
  const call = (id: number, how: string) =>
    gate.send({ id, method: 'tools/call', params: { name: 'odd__act', arguments: { how } } });
  return { ...gate, call };
}

/** The calls whose whole answer was written. */
const answers = (root: string) =>
  readFileSync(join(root, '.keyturn', 'mcp', 'calls.jsonl'), 'utf8').match(/"answered"/g) ?? [];

describe('a call that is asked for again', () => {
  it(
    'after the gate was killed before its answer was wholly written gets the recorded result, and runs once',
    LONG,
    async () => {
      const { p, calls } = await odd();
      const first = rawGate(p.root);
      // The answer is larger than the pipe, and the client does not read it: the gate cannot have written all of it.
      first.child.stdout.pause();
      first.call(1, 'sizable');
      const ended = async () =>
        (await p.keyturn.runs.list({})).runs.filter(({ result }) => result === 'success').length;
      await expect.poll(ended, { timeout: 60_000 }).toBe(1);
      await first.kill();
      const { client } = await gate(p, { hold_ms: 20_000 });
      const again = () => client.callTool({ name: 'odd__act', arguments: { how: 'sizable' } });
      expect(textOf(await again())).toContain('It did not run again');
      expect(calls()).toEqual(['sizable']);
      // This answer was read, so the same call is a new one.
      await expect.poll(() => answers(p.root)).toHaveLength(1);
      expect(textOf(await again())).not.toContain('It did not run again');
      expect(calls()).toEqual(['sizable', 'sizable']);
      expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(8);
    },
  );

  it(
    'after the gate was killed while it ran is in doubt, and is not sent again once a human settled that it happened',
    LONG,
    async () => {
      const { p, calls } = await odd();
      const first = rawGate(p.root);
      first.call(1, 'hang');
      await expect.poll(calls, { timeout: 60_000 }).toEqual(['hang']);
      await first.kill();
      const [run] = (await p.keyturn.runs.list({})).runs;
      const { intent_id, execution_id } = run!;
      const second = gateProcess(p.root, 'scout');
      const call = async () =>
        (await second.ask('tools/call', { name: 'odd__act', arguments: { how: 'hang' } })).result;
      const task = async () =>
        (await second.ask('tasks/get', { taskId: intent_id, _meta: TASKS_META })).result;
      const doubt = await call();
      expect(textOf(doubt)).toContain(`IN DOUBT`);
      expect(textOf(doubt)).toContain(`keyturn resolve ${execution_id}`);
      const status = await second.ask('tools/call', { name: 'keyturn_status', arguments: { id: intent_id } });
      expect(textOf(status.result)).toBe(textOf(doubt));
      const done = await task();
      expect(done).toMatchObject({ status: 'completed', statusMessage: 'IN DOUBT' });
      expect(textOf(done.result)).toBe(textOf(doubt));
      await p.keyturn.runs.resolve({ execution_id, outcome: 'happened', reason: 'I looked', signer: p.ada });
      const again = await call();
      expect(textOf(again)).toContain('It HAPPENED');
      expect(textOf(again)).toContain(`the recorded result of ${intent_id}`);
      expect(calls()).toEqual(['hang']);
      // That was read, so the same call is a new one.
      await expect.poll(() => answers(p.root)).toHaveLength(1);
      second.send({ id: 99, method: 'tools/call', params: { name: 'odd__act', arguments: { how: 'hang' } } });
      await expect.poll(calls, { timeout: 60_000 }).toEqual(['hang', 'hang']);
    },
  );

  it('after the gate was killed when its answer was read is a new call, and runs again', LONG, async () => {
    const { p, calls } = await odd();
    const first = rawGate(p.root);
    first.call(1, 'read');
    await expect.poll(() => first.lines.length, { timeout: 60_000 }).toBe(1);
    await expect.poll(() => answers(p.root)).toHaveLength(1);
    await first.kill();
    const { client } = await gate(p, { hold_ms: 20_000 });
    expect(textOf(await client.callTool({ name: 'odd__act', arguments: { how: 'read' } }))).toBe('did read');
    expect(calls()).toEqual(['read', 'read']);
  });

  it('in two processes at the same moment is one intent', LONG, async () => {
    const { p, calls } = await odd(0);
    const gates = [rawGate(p.root), rawGate(p.root), rawGate(p.root)];
    for (const one of gates) one.call(1, 'same');
    const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents.length;
    await expect.poll(waiting, { timeout: 60_000 }).toBe(1);
    const { intent_id } = (await p.keyturn.intents.list({ status_word: 'waiting' })).intents[0]!;
    await turned(p, intent_id);
    for (const { lines } of gates) await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(1);
    expect(calls()).toEqual(['same']);
  });

  it(
    'under a grant in several gates at the same moment is sent once, and each is told its result',
    LONG,
    async () => {
      const { p, calls } = await odd();
      const gates = [rawGate(p.root), rawGate(p.root), rawGate(p.root)];
      const params = { name: 'odd__act', arguments: { how: 'steps' }, _meta: { progressToken: 'mine' } };
      for (const { send } of gates) send({ id: 1, method: 'tools/call', params });
      // Each gate hears of the run before it ends.
      const progress = ({ heard }: (typeof gates)[number]) =>
        heard().filter(({ method }) => method === 'notifications/progress').length;
      await expect.poll(() => gates.every((one) => progress(one) > 0), { timeout: 60_000 }).toBe(true);
      for (const n of [1, 2]) writeFileSync(join(p.files, `log.step-${n}`), '');
      for (const { heard } of gates) {
        const answer = () => heard().find(({ id }) => id === 1)?.result;
        await expect.poll(answer, { timeout: 60_000 }).toBeDefined();
        expect(textOf(answer())).toBe('did steps');
      }
      expect(calls()).toEqual(['steps']);
      expect((await p.keyturn.runs.list({})).runs).toHaveLength(1);
    },
  );

  it(
    'goes on waiting when client and gate went away, and is taken back when the client cancels',
    LONG,
    async () => {
      const { p, calls } = await odd(0);
      const { client } = await gate(p);
      const id = idOf(await client.callTool({ name: 'odd__act', arguments: { how: 'later' } }));
      await client.close();
      expect((await p.keyturn.intents.result({ intent_id: id })).status_word).toBe('waiting');
      const raw = rawGate(p.root);
      raw.call(5, 'later');
      raw.call(6, 'other');
      const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents.length;
      await expect.poll(waiting, { timeout: 60_000 }).toBe(2);
      raw.send({ method: 'notifications/cancelled', params: { requestId: 5 } });
      await expect
        .poll(async () => (await p.keyturn.intents.result({ intent_id: id })).status_word, {
          timeout: 60_000,
        })
        .toBe('withdrawn');
      expect(raw.lines).toEqual([]);
      expect(calls()).toEqual([]);
    },
  );

  it(
    'with garbage, duplicate members or an id in use is answered as an error, and nothing else is on stdout',
    LONG,
    async () => {
      const { p } = await odd(0);
      const raw = rawGate(p.root);
      raw.child.stdin.write('not json\n');
      raw.child.stdin.write('{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/call"}\n');
      raw.child.stdin.write('[]\n');
      raw.send({ id: 4, method: 'tools/call', params: { name: 'odd__act', arguments: 7 } });
      raw.send({ id: 5, method: 'tools/call', params: { name: 'nobody', arguments: {} } });
      raw.send({
        id: 6,
        method: 'initialize',
        params: { protocolVersion: '1.0', capabilities: {}, clientInfo: {} },
      });
      await expect.poll(() => raw.lines.length, { timeout: 60_000 }).toBe(6);
      const answers = raw.lines.map((line) => JSON.parse(line));
      const of = (id: number | null) => answers.filter((one) => one.id === id);
      expect(of(null).map(({ error }) => error.code)).toEqual([-32700, -32600]);
      expect(of(3)[0].error.message).toContain('JSON_DUPLICATE_KEY');
      expect(of(4)[0].error.code).toBe(-32602);
      expect(of(5)[0].result.isError).toBe(true);
      expect(of(6)[0].result.protocolVersion).toBe('2025-11-25');
    },
  );
});

describe('calls that a grant covers', () => {
  it('are each answered where 200 come at once, sent once each, and counted', {
    timeout: 400_000,
  }, async () => {
    const { p, calls } = await odd(200);
    const gate = rawGate(p.root);
    for (let n = 0; n < 200; n += 1) gate.call(n, `n${n}`);
    await expect.poll(() => gate.lines.length, { timeout: 380_000 }).toBe(200);
    const told = gate.heard().map(({ result, error }) => error?.message ?? textOf(result));
    const did = told.flatMap((words) => /^did (n\d+)$/.exec(words)?.[1] ?? []);
    expect(calls().sort()).toEqual(did.sort());
    expect(new Set(did).size).toBe(did.length);
    // What is not sent says why, and a human decides about it.
    for (const words of told.filter((one) => !one.startsWith('did ')))
      expect(words).toMatch(/^NOT RUN|Too many calls at once/);
    expect(did.length).toBeGreaterThan(0);
    const [{ delegation_id } = { delegation_id: '' }] = (await p.keyturn.agents.delegations()).delegations;
    const uses = (await p.keyturn.ledger.entries({ kind: 'intent.delegated', limit: 500 } as never)).entries;
    expect(uses).toHaveLength(did.length);
    expect(JSON.stringify(uses[0])).toContain(delegation_id);
  });
});
