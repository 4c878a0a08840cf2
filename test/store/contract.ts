import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { Event } from '../../src/event/event.ts';
import { EntryReader } from '../../src/fold/ledger.ts';
import { GENESIS, openEntry, type SealedEntry } from '../../src/ledger/entry.ts';
import { limits } from '../../src/limits.ts';
import { Rehearsal } from '../../src/store/rehearsal.ts';
import type { Commit, EntryPage, Page } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authorityContract } from './contract-authority.ts';
import { credentialContract } from './contract-credential.ts';
import { delegationContract } from './contract-delegation.ts';
import { listContract } from './contract-lists.ts';
import { rebuildContract } from './contract-rebuild.ts';
import { undoContract } from './contract-undo.ts';
import {
  activated,
  begun,
  claimed,
  controlled,
  DIGEST,
  denied,
  enrolled,
  enrolledAgent,
  erased,
  finished,
  granted,
  issued,
  keyOf,
  objectExpired,
  proposed,
  refused,
  retried,
  revoked,
  withdrawn,
} from './facts.ts';
import {
  allEntries,
  codeOf,
  governed,
  NOON,
  type Place,
  plain,
  reopen,
  requireChain,
  withHumans,
} from './place.ts';

/** The entries with which `withHumans` begins a ledger, for one human. */
const BEGUN = 2;

