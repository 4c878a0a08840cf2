import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import type { Request } from '../../src/keyturn.ts';
import { sealedCursor } from '../support/cursor.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, call, granted, human, named, proposeSay, yes } from './authority.ts';

type Runs = Request<'runs.list'>;
type Orders = Request<'runs.capabilities'>;

/** Two intents of rover, one that succeeded and one that failed and was ordered again by bob; and one of scout that is ordered. */
async function some() {
  const p = await authority();
  const { keyturn } = p;
  const bob = await human(p, 'bob');
  const scout = await agent(p, 'scout');
  const rover = await agent(p, 'rover');
  const orders: string[] = [];
  const runs: string[] = [];
  const run = async (intent: { intent_id: string; hash: string }) => {
    const { runs: made } = await ran(p, intent);
    runs.push(made.at(-1)!.execution_id);
  };
  const ordered = async (signer: Signer, over: object, is_issued: boolean) => {
    const intent = await proposeSay(p, { ...over }, signer);
    await keyturn.intents.approve({ ...intent, signer: p.ada });
    const order = await keyturn.intents.grant({ ...intent, signer: p.ada, is_issued });
    orders.push(order.capability_id);
    return intent;
  };
  const said = await ordered(rover, {}, true);
  await run(said);
  const failing = await ordered(rover, call('fail'), true);
  await run(failing);
  const { intent_id, hash } = failing;
  await keyturn.runs.retry({ intent_id, reason: 'once more', signer: p.ada });
  const again = await keyturn.intents.grant({ intent_id, hash, signer: bob, is_issued: true });
  orders.push(again.capability_id);
  await run(failing);
  const theirs = await ordered(scout, { declared_goal: 'Greet.' }, false);
  const listRuns = async (filter: Runs = {}) => {
    const { runs: found, next } = await keyturn.runs.list(filter);
    return { found: found.map(({ execution_id }) => runs.indexOf(execution_id)), next };
  };
  const listOrders = async (filter: Orders = {}) => {
    const { capabilities, next } = await keyturn.runs.capabilities(filter);
    return { found: capabilities.map(({ capability_id }) => orders.indexOf(capability_id)), next };
  };
  return { p, said, failing, theirs, listRuns, listOrders };
}

async function ran({ keyturn }: Project, intent: { intent_id: string; hash: string }) {
  await runSeen(keyturn, { ...intent, confirm: yes });
  return keyturn.intents.get({ intent_id: intent.intent_id });
}

