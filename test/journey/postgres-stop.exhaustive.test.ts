import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { postgres } from '../store/postgres-place.ts';
import { newestOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { kinds, proposeSay, yes } from './authority.ts';
import { planOf, proposed, replace } from './plan-story.ts';
import { anotherHost, type Shared, shared } from './postgres-host.ts';

/** Hosts that share a ledger and little else: one stops what runs on the other, and one has a clock of its own. */

const server = postgres();

/** Changes a file, then asks a question whose answer would take hours. */
const PLAN = planOf([
  replace('a1', 'notes.txt', 'old', 'new'),
  {
    action_id: 'a2',
    action_type: 'SQL_EXECUTE',
    target: 'data.duckdb',
    operation: {
      type: 'sql_execute',
      query: 'CREATE TABLE t AS SELECT count(*) AS n FROM range(3000000) a, range(3000000) b',
    },
    depends_on: ['a1'],
  },
]);

describe('a plan that runs on one host', () => {
  async function running(p: Shared) {
    const host = await anotherHost(p);
    for (const { root } of [p, host]) writeFileSync(join(root, 'notes.txt'), 'old\n');
    const intent = await proposed(p, PLAN, { issuer: 'ada' });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.grant({ ...intent, signer: p.ada });
    // What was only ordered is issued where the control key is.
    await expectRefusal('CONTROL_KEY_ELSEWHERE', () => runSeen(host.keyturn, { ...intent, confirm: yes }));
    const { capability_id } = await p.keyturn.intents.grant({ ...intent, signer: p.ada, is_issued: true });
    const run = runSeen(host.keyturn, { ...intent, confirm: yes });
    const notes = () => readFileSync(join(host.root, 'notes.txt'), 'utf8');
    await Promise.race([until(() => notes() === 'new\n'), run]);
    return { host, intent, run, notes, capability_id };
  }

  it('is stopped and rolled back by a freeze on another', async () => {
    const p = await shared(server(), 'plan-freeze');
    const { host, intent, run, notes } = await running(p);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'stop everything', signer: p.ada });
    expect(await run).toMatchObject({ result: 'rolled_back', reason_code: 'FROZEN' });
    expect(notes()).toBe('old\n');
    expect(existsSync(join(host.root, 'data.duckdb'))).toBe(false);
    expect((await kinds(p, intent.intent_id)).slice(-2)).toEqual([
      'violation.detected',
      'execution.finished',
    ]);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('rolled_back');
  });

  it('is stopped and rolled back by a revocation on another', async () => {
    const p = await shared(server(), 'plan-revoke');
    const { run, notes, capability_id } = await running(p);
    await p.keyturn.runs.revokeCapability({ capability_id, reason: 'the wrong one', signer: p.ada });
    expect(await run).toMatchObject({ result: 'rolled_back', reason_code: 'CAPABILITY_REVOKED' });
    expect(notes()).toBe('old\n');
  });
});

describe('a host whose clock is a day off', () => {
  const DAY_MS = 86_400_000;

  /** The same host, as a process would see it after an operator set its clock wrong. */
  async function hostAt(p: Shared, off_ms: number): Promise<Keyturn> {
    const keyturn = await Keyturn.open({ at: p.root, clock: () => new Date(Date.now() + off_ms) });
    onTestFinished(() => keyturn.close());
    return keyturn;
  }

  it.each([
    ['ahead', DAY_MS, 'CLOCK_AHEAD'],
    ['behind', -DAY_MS, 'CLOCK_BEHIND'],
  ] as const)(
    '%s neither approves nor grants nor runs, says why, and nothing is lost',
    async (name, off_ms, code) => {
      const p = await shared(server(), `clock-${name}`);
      const intent = await proposeSay(p);
      const off = await hostAt(p, off_ms);
      const before = await p.keyturn.ledger.head();
      await expectRefusal(code, () => off.intents.approve({ ...intent, signer: p.ada }));
      expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('proposed');
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      await expectRefusal(code, () => off.intents.grant({ ...intent, signer: p.ada }));
      expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).capabilities).toEqual([]);
      await p.keyturn.intents.grant({ ...intent, signer: p.ada });
      await expectRefusal(code, () => runSeen(off, { ...intent, confirm: yes }));
      expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).runs).toEqual([]);
      // Time did not move for those whose clocks are right.
      expect(await runSeen(p.keyturn, { ...intent, confirm: yes })).toMatchObject({ result: 'success' });
      expect((await kinds(p, intent.intent_id)).filter((kind) => !/\.(refused|denied)$/.test(kind))).toEqual([
        'intent.proposed',
        'intent.submitted',
        'approval.granted',
        'order.given',
        'capability.issued',
        'execution.claimed',
        'execution.finished',
      ]);
      for (const { at } of await newestOf(p.keyturn, 20))
        expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(DAY_MS / 2);
      await p.keyturn.ledger.verify({ deep: true, kept: [before.text] });
      expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
    },
  );
});

describe('whoever waits on one host', () => {
  it('is told of what another host does, each of them and nobody else', async () => {
    const p = await shared(server(), 'waiting');
    const host = await anotherHost(p);
    const intents = await Promise.all(Array.from({ length: 20 }, () => proposeSay(p)));
    const waits = intents.map(({ intent_id }) => host.keyturn.intents.waitFor({ intent_id }));
    let open = waits.length;
    for (const wait of waits) void wait.then(() => (open -= 1));
    const reject = ({ intent_id, hash }: (typeof intents)[number]) =>
      p.keyturn.intents.reject({ intent_id, hash, reason: 'enough', signer: p.ada });
    for (const one of intents.slice(0, 19)) await reject(one);
    await Promise.all(waits.slice(0, 19));
    expect(open).toBe(1);
    await reject(intents[19]!);
    expect(await waits[19]).toMatchObject({ status_word: 'rejected', is_over: true });
  });
});
