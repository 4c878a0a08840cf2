import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Request } from '../../src/keyturn.ts';
import { limits } from '../../src/limits.ts';
import { sealedCursor } from '../support/cursor.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agent, authority, human, proposeSay } from './authority.ts';

type Filter = Request<'intents.list'>;

/** Seven proposals: five by ada, of which one is rejected, and two by scout. */
async function some() {
  const p = await authority();
  const bob = await human(p, 'bob');
  const scout = await agent(p, 'scout');
  const made: string[] = [];
  for (const goal of ['Buy milk.', 'Sell the house.', 'BUY bread.', 'Rest.', 'Sleep.']) {
    const { intent_id } = await proposeSay(p, { declared_goal: goal });
    made.push(intent_id);
  }
  for (const tool of ['say', 'wait'])
    made.push(
      (
        await p.keyturn.intents.propose({
          declared_goal: 'Buy time.',
          effect: { kind: 'tool', tool, arguments: tool === 'say' ? { word: 'x' } : { seconds: 1 } },
          signer: scout,
        })
      ).intent_id,
    );
  const { hash } = await p.keyturn.intents.get({ intent_id: made[3]! });
  await p.keyturn.intents.reject({ intent_id: made[3]!, hash, reason: 'No.', signer: bob });
  const list = async (filter: Filter = {}) => {
    const { intents, next } = await p.keyturn.intents.list(filter);
    return { found: intents.map(({ intent_id }) => made.indexOf(intent_id)), next };
  };
  return { ...p, bob, made, list };
}

describe('a list of intents', () => {
  it('looks at nothing that is older than an intent can live, where only what lives fits', async () => {
    let now = new Date();
    const p = await authority(() => now);
    const { keyturn } = p;
    const old = await proposeSay(p, { declared_goal: 'Old.' });
    now = new Date(now.getTime() + limits.intent_ttl_s * 1000 + 1);
    await human(p, 'bob');
    const { intent_id } = await proposeSay(p, { declared_goal: 'New.' });
    for (const filter of [{ status_word: 'waiting' }, { needs: 'bob' }] as const)
      expect(await keyturn.intents.list(filter)).toMatchObject({
        intents: [{ intent_id }],
        next: null,
        looked: 1,
      });
    for (const after of [undefined, old.intent_id])
      expect(await keyturn.intents.next({ needs: 'bob', after })).toEqual({ intent_id, more: 0 });
    expect((await keyturn.system.status()).waiting).toMatchObject([{ intent_id }]);
    expect((await keyturn.intents.list({ status_word: 'expired' })).intents).toHaveLength(1);
  });

  it('holds what fits every filter, newest first', async () => {
    const { list } = await some();
    const found = async (filter: Filter) => (await list(filter)).found;
    expect(await found({})).toEqual([6, 5, 4, 3, 2, 1, 0]);
    expect(await found({ status_word: 'rejected' })).toEqual([3]);
    expect(await found({ proposer: 'scout' })).toEqual([6, 5]);
    expect(await found({ tool: 'wait' })).toEqual([6]);
    expect(await found({ proposer: 'scout', tool: 'say' })).toEqual([5]);
    expect(await found({ text: 'buy' })).toEqual([6, 5, 2, 0]);
    expect(await found({ text: 'buy', proposer: 'ada' })).toEqual([2, 0]);
    expect(await found({ needs: 'bob' })).toEqual([6, 5, 4, 2, 1, 0]);
    expect(await found({ needs: 'ada' })).toEqual([6, 5]);
    expect(await found({ status_word: 'STUCK' })).toEqual([]);
    expect(await found({ tool: 'nothing', text: 'x' })).toEqual([]);
  });

  it('can begin and end at a time', async () => {
    const { list, keyturn, made } = await some();
    const at = async (i: number) => (await keyturn.intents.get({ intent_id: made[i]! })).proposed_at;
    const [since, until] = [await at(1), await at(5)];
    const { found } = await list({ since, until });
    expect(found.length).toBeGreaterThan(0);
    for (const i of found) {
      expect((await at(i)) >= since).toBe(true);
      expect((await at(i)) < until).toBe(true);
    }
    expect((await list({ until: '2001-01-01T00:00:00.000Z' })).found).toEqual([]);
    expect((await list({ since: '2999-01-01T00:00:00.000Z' })).found).toEqual([]);
  });

  it('comes in pages that miss nothing and repeat nothing', async () => {
    const { list } = await some();
    for (const filter of [{}, { text: 'buy' }, { status_word: 'waiting' }, { proposer: 'ada' }] as const)
      for (const limit of [1, 2, 3, 7]) {
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

  it('says the goal, and null once it was erased', async () => {
    const { keyturn, ada, made } = await some();
    const { hash } = await keyturn.intents.get({ intent_id: made[3]! });
    expect((await keyturn.intents.list({ status_word: 'rejected' })).intents[0]!.goal).toBe('Rest.');
    await keyturn.ledger.erase({ digest: hash, reason: 'A test.', signer: ada });
    expect((await keyturn.intents.list({ status_word: 'rejected' })).intents[0]!.goal).toBeNull();
    expect((await keyturn.intents.list({ text: 'rest' })).intents).toEqual([]);
  });

  it('refuses a cursor of another list, a changed one and one from the future', async () => {
    const { list, keyturn } = await some();
    const { next } = await list({ limit: 2 });
    const [place, seal] = next!.split('-') as [string, string];
    const cursors = [
      '',
      'x',
      '-',
      `${place}-${'0'.repeat(16)}`,
      `1${place}-${seal}`,
      `${next}0`,
      randomUUID(),
    ];
    for (const cursor of cursors) await expectRefusal('CURSOR_INVALID', () => list({ limit: 2, cursor }));
    for (const filter of [{ tool: 'say' }, { proposer: 'ada' }, { text: 'buy' }])
      await expectRefusal('CURSOR_INVALID', () => list({ ...filter, cursor: next! }));
    // The size of a page is no part of the list.
    expect((await list({ limit: 5, cursor: next! })).found).toEqual([4, 3, 2, 1, 0]);
    const { origin } = await keyturn.system.get();
    const sealed = (seq: number) => sealedCursor('intents', origin, seq);
    expect(sealed(Number.parseInt(place, 36))).toBe(next);
    await expectRefusal('CURSOR_INVALID', () => list({ cursor: sealed(1_000_000) }));
  });
});