describe('the lists of runs and of capabilities', () => {
  it('hold the runs that fit every filter, newest first', async () => {
    const { listRuns, p, said, failing } = await some();
    const found = async (filter: Runs) => (await listRuns(filter)).found;
    const [{ name, public_key }] = (await p.keyturn.system.get()).executors as [never];
    expect(await found({})).toEqual([2, 1, 0]);
    expect(await found({ status_word: 'succeeded' })).toEqual([0]);
    expect(await found({ status_word: 'failed' })).toEqual([2, 1]);
    expect(await found({ status_word: 'IN DOUBT' })).toEqual([]);
    expect(await found({ tool: 'fail' })).toEqual([2, 1]);
    expect(await found({ proposer: 'rover' })).toEqual([2, 1, 0]);
    expect(await found({ proposer: 'rover', tool: 'say', status_word: 'failed' })).toEqual([]);
    for (const executor of [name, public_key]) {
      expect(await found({ executor })).toEqual([2, 1, 0]);
      expect(await found({ executor, status_word: 'succeeded' })).toEqual([0]);
    }
    expect(await found({ executor: 'another host' })).toEqual([]);
    expect(await found({ text: 'HELLO' })).toEqual([2, 1, 0]);
    expect(await found({ text: 'hello', tool: 'fail' })).toEqual([2, 1]);
    expect(await found({ text: 'fai' })).toEqual([2, 1]);
    expect(await found({ text: 'Rove', intent_id: said.intent_id })).toEqual([0]);
    expect(await found({ text: 'no such text' })).toEqual([]);
    expect(await found({ intent_id: failing.intent_id })).toEqual([2, 1]);
    expect(await found({ intent_id: failing.intent_id, tool: 'say' })).toEqual([]);
    expect(await found({ intent_id: said.intent_id })).toEqual([0]);
  });

  it('hold the orders that fit every filter, newest first', async () => {
    const { listOrders, failing, theirs } = await some();
    const found = async (filter: Orders) => (await listOrders(filter)).found;
    expect(await found({})).toEqual([3, 2, 1, 0]);
    expect(await found({ status_word: 'spent' })).toEqual([2, 1, 0]);
    expect(await found({ status_word: 'ordered' })).toEqual([3]);
    for (const status_word of ['lapsed', 'issued', 'expired', 'denied', 'revoked'] as const)
      expect(await found({ status_word })).toEqual([]);
    expect(await found({ by: 'bob' })).toEqual([2]);
    expect(await found({ by: 'bob', tool: 'say' })).toEqual([]);
    expect(await found({ proposer: 'scout' })).toEqual([3]);
    expect(await found({ tool: 'fail', by: 'ada' })).toEqual([1]);
    expect(await found({ text: 'greet' })).toEqual([3]);
    expect(await found({ text: 'hello', by: 'ada' })).toEqual([1, 0]);
    expect(await found({ text: 'FAIL' })).toEqual([2, 1]);
    expect(await found({ text: 'scou' })).toEqual([3]);
    expect(await found({ text: 'no such text' })).toEqual([]);
    expect(await found({ intent_id: failing.intent_id })).toEqual([2, 1]);
    expect(await found({ intent_id: theirs.intent_id, status_word: 'spent' })).toEqual([]);
  });

  it('tell of each run what its intent tells, and the goal', async () => {
    const { p, failing, said } = await some();
    const { runs } = await p.keyturn.runs.list({ limit: 3 });
    const { runs: told } = await p.keyturn.intents.get({ intent_id: failing.intent_id });
    const { name } = (await p.keyturn.system.get()).executors[0]!;
    const ofIntent = { intent_id: failing.intent_id, proposer: 'rover', goal: 'Say hello.' };
    expect(runs.slice(0, 2)).toEqual(
      told.toReversed().map((run) => ({ ...run, ...ofIntent, status_word: 'failed', executor_name: name })),
    );
    expect(runs[2]).toMatchObject({ intent_id: said.intent_id, status_word: 'succeeded', result: 'success' });
    const { capabilities } = await p.keyturn.runs.capabilities({ by: 'bob' });
    const order = (await p.keyturn.intents.get({ intent_id: failing.intent_id })).capabilities.at(-1);
    expect(capabilities).toEqual([{ ...order, ...ofIntent, tool: 'fail', status_word: 'spent' }]);
  });

  it('can begin and end at a time', async () => {
    const { p, listRuns, listOrders } = await some();
    const { runs } = await p.keyturn.runs.list();
    const [newest, middle] = runs.map(({ claimed_at }) => claimed_at) as [string, string];
    expect((await listRuns({ since: middle, until: newest })).found).toEqual([1]);
    const { capabilities } = await p.keyturn.runs.capabilities();
    const times = capabilities.map(({ ordered_at }) => ordered_at);
    expect((await listOrders({ since: times[2]!, until: times[0]! })).found).toEqual([2, 1]);
    for (const list of [listRuns, listOrders]) {
      expect((await list({ until: '2001-01-01T00:00:00.000Z' })).found).toEqual([]);
      expect((await list({ since: '2999-01-01T00:00:00.000Z' })).found).toEqual([]);
    }
  });

  it('come in pages that miss nothing and repeat nothing', async () => {
    const { listRuns, listOrders, failing } = await some();
    const { intent_id } = failing;
    for (const list of [listRuns, listOrders])
      for (const filter of [{}, { tool: 'fail' }, { proposer: 'rover' }, { text: 'hello' }, { intent_id }])
        for (const limit of [1, 2, 3]) {
          const all: number[] = [];
          let cursor: string | null = null;
          do {
            const page: { found: number[]; next: string | null } = await list({
              ...filter,
              limit,
              ...(cursor !== null && { cursor }),
            });
            expect(page.found.length).toBeLessThanOrEqual(limit);
            all.push(...page.found);
            cursor = page.next;
          } while (cursor !== null);
          expect(all).toEqual((await list(filter)).found);
        }
  });

  it('refuse a cursor of another list, a changed one and one from the future', async () => {
    const { p, listRuns, listOrders } = await some();
    const { origin } = await p.keyturn.system.get();
    const intents = (await p.keyturn.intents.list({ limit: 1 })).next!;
    const ofRuns = (await listRuns({ limit: 1 })).next!;
    const ofOrders = (await listOrders({ limit: 1 })).next!;
    const lists = [
      { list: listRuns, name: 'runs', own: ofRuns, others: [intents, ofOrders] },
      { list: listOrders, name: 'capabilities', own: ofOrders, others: [intents, ofRuns] },
    ];
    for (const { list, name, own, others } of lists) {
      const [place, seal] = own.split('-') as [string, string];
      const forged = ['', '-', `${place}-${'0'.repeat(16)}`, `1${place}-${seal}`, `${own}0`, randomUUID()];
      for (const cursor of [...others, ...forged])
        await expectRefusal('CURSOR_INVALID', () => list({ cursor }));
      for (const filter of [{ tool: 'say' }, { proposer: 'rover' }, { text: 'say' }])
        await expectRefusal('CURSOR_INVALID', () => list({ ...filter, cursor: own }));
      expect(sealedCursor(name, origin, Number.parseInt(place, 36))).toBe(own);
      await expectRefusal('CURSOR_INVALID', () => list({ cursor: sealedCursor(name, origin, 1_000_000) }));
    }
    for (const cursor of [ofRuns, ofOrders])
      await expectRefusal('CURSOR_INVALID', () => p.keyturn.intents.list({ cursor }));
  });

  it('refuse an intent that is not there, and what is no status', async () => {
    const { listRuns, listOrders } = await some();
    for (const list of [listRuns, listOrders]) {
      await expectRefusal('INTENT_NOT_FOUND', () => list({ intent_id: randomUUID() }));
      await expectRefusal('ID_MALFORMED', () => list({ intent_id: 'abcd' }));
      await expectRefusal('SHAPE_INVALID', () => list({ status_word: 'waiting' as never }));
      for (const text of ['', 'x'.repeat(201)]) await expectRefusal('SHAPE_INVALID', () => list({ text }));
      for (const limit of [0, -1, 1.5, 1_001]) await expectRefusal('SHAPE_INVALID', () => list({ limit }));
    }
  });

  it('follow from the ledger, as a rebuild and a deep verification find', async () => {
    const { p } = await some();
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
    await p.keyturn.ledger.verify({ deep: true });
  });
});