/** What every store must do. A second store passes this suite, or it is not a store. */
export function storeContract(name: string, place: () => Promise<Place>): void {
  describe(`${name}: one commit`, () => {
    it('begins with an empty ledger', async () => {
      const store = await reopen(await place(), 'create');
      expect(await store.tip()).toEqual({ size: 0, last: GENESIS, at: null, frontier: [] });
      expect(await allEntries(store)).toEqual([]);
    });

    it('is refused once the store is closed, and so is what reads', async () => {
      const { store } = await withHumans(await place());
      await store.close();
      await expectRefusal('STORE_CLOSED', () => store.commit({ events: [proposed()] }));
      await expectRefusal('STORE_CLOSED', () => store.tip());
      await expectRefusal('STORE_CLOSED', () => store.find('system', 'system'));
      await expectRefusal('STORE_CLOSED', () => store.rebuild({ write: false }));
    });

    it('appends chained entries that the tip and the receipt agree on', async () => {
      const { store } = await withHumans(await place());
      const ids = [randomUUID(), randomUUID(), randomUUID()];
      const receipt = await store.commit({
        claims: ['one', 'two'],
        events: ids.map((id) => proposed(id)),
      });
      const more = await store.commit({ events: [refused(ids[0]!)] });
      const entries = await allEntries(store);
      const added = entries.slice(BEGUN);
      expect(added.map(plain)).toEqual([...receipt.entries, ...more.entries].map(plain));
      for (const { bytes, entry, event, hash } of [...receipt.entries, ...more.entries])
        expect(new EntryReader().read(bytes)).toEqual({ entry, event, hash });
      expect(added.map(({ bytes }) => openEntry(bytes).claims)).toEqual([
        ['one', 'two', `intent:${ids[0]}`],
        [`intent:${ids[1]}`],
        [`intent:${ids[2]}`],
        [],
      ]);
      expect(await store.tip()).toEqual(requireChain(entries));
    });

    it('records the time of the commit, and never one before the entry before it', async () => {
      const at = await place();
      const times = ['2026-05-01T00:00:00.000Z', '2026-04-01T00:00:00.007Z'];
      const store = await at.open({ mode: 'create', clock: () => new Date(times.shift()!) });
      await store.commit({ events: [begun()] });
      await store.commit({ events: [enrolled('ada')] });
      const entries = await allEntries(store);
      await store.close();
      expect(entries.map(({ bytes }) => openEntry(bytes).at)).toEqual([
        '2026-05-01T00:00:00.000Z',
        '2026-05-01T00:00:00.000Z',
      ]);
    });

    it('takes a claim once, and a taken claim refuses all of a commit', async () => {
      const { store } = await withHumans(await place());
      const id = randomUUID();
      await store.commit({ claims: ['a', `intent:${id}`], events: [proposed(id)] });
      const before = await store.tip();
      const other = randomUUID();
      for (const claims of [['a'], ['b', 'a'], [`intent:${id}`], ['b', 'b']])
        await expectRefusal('CLAIM_TAKEN', () => store.commit({ claims, events: [proposed(other)] }));
      const long = Array.from({ length: 40 }, () => proposed());
      await expectRefusal('CLAIM_TAKEN', () => store.commit({ claims: ['c', 'a'], events: long }));
      expect(await store.tip()).toEqual(before);
      expect(await store.find('intent', other)).toBeNull();
      await store.commit({ claims: ['b'], events: [proposed(other)] });
      const many = Array.from({ length: 30 }, (_, i) => `many:${i}`);
      await expectRefusal('CLAIM_TAKEN', () =>
        store.commit({ claims: [...many, 'a'], events: [proposed()] }),
      );
      await store.commit({ claims: ['c', ...many], events: long });
    });

    it('names the taken claim before the state that its owner has reached', async () => {
      const { store } = await withHumans(await place());
      const id = randomUUID();
      const commit = { claims: ['mine'], events: [proposed(id)] };
      await store.commit(commit);
      const claimIn = async (claims: string[]) =>
        (await expectRefusal('CLAIM_TAKEN', () => store.commit({ ...commit, claims }))).facts.claim;
      expect(await claimIn(['mine'])).toBe('mine');
      // What is unique by itself is claimed though the caller names no claim for it.
      expect(await claimIn(['other'])).toBe(`intent:${id}`);
      await expectRefusal('CLAIM_TAKEN', () => store.commit({ events: [proposed(), proposed(id)] }));
      await store.commit({ claims: ['other'], events: [proposed()] });
    });

    it('keeps nothing of a commit whose last event is illegal', async () => {
      const { store } = await withHumans(await place());
      const id = randomUUID();
      const bytes = Buffer.from('content');
      await expectRefusal('PRINCIPAL_UNKNOWN', () =>
        store.commit({ claims: ['c'], events: [proposed(id), granted(id, 'nobody')], objects: [bytes] }),
      );
      await expectRefusal('CLAIM_TAKEN', () =>
        store.commit({ claims: ['c'], events: [proposed(id), proposed(id)], objects: [bytes] }),
      );
      expect(await store.tip()).toMatchObject({ size: BEGUN });
      expect(await store.find('intent', id)).toBeNull();
      await expectRefusal('OBJECT_MISSING', () => store.object(sha256(bytes)));
      await store.commit({ claims: ['c'], events: [proposed(id)] });
    });

    it('refuses what is not an event, and a commit without one', async () => {
      const { store } = await withHumans(await place());
      const odd = { ...proposed(), kind: 'intent.guessed' } as unknown as Event;
      const extra = { ...proposed(), body: { ...proposed().body, sudo: true } } as unknown as Event;
      await expectRefusal('SHAPE_INVALID', () => store.commit({ events: [odd] }));
      await expectRefusal('SHAPE_INVALID', () => store.commit({ events: [extra] }));
      await expectRefusal('SHAPE_INVALID', () => store.commit({ claims: ['a'], events: [] }));
      await expectRefusal('SHAPE_INVALID', () => store.commit({ claims: [''], events: [proposed()] }));
      expect(await store.tip()).toMatchObject({ size: BEGUN });
    });

    it('is rehearsed with the answer that it would have, one behind the other, and nothing is written', async () => {
      const { store } = await withHumans(await place(), 'ada', 'bo');
      const bytes = Buffer.from('content');
      const digest = sha256(bytes);
      await store.commit({ claims: ['c'], events: [proposed()], objects: [bytes] });
      const before = await store.tip();
      const rehearsal = new Rehearsal();
      const rehearse = (commit: Commit) => rehearsal.add(store, commit, NOON);
      const enrols = { claims: ['d'], events: [enrolledAgent('scout', 'ada')] };
      const erases = { events: [erased(digest, 'ada')], erase: [digest] };
      const taken = { ...enrols, claims: ['c'] };
      const unkept = { events: [erased(DIGEST, 'ada')], erase: [DIGEST] };
      await expectRefusal('CLAIM_TAKEN', () => rehearse(taken));
      await expectRefusal('CLAIM_TAKEN', () => store.commit(taken));
      await expectRefusal('OBJECT_MISSING', () => rehearse(unkept));
      await expectRefusal('OBJECT_MISSING', () => store.commit(unkept));
      await rehearse(enrols);
      await expectRefusal('PRINCIPAL_EXISTS', () => rehearse({ events: enrols.events }));
      await expectRefusal('CLAIM_TAKEN', () => rehearse({ claims: ['d'], events: [revoked('bo', 'ada')] }));
      await rehearse(erases);
      expect(await store.tip()).toEqual(before);
      await store.commit(enrols);
      await store.commit(erases);
    });

    it('refuses an entry that is larger than an entry may be', async () => {
      const { store } = await withHumans(await place());
      const claims = ['x'.repeat(limits.entry_bytes)];
      await expectRefusal('INPUT_TOO_LARGE', () => store.commit({ claims, events: [proposed()] }));
      expect(await store.tip()).toMatchObject({ size: BEGUN });
    });
  });

  describe(`${name}: who acts`, () => {
    it('lets only the very first key sign for itself', async () => {
      const store = await reopen(await place(), 'create');
      for (const early of [proposed(), enrolled('ada')])
        await expectRefusal('LEDGER_BROKEN', () => store.commit({ events: [early] }));
      await store.commit({ events: [begun()] });
      await expectRefusal('TRANSITION_ILLEGAL', () => store.commit({ events: [proposed()] }));
      for (const other of [
        enrolled('bo', 'ada'),
        enrolled('ada', 'ada', keyOf('eve')),
        enrolledAgent('bot', 'bot'),
      ])
        await expectRefusal('SIGNATURE_INVALID', () => store.commit({ events: [other] }));
      await expectRefusal('PRINCIPAL_UNKNOWN', () =>
        store.commit({ events: [enrolled('ada'), enrolled('eve')] }),
      );
      await store.commit({ events: [enrolled('ada')] });
      await expectRefusal('PRINCIPAL_UNKNOWN', () => store.commit({ events: [enrolled('eve')] }));
      await store.commit({ events: [enrolled('bo', 'ada'), enrolled('cy', 'bo')] });
      expect((await store.all('principal')).map((principal) => principal.name)).toEqual(['ada', 'bo', 'cy']);
      expect(await store.find('principal', 'eve')).toBeNull();
    });

    it('refuses an act of a stranger, of an agent, under another key, and of a revoked human', async () => {
      const { store } = await withHumans(await place(), 'ada', 'bo');
      const id = randomUUID();
      await store.commit({
        events: [
          enrolledAgent('planner', 'ada'),
          controlled('control', 'ada'),
          activated('ada'),
          proposed(id),
        ],
      });
      const act = (event: Event) => () => store.commit({ events: [event] });
      await expectRefusal('PRINCIPAL_UNKNOWN', act(granted(id, 'eve')));
      await expectRefusal('NOT_HUMAN', act(granted(id, 'planner')));
      await expectRefusal('SIGNATURE_INVALID', act(granted(id, 'ada', keyOf('eve'))));
      await store.commit({ events: [revoked('bo', 'ada')] });
      await expectRefusal('KEY_REVOKED', act(granted(id, 'bo')));
      await expectRefusal('PRINCIPAL_EXISTS', act(enrolled('bo', 'ada')));
      expect(await store.find('intent', id)).toMatchObject({ status: 'proposed', approvals: [] });
      await store.commit({ events: [granted(id, 'ada')] });
      expect(await store.find('intent', id)).toMatchObject({
        status: 'approved',
        approvals: [{ by: 'ada' }],
      });
    });

    it('never loses the last human, even when two revoke each other at once', async () => {
      const { store } = await withHumans(await place(), 'ada', 'bo');
      const outcomes = await Promise.allSettled([
        store.commit({ events: [revoked('bo', 'ada')] }),
        store.commit({ events: [revoked('ada', 'bo')] }),
      ]);
      expect(outcomes.map(codeOf)).toEqual(['ok', 'KEY_REVOKED']);
      await expectRefusal('LAST_HUMAN', () => store.commit({ events: [revoked('ada', 'ada')] }));
      expect(await store.find('principal', 'ada')).toMatchObject({ status: 'active' });
    });
  });

  describe(`${name}: what can be read`, () => {
    it('follows an intent through its runs', async () => {
      const { store } = await governed(await place());
      const id = randomUUID();
      const [first, second] = [randomUUID(), randomUUID()];
      await store.commit({ events: [proposed(id), granted(id, 'ada')] });
      await store.commit({ events: [...issued(id, 'ada'), claimed(id, first)] });
      expect(await store.find('intent', id)).toMatchObject({ status: 'claimed', runs: [{ result: null }] });
      await store.commit({ events: [finished(id, first, 'failure')] });
      const again = issued(id, 'ada', { attempt: 2, ordinal: 2 });
      await store.commit({ events: [retried(id, first, 2, 'ada'), ...again, claimed(id, second, 2)] });
      expect(await store.find('intent', id)).toMatchObject({ status: 'claimed', attempt: 2 });
      expect(await store.find('execution', second)).toMatchObject({
        execution_id: second,
        intent_id: id,
        attempt: 2,
        status: 'claimed',
      });
      expect(await store.find('execution', first)).toMatchObject({ attempt: 1, status: 'failed' });
      expect(await store.find('execution', id)).toBeNull();
      expect((await store.entriesOf(id)).map(({ bytes }) => openEntry(bytes).kind)).toEqual([
        'intent.proposed',
        'approval.granted',
        'order.given',
        'capability.issued',
        'execution.claimed',
        'execution.finished',
        'retry.authorised',
        'order.given',
        'capability.issued',
        'execution.claimed',
      ]);
    });

    it('refuses an execution id that was used', async () => {
      const { store } = await governed(await place());
      const [a, b, execution] = [randomUUID(), randomUUID(), randomUUID()];
      await store.commit({ events: [proposed(a), granted(a, 'ada'), ...issued(a, 'ada')] });
      await store.commit({
        events: [proposed(b), granted(b, 'ada'), ...issued(b, 'ada', { ordinal: 2 })],
      });
      await store.commit({ events: [claimed(a, execution)] });
      await expectRefusal('TRANSITION_ILLEGAL', () => store.commit({ events: [claimed(b, execution)] }));
      expect(await store.find('execution', execution)).toMatchObject({ intent_id: a });
    });

    it('lists intents by status, tool or proposer, in both directions and in pages', async () => {
      const { store } = await governed(await place());
      const ids = Array.from({ length: 10 }, () => randomUUID());
      const seqs: number[] = [];
      for (const id of ids) seqs.push((await store.commit({ events: [proposed(id)] })).entries.at(-1)!.seq);
      for (const [i, id] of ids.filter((_, i) => i % 2 === 0).entries())
        await store.commit({
          events: [granted(id, 'ada'), ...issued(id, 'ada', { ordinal: i + 1 }), claimed(id)],
        });
      const { tool, proposer } = (await store.find('intent', ids[0]!))!;
      const list = async (page: Page) =>
        (await store.page('intent', page)).map(({ seq, state }) => {
          const i = (ids as string[]).indexOf(state.intent_id);
          expect(seq).toBe(seqs[i]);
          return i;
        });
      for (const by of [undefined, ['tool', [tool]], ['proposer', [proposer]]] as const) {
        const all = { limit: 100, ...(by && { by }) };
        expect(await list(all)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        expect(await list({ ...all, limit: 3, beyond: seqs[4]! })).toEqual([5, 6, 7]);
        expect(await list({ ...all, newest_first: true })).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        expect(await list({ ...all, limit: 3, newest_first: true, beyond: seqs[4]! })).toEqual([3, 2, 1]);
      }
      for (const by of ['tool', 'proposer'] as const)
        for (const name of ['other', 'od\0d', '\ud800'])
          expect(await list({ limit: 9, by: [by, [name]] })).toEqual([]);
      const claims = { limit: 3, by: ['status', ['claimed']] } as const;
      expect(await list(claims)).toEqual([0, 2, 4]);
      expect(await list({ ...claims, beyond: seqs[4]! })).toEqual([6, 8]);
      expect(await list({ ...claims, newest_first: true, beyond: seqs[4]! })).toEqual([2, 0]);
      expect(await list({ limit: 3, by: ['status', ['rejected']] })).toEqual([]);
      expect(await list({ limit: 9, by: ['status', []] })).toEqual([]);
      const either = { limit: 3, by: ['status', ['claimed', 'proposed', 'stuck']] } as const;
      expect(await list(either)).toEqual([0, 1, 2]);
      expect(await list({ ...either, newest_first: true, beyond: seqs[4]! })).toEqual([3, 2, 1]);
      const many = Array.from({ length: 101 }, (_, i) => `${i}`);
      await expectRefusal('SHAPE_INVALID', () => list({ limit: 3, by: ['tool', many] }));
      for (const limit of [0, -1, 1.5, Number.NaN])
        await expectRefusal('SHAPE_INVALID', () => list({ limit }));
      for (const beyond of [1.5, Number.NaN])
        await expectRefusal('SHAPE_INVALID', () => list({ limit: 3, beyond }));
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('lists intents by the day on which they are due, for as long as they are', async () => {
      const { store } = await withHumans(await place());
      const [first, second] = [randomUUID(), randomUUID()];
      await store.commit({ events: [proposed(first), proposed(second)] });
      const { expires_at } = (await store.find('intent', first))!;
      const day = expires_at.slice(0, 10);
      const due = async (...days: string[]) =>
        (await store.page('intent', { limit: 9, by: ['due', days] })).map(({ state }) => state.intent_id);
      expect(await due(day)).toEqual([first, second]);
      expect(await due('2026-02-14', day)).toEqual([first, second]);
      expect(await due('2026-02-14')).toEqual([]);
      await store.commit({ events: [denied(first, 'ada')] });
      expect(await due(day)).toEqual([second]);
      // More than the newest entries that are in no list yet: what was listed as due leaves the list.
      for (let i = 0; i < 3; i++)
        await store.commit({ events: Array.from({ length: 150 }, () => proposed(randomUUID())) });
      const before = await store.page('intent', { limit: 5_000, by: ['due', [day]] });
      expect(before.map(({ state }) => state.intent_id).slice(0, 1)).toEqual([second]);
      await store.commit({ events: [denied(second, 'ada')] });
      const after = await store.page('intent', { limit: 5_000, by: ['due', [day]] });
      expect(after).toHaveLength(before.length - 1);
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('lists runs and orders by status, tool, proposer or who did it, newest first', async () => {
      const { store } = await governed(await place(), ['ada', 'bo']);
      const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
      const runs = [randomUUID(), randomUUID(), randomUUID()] as const;
      for (const [i, id] of ids.entries())
        await store.commit({
          events: [
            proposed(id, { proposer: i === 2 ? 'bo' : 'planner' }),
            granted(id, 'ada'),
            ...issued(id, 'ada', { ordinal: i === 2 ? 1 : i + 1 }),
            claimed(id, runs[i]!),
          ],
        });
      await store.commit({ events: [finished(ids[0], runs[0], 'failure')] });
      await store.commit({ events: [finished(ids[1], runs[1], 'success')] });
      await store.commit({ events: [withdrawn(ids[2], 'ada')] });
      const page = { limit: 9, newest_first: true };
      const executions = async (by?: Page['by']) =>
        (await store.page('execution', { ...page, ...(by && { by }) })).map(({ state }) =>
          (runs as readonly string[]).indexOf(state.execution_id),
        );
      const orders = async (by?: Page['by']) =>
        (await store.page('capability', { ...page, ...(by && { by }) })).map(({ state }) =>
          (ids as readonly string[]).indexOf(state.intent_id),
        );
      const { executor_key } = (await store.find('execution', runs[0]))!;
      expect(await executions()).toEqual([2, 1, 0]);
      expect(await executions(['status', ['claimed']])).toEqual([2]);
      expect(await executions(['status', ['failed', 'succeeded']])).toEqual([1, 0]);
      expect(await executions(['tool', ['deploy']])).toEqual([2, 1, 0]);
      expect(await executions(['proposer', ['planner']])).toEqual([1, 0]);
      expect(await executions(['actor', [executor_key]])).toEqual([2, 1, 0]);
      expect(await executions(['actor', ['ada']])).toEqual([]);
      expect(await orders()).toEqual([2, 1, 0]);
      expect(await orders(['status', ['spent']])).toEqual([1, 0]);
      expect(await orders(['status', ['revoked']])).toEqual([2]);
      expect(await orders(['actor', ['ada']])).toEqual([2, 1, 0]);
      expect(await orders(['proposer', ['bo']])).toEqual([2]);
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('finds an intent that was retried with another tool by that tool', async () => {
      const { store } = await governed(await place());
      const [id, run] = [randomUUID(), randomUUID()];
      const effect_digest = sha256('another effect');
      await store.commit({
        events: [
          proposed(id, { alternates: [{ tool: 'mend', effect_digest }] }),
          granted(id, 'ada'),
          ...issued(id, 'ada'),
          claimed(id, run),
        ],
      });
      await store.commit({ events: [finished(id, run, 'failure')] });
      const tools = async (tool: string) =>
        (await store.page('intent', { limit: 9, by: ['tool', [tool]] })).length;
      expect([await tools('deploy'), await tools('mend')]).toEqual([1, 0]);
      await store.commit({ events: [retried(id, run, 2, 'ada', { tool: 'mend', effect_digest })] });
      expect([await tools('deploy'), await tools('mend')]).toEqual([0, 1]);
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('streams a long ledger from any place, in batches, while others append', async () => {
      const { at, store } = await withHumans(await place());
      const subjects = Array.from({ length: 45 }, () => randomUUID());
      const commits = subjects.map((subject) =>
        store.commit({ events: Array.from({ length: 50 }, () => refused(subject)) }),
      );
      await Promise.all(commits);
      const reader = await reopen(at, 'read');
      const seen: SealedEntry[] = [];
      for await (const batch of reader.entries()) {
        expect(batch.length).toBeLessThanOrEqual(1000);
        seen.push(...batch);
        if (seen.length <= 2000) await store.commit({ events: [refused(randomUUID())] });
      }
      expect(seen.length).toBeGreaterThan(2250);
      expect(await store.tip()).toEqual(requireChain(seen));
      expect((await allEntries(store, 2240)).map(({ seq }) => seq)[0]).toBe(2240);
      expect(await allEntries(store, 1_000_000)).toEqual([]);
      for (const from of [-1, 0.5, Number.NaN])
        await expectRefusal('SHAPE_INVALID', () => allEntries(store, from));
      expect(await store.entriesOf(subjects[7]!)).toHaveLength(50);
    });

    it('pages entries newest first: all of them, of a subject, of a kind, and by who signed', async () => {
      const { store } = await withHumans(await place(), 'ada', 'bo');
      const [first, second] = [randomUUID(), randomUUID()];
      await store.commit({ events: [proposed(first), proposed(second)] });
      await store.commit({ events: [refused(first), revoked('bo', 'ada')] });
      const { size } = await store.tip();
      const page = async (of: Omit<EntryPage, 'limit'>, limit = 100) =>
        (await store.entryPage({ ...of, limit })).map(({ seq }) => size - seq);
      expect(await page({})).toEqual(Array.from({ length: size }, (_, i) => i + 1));
      expect(await page({}, 3)).toEqual([1, 2, 3]);
      expect(await page({ beyond: size - 3 }, 2)).toEqual([4, 5]);
      expect(await page({ by: ['subject', first] })).toEqual([2, 4]);
      expect(await page({ by: ['subject', first], beyond: size - 2 })).toEqual([4]);
      expect(await page({ by: ['kind', 'intent.proposed'] })).toEqual([3, 4]);
      expect(await page({ by: ['kind', 'intent.proposed'], beyond: size - 3 })).toEqual([4]);
      expect(await page({ by: ['kind', 'intent.propose'] })).toEqual([]);
      const ada = (await allEntries(store)).filter(({ bytes }) => openEntry(bytes).body.by === 'ada');
      expect(await page({ by: ['signer', 'ada'] })).toEqual(ada.map(({ seq }) => size - seq).reverse());
      expect(await page({ by: ['signer', 'ada'] }, 1)).toEqual([1]);
      expect(await page({ by: ['signer', 'ada'], beyond: 1 })).toEqual([]);
      expect(await page({ by: ['signer', 'no\0body'] })).toEqual([]);
      for (const limit of [0, -1, 0.5]) await expectRefusal('SHAPE_INVALID', () => page({}, limit));
      await expectRefusal('SHAPE_INVALID', () => page({ beyond: Number.NaN }));
    });

    it('finds keys by their beginning, in order and of one kind', async () => {
      const { store } = await withHumans(await place());
      const ids = ['abcd0', 'abcd1', 'abcde', 'abce0'].map((one) => `${one}000-0000-4000-8000-000000000000`);
      await store.commit({ claims: [`abcd:${ids[0]}`], events: ids.toReversed().map((id) => proposed(id)) });
      expect(await store.keys('intent', 'abcd', 9)).toEqual(ids.slice(0, 3));
      expect(await store.keys('intent', 'abcd', 2)).toEqual(ids.slice(0, 2));
      expect(await store.keys('intent', ids[3]!, 2)).toEqual([ids[3]]);
      expect(await store.keys('intent', 'abd', 2)).toEqual([]);
      expect(await store.keys('intent', 'abcd%', 2)).toEqual([]);
      expect(await store.keys('execution', 'abcd', 2)).toEqual([]);
    });

    it('finds objects by the beginning of their digest, in order', async () => {
      const { store } = await withHumans(await place());
      const [first, second, ...others] = likeDigests();
      const objects = [first!, second!, ...others];
      await store.commit({ events: [proposed(randomUUID())], objects });
      const like = [first!, second!].map((bytes) => ({ digest: sha256(bytes), bytes: bytes.length }));
      like.sort((a, b) => (a.digest < b.digest ? -1 : 1));
      const beginning = like[0]!.digest.slice(0, 4);
      expect(await store.objectsLike(beginning, 9)).toEqual(like);
      expect(await store.objectsLike(beginning, 1)).toEqual(like.slice(0, 1));
      expect(await store.objectsLike(like[1]!.digest, 9)).toEqual(like.slice(1));
      expect(await store.objectsLike(`${beginning.slice(0, 3)}%`, 9)).toEqual([]);
      expect(await store.objectsLike(`${beginning}\0`, 9)).toEqual([]);
    });

    it('keeps tenants apart', async () => {
      const at = await place();
      const [left, right] = [await reopen(at, 'create', 'left'), await reopen(at, 'create', 'right')];
      for (const store of [left, right])
        await store.commit({ events: [begun(), enrolled('ada', 'ada', undefined, store.tenant)] });
      const id = randomUUID();
      const bytes = Buffer.from('of the left');
      await left.commit({ claims: ['x'], events: [proposed(id)], objects: [bytes] });
      expect(await right.find('intent', id)).toBeNull();
      expect(await right.page('intent', { limit: 10 })).toEqual([]);
      expect(await right.entriesOf(id)).toEqual([]);
      expect(await right.entryPage({ by: ['kind', 'intent.proposed'], limit: 9 })).toEqual([]);
      expect(await right.entryPage({ limit: 9 })).toHaveLength(BEGUN);
      expect(await right.keys('intent', id.slice(0, 8), 1)).toEqual([]);
      expect(await right.objectsLike(sha256(bytes), 1)).toEqual([]);
      await expectRefusal('OBJECT_MISSING', () => right.object(sha256(bytes)));
      await right.commit({ claims: ['x'], events: [proposed(id), refused(id)] });
      expect([(await left.tip()).size, (await right.tip()).size]).toEqual([BEGUN + 1, BEGUN + 2]);
      for (const store of [left, right]) {
        expect(await store.tip()).toEqual(requireChain(await allEntries(store)));
        expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
      }
    });
  });

  describe(`${name}: objects`, () => {
    it('keeps contents by digest, whatever the caller does with its buffer afterwards', async () => {
      const { store } = await withHumans(await place());
      const bytes = Buffer.from([0, 1, 2, 255]);
      const digest = sha256(bytes);
      const commit = store.commit({ events: [proposed()], objects: [bytes, new Uint8Array()] });
      bytes.fill(9);
      await commit;
      expect([...(await store.object(digest))]).toEqual([0, 1, 2, 255]);
      expect(await store.object(sha256(''))).toHaveLength(0);
      await store.commit({ events: [proposed()], objects: [Buffer.from([0, 1, 2, 255])] });
      await expectRefusal('OBJECT_MISSING', () => store.object(DIGEST));
      await expectRefusal('HASH_MALFORMED', () => store.object(digest.toUpperCase()));
    });

    it('refuses an object that is too large', async () => {
      const { store } = await withHumans(await place());
      const objects = [new Uint8Array(limits.object_bytes + 1)];
      await expectRefusal('INPUT_TOO_LARGE', () => store.commit({ events: [proposed()], objects }));
    });

    it('removes an old object with the event that says so, and stores it again when it comes again', async () => {
      const { store } = await withHumans(await place(), 'ada');
      const bytes = Buffer.from('an old output');
      const digest = sha256(bytes);
      const act = objectExpired(digest, 'ada');
      await store.commit({ events: [proposed()], objects: [bytes] });
      for (const commit of [{ events: [act] }, { events: [proposed()], erase: [digest] }])
        await expectRefusal('SHAPE_INVALID', () => store.commit(commit));
      const { size: as_of } = await store.tip();
      await store.commit({ events: [proposed(randomUUID())], objects: [bytes] });
      await expectRefusal('DECISION_STALE', () => store.commit({ events: [act], erase: [digest], as_of }));
      expect(await store.object(digest)).toHaveLength(13);
      // Of two that were decided on the same ledger one is written, also when they share a transaction.
      const here = { as_of: as_of + 1 };
      const both = await Promise.allSettled([
        store.commit({ events: [act], erase: [digest], ...here }),
        store.commit({ events: [proposed(randomUUID())], objects: [bytes], ...here }),
      ]);
      expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      const { message, facts } = await expectRefusal('OBJECT_MISSING', () => store.object(digest));
      expect(message).toMatch(/^It was removed by gc on \S+ by ada\.$/);
      expect(facts).toMatchObject({ removed: 'expired', by: 'ada' });
      await expectRefusal('OBJECT_MISSING', () => store.commit({ events: [act], erase: [digest] }));
      await store.commit({ events: [proposed(randomUUID())], objects: [bytes] });
      expect(await store.object(digest)).toHaveLength(13);
      const held: object[] = [];
      for await (const batch of store.objects()) held.push(...batch);
      expect(held).toContainEqual({ digest, bytes: 13 });
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('erases an object only with the event that says so, and the ledger still rebuilds', async () => {
      const { store } = await withHumans(await place(), 'ada');
      const bytes = Buffer.from('password');
      const digest = sha256(bytes);
      const act = erased(digest, 'ada');
      await store.commit({ events: [proposed()], objects: [bytes] });
      const wrong = [
        { events: [proposed()], erase: [digest] },
        { events: [act] },
        { events: [act], erase: [DIGEST] },
        { events: [act], erase: [digest, digest] },
      ];
      for (const commit of wrong) await expectRefusal('SHAPE_INVALID', () => store.commit(commit));
      await expectRefusal('PRINCIPAL_UNKNOWN', () =>
        store.commit({ events: [erased(digest, 'eve')], erase: [digest] }),
      );
      expect(await store.object(digest)).toHaveLength(8);
      await store.commit({ events: [act], erase: [digest] });
      await expectRefusal('OBJECT_MISSING', () => store.object(digest));
      // It is erased once and for all: the same bytes, from whatever commit, are not taken again.
      await expectRefusal('CLAIM_TAKEN', () => store.commit({ events: [act], erase: [digest] }));
      const others = Buffer.from('another password');
      await store.commit({ events: [proposed(randomUUID())], objects: [bytes, others] });
      await store.adopt({ objects: [bytes] });
      await expectRefusal('OBJECT_MISSING', () => store.object(digest));
      expect(await store.object(sha256(others))).toHaveLength(16);
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('never hands out an object that is not what its digest says', async () => {
      const { at, store } = await withHumans(await place());
      const bytes = Buffer.from('approved content');
      await store.commit({ events: [proposed()], objects: [bytes] });
      await at.damage('object');
      await expectRefusal('OBJECT_CORRUPT', () => store.object(sha256(bytes)));
    });
  });

  describe(`${name}: many at once`, () => {
    it('commits concurrent commits in order, and a refused one hurts nobody', async () => {
      const { store } = await withHumans(await place());
      const ids = Array.from({ length: 64 }, () => randomUUID());
      const outcomes = await Promise.allSettled(
        ids.map((id, i) =>
          store.commit({ claims: [i % 4 === 0 ? 'contested' : id], events: [proposed(id)] }),
        ),
      );
      const expected = ids.map((_, i) => (i % 4 === 0 && i > 0 ? 'CLAIM_TAKEN' : 'ok'));
      expect(outcomes.map(codeOf)).toEqual(expected);
      const stored = (await store.page('intent', { limit: 100 })).map(({ state }) => state.intent_id);
      expect(stored).toEqual(ids.filter((_, i) => expected[i] === 'ok'));
      const entries = await allEntries(store);
      expect(entries).toHaveLength(BEGUN + 49);
      expect(await store.tip()).toEqual(requireChain(entries));
    });

    it('shows each of two open stores what the other committed', async () => {
      const { at, store } = await withHumans(await place());
      const other = await reopen(at, 'write');
      const reader = await reopen(at, 'read');
      for (let i = 0; i < 20; i++) {
        const id = randomUUID();
        await (i % 2 ? store : other).commit({ claims: [`n${i}`], events: [proposed(id)] });
        await expectRefusal('CLAIM_TAKEN', () =>
          (i % 2 ? other : store).commit({ claims: [`n${i}`], events: [proposed()] }),
        );
        expect(await reader.find('intent', id)).toMatchObject({ status: 'proposed' });
      }
      expect(await reader.tip()).toEqual(requireChain(await allEntries(store)));
    });

    it('answers what was asked before it closes, and refuses what is asked after', async () => {
      const { at, store } = await withHumans(await place());
      const commit = store.commit({ events: [proposed()] });
      await store.close();
      expect((await commit).entries).toHaveLength(1);
      await expectRefusal('STORE_CLOSED', () => store.commit({ events: [proposed()] }));
      await expectRefusal('STORE_CLOSED', () => store.tip());
      await store.close();
      expect(await (await reopen(at, 'read')).tip()).toMatchObject({ size: BEGUN + 1 });
    });
  });

  describe(`${name}: opening`, () => {
    it('refuses to create a ledger twice, and to open one that is not there', async () => {
      const { at, store } = await withHumans(await place());
      await store.commit({ events: [proposed()] });
      await expectRefusal('PROJECT_EXISTS', () => at.open({ mode: 'create' }));
      await expectRefusal('STORE_MISSING', () => at.open({ mode: 'write', tenant: 'nobody' }));
      await expectRefusal('STORE_MISSING', () => at.open({ mode: 'read', tenant: 'nobody' }));
      expect(await store.tip()).toMatchObject({ size: BEGUN + 1 });
    });

    it('writes nothing when opened to read', async () => {
      const { at } = await withHumans(await place());
      const reader = await reopen(at, 'read');
      await expectRefusal('STORE_READ_ONLY', () => reader.commit({ events: [proposed()] }));
      await expectRefusal('STORE_READ_ONLY', () => reader.rebuild({ write: true }));
      expect(await reader.rebuild({ write: false })).toEqual({ entries: 2, rows: 4, differences: [] });
    });
  });

  authorityContract(name, place);
  delegationContract(name, place);
  credentialContract(name, place);
  listContract(name, place);
  rebuildContract(name, place);
  undoContract(name, place);
}

/** Contents of which the digests of two begin with the same 4 characters; they are the first two. */
function likeDigests(): Uint8Array[] {
  const seen = new Map<string, Uint8Array>();
  for (let i = 0; ; i++) {
    const bytes = Buffer.from(`content ${i}`);
    const beginning = sha256(bytes).slice(0, 4);
    const other = seen.get(beginning);
    if (other) return [other, bytes, Buffer.from('something else')];
    seen.set(beginning, bytes);
  }
}