describe('where an order stands', () => {
  it('is told by the clock: one that was not issued in time lapsed, one not used in time expired', async () => {
    let ahead_ms = 0;
    const p = await authority(() => new Date(Date.now() + ahead_ms));
    const { keyturn } = p;
    const intent = await proposeSay(p);
    await keyturn.intents.approve({ ...intent, signer: p.ada });
    await keyturn.intents.grant({ ...intent, signer: p.ada, is_issued: true });
    await keyturn.intents.grant({ ...intent, signer: p.ada });
    const words = async () =>
      (await keyturn.runs.capabilities()).capabilities.map(({ status_word }) => status_word);
    expect(await words()).toEqual(['ordered', 'issued']);
    ahead_ms = 12 * 3600_000;
    expect(await words()).toEqual(['lapsed', 'expired']);
    expect((await keyturn.runs.capabilities({ status_word: 'issued' })).capabilities).toEqual([]);
    expect((await keyturn.runs.capabilities({ status_word: 'lapsed' })).capabilities).toHaveLength(1);
  });

  it('is revoked for all of them when the intent is withdrawn', async () => {
    const p = await authority();
    const { keyturn } = p;
    const intent = await granted(p);
    await keyturn.intents.grant({ ...named(intent), signer: p.ada });
    await keyturn.intents.withdraw({ intent_id: intent.intent_id, reason: 'enough', signer: p.ada });
    const { capabilities } = await keyturn.runs.capabilities({ status_word: 'revoked' });
    expect(capabilities).toHaveLength(2);
    expect(await keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
    await keyturn.ledger.verify({ deep: true });
  });
});
