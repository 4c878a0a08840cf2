import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  activated,
  assigned,
  begun,
  broken,
  capabilityOf,
  claimed,
  controlled,
  enrolled,
  enrolledAgent,
  finished,
  frozen,
  granted,
  issued,
  issuedUnder,
  keyOf,
  ORIGIN,
  ordered,
  POLICY,
  proposed,
  retried,
  revoked,
  signedBy,
  uncontrolled,
  unfrozen,
  withdrawn,
} from './facts.ts';
import { codeOf, governed, NOON, type Place, reopen } from './place.ts';

const NEWER = 'cd'.repeat(32);

/** The part of the contract about what a grant and a claim rest on: looked at in the transaction that writes them. */
export function authorityContract(name: string, place: () => Promise<Place>): void {
  const commit =
    (store: Store, ...events: Event[]) =>
    () =>
      store.commit({ events });

  /** An intent that a human approved, and the next ordinal of its proposer. */
  async function approved(store: Store, by = 'ada'): Promise<string> {
    const id = randomUUID();
    await store.commit({ events: [proposed(id), granted(id, by)] });
    return id;
  }

  async function ready(store: Store, ordinal = 1): Promise<string> {
    const id = await approved(store);
    await store.commit({ events: [...issued(id, 'ada', { ordinal })] });
    return id;
  }

  describe(`${name}: how much one source proposes`, () => {
    const quota = { pending: 2, minute: 100 };

    it('is counted where it is written: of many at once as many are taken as there is room for', async () => {
      const { store } = await governed(await place());
      const many = Array.from({ length: 6 }, () => store.commit({ events: [proposed()], quota }));
      const ended = await Promise.allSettled(many);
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      await expectRefusal('PROPOSALS_LIMITED', () => store.commit({ events: [proposed()], quota }));
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
    });

    it('a name that is proven counts apart, and what a human decides makes room', async () => {
      const { store } = await governed(await place());
      const [first, second] = [randomUUID(), randomUUID()];
      await store.commit({ events: [proposed(first), proposed(second)] });
      const signed = {
        proposer: 'ada',
        proposer_kind: 'human',
        ...signedBy('ada'),
      } as const;
      await store.commit({ events: [proposed(undefined, signed)], quota });
      await expectRefusal('PROPOSALS_LIMITED', () => store.commit({ events: [proposed()], quota }));
      await store.commit({ events: [granted(first, 'ada')] });
      await store.commit({ events: [proposed()], quota });
      await expectRefusal('PROPOSALS_LIMITED', () => store.commit({ events: [proposed()], quota }));
      expect(await store.find('quota', 'account:unknown')).toMatchObject({ pace: { total: 3 } });
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
    });
  });

  describe(`${name}: what holds for every intent`, () => {
    it('is read back: control keys, policies, what is frozen', async () => {
      const { at, store } = await governed(await place());
      const tool = { scope: 'tool' as const, name: 'deploy' };
      await store.commit({ events: [controlled('newer', 'ada'), activated('ada', NEWER)] });
      await store.commit({ events: [frozen('ada'), frozen('ada', tool), unfrozen('ada')] });
      const system = await store.system();
      expect(system).toEqual({
        origin: ORIGIN,
        ledger_key: keyOf('ledger'),
        control_keys: ['control', 'newer'].map((one) => ({
          public_key: keyOf(one),
          added_at: NOON,
          added_by: 'ada',
          replaced_at: null,
          revoked_at: null,
        })),
        executors: [
          {
            public_key: keyOf('host'),
            name: 'here',
            labels: [],
            added_at: NOON,
            added_by: 'ada',
            revoked_at: null,
          },
        ],
        policy: NEWER,
        freezes: [{ ...tool, by: 'ada', at: NOON, reason: 'looking into it' }],
        set_back_at: null,
      });
      expect(await (await reopen(at, 'read')).system()).toEqual(system);
    });

    it('is refused of a ledger that has not begun, and none begins twice', async () => {
      const store = await reopen(await place(), 'create');
      await expectRefusal('STORE_CORRUPT', () => store.system());
      await store.commit({ events: [begun()] });
      expect(await store.system()).toMatchObject({ control_keys: [], policy: null, freezes: [] });
      await expectRefusal('TRANSITION_ILLEGAL', commit(store, begun()));
    });

    it('is changed by humans only, and by nothing that changes nothing', async () => {
      const { store } = await governed(await place());
      const before = await store.system();
      for (const act of [frozen('planner'), activated('planner', NEWER), controlled('own', 'planner')])
        await expectRefusal('NOT_HUMAN', commit(store, act));
      await expectRefusal('PRINCIPAL_UNKNOWN', commit(store, frozen('eve')));
      await expectRefusal('NOT_FROZEN', commit(store, unfrozen('ada')));
      await expectRefusal('KEY_ENROLLED_TWICE', commit(store, controlled('control', 'ada')));
      expect(await store.system()).toEqual(before);
      await store.commit({ events: [frozen('ada')] });
      await expectRefusal('FROZEN_ALREADY', commit(store, frozen('ada')));
    });

    it('knows roles, and one key speaks for one name', async () => {
      const { store } = await governed(await place());
      await store.commit({ events: [assigned('planner', ['ops', 'dev', 'ops'], 'ada')] });
      expect(await store.find('principal', 'planner')).toMatchObject({
        roles: ['dev', 'ops'],
        status: 'active',
      });
      await expectRefusal('PRINCIPAL_UNKNOWN', commit(store, assigned('eve', ['dev'], 'ada')));
      const twice = [
        enrolledAgent('double', 'ada', keyOf('ada')),
        enrolledAgent('copy', 'ada', keyOf('planner')),
      ];
      for (const act of twice) await expectRefusal('KEY_ENROLLED_TWICE', commit(store, act));
      // Also of a key whose name was revoked, and within one commit.
      await store.commit({ events: [enrolled('bo', 'ada'), revoked('bo', 'ada')] });
      await expectRefusal('KEY_ENROLLED_TWICE', commit(store, enrolledAgent('bo2', 'ada', keyOf('bo'))));
      const both = [enrolledAgent('one', 'ada', keyOf('x')), enrolledAgent('two', 'ada', keyOf('x'))];
      await expectRefusal('KEY_ENROLLED_TWICE', () => store.commit({ events: both }));
    });

    it('takes no approval from whoever asked, in whosever name it was proposed, once there is another human', async () => {
      const { store } = await governed(await place(), ['ada', 'bo']);
      const [own, asked] = [randomUUID(), randomUUID()];
      await store.commit({ events: [proposed(own, { proposer: 'bo', proposer_kind: 'human' })] });
      await store.commit({ events: [proposed(asked, { on_behalf_of: 'bo' })] });
      for (const id of [own, asked]) {
        await expectRefusal('SELF_APPROVAL', commit(store, granted(id, 'bo')));
        await store.commit({ events: [granted(id, 'ada')] });
      }
      await store.commit({ events: [revoked('ada', 'bo')] });
      const alone = randomUUID();
      await store.commit({ events: [proposed(alone, { on_behalf_of: 'bo' }), granted(alone, 'bo')] });
      expect(await store.find('intent', alone)).toMatchObject({ status: 'approved', on_behalf_of: 'bo' });
    });

    it('takes the signature of a proposer when it is theirs, and no other', async () => {
      const { store } = await governed(await place());
      const [id, unsigned] = [randomUUID(), randomUUID()];
      const by = (signer: string, proposer = 'planner') => proposed(id, { proposer, ...signedBy(signer) });
      await expectRefusal('SIGNATURE_INVALID', commit(store, by('eve')));
      await expectRefusal('SIGNATURE_INVALID', commit(store, by('ada')));
      await expectRefusal('PRINCIPAL_UNKNOWN', commit(store, by('eve', 'eve')));
      await store.commit({ events: [by('planner'), proposed(unsigned)] });
      expect(await store.find('intent', id)).toMatchObject({ proposer_verified: true });
      expect(await store.find('intent', unsigned)).toMatchObject({ proposer_verified: false });
    });
  });

  describe(`${name}: a grant`, () => {
    it('is read back, with its capability and its count', async () => {
      const { store } = await governed(await place());
      const id = await ready(store);
      const capability_id = capabilityOf(id);
      expect(await store.find('capability', capability_id)).toMatchObject({ capability_id, intent_id: id });
      expect(await store.find('capability', id)).toBeNull();
      expect(await store.find('intent', id)).toMatchObject({
        capabilities: [{ capability_id, status: 'issued', by: 'ada' }],
      });
      expect(await store.find('pace', 'planner')).toMatchObject({ total: 1 });
      expect(await store.find('pace', 'ada')).toBeNull();
      const reused = await approved(store);
      const same_id = issued(reused, 'ada', { capability_id, ordinal: 2 });
      await expectRefusal('TRANSITION_ILLEGAL', commit(store, ...same_id));
    });

    it('under policies, a control key or a count that are not the present ones is stale', async () => {
      const { store } = await governed(await place());
      const id = await approved(store);
      const before = await store.tip();
      const other = { control_key: keyOf('other') };
      for (const over of [{ policy: NEWER }, { ordinal: 2 }, { ordinal: 9 }])
        await expectRefusal('DECISION_STALE', commit(store, ...issued(id, 'ada', over)));
      await expectRefusal('CONTROL_KEY_UNKNOWN', commit(store, ...issued(id, 'ada', other)));
      expect(await store.tip()).toEqual(before);
      await store.commit({ events: [activated('ada', NEWER), controlled('newer', 'ada')] });
      const now = { policy: NEWER, control_key: keyOf('newer') };
      for (const over of [{}, { ...now, policy: POLICY }])
        await expectRefusal('DECISION_STALE', commit(store, ...issued(id, 'ada', over)));
      await expectRefusal('CONTROL_KEY_UNKNOWN', commit(store, ...issued(id, 'ada', { ...now, ...other })));
      await store.commit({ events: [...issued(id, 'ada', now)] });
    });

    it('is issued by every control key, and by none that was replaced or revoked', async () => {
      const { at, store } = await governed(await place());
      const by = (name: string, ordinal: number) => ({ control_key: keyOf(name), ordinal });
      await store.commit({ events: [controlled('newer', 'ada')] });
      const [a, b, c] = [await approved(store), await approved(store), await approved(store)];
      await store.commit({ events: issued(a, 'ada', by('control', 1)) });
      await store.commit({ events: issued(b, 'ada', by('newer', 2)) });
      await expectRefusal('CONTROL_KEY_REVOKED', commit(store, controlled('newest', 'ada', 'other')));
      await store.commit({ events: [controlled('newest', 'ada', 'control')] });
      await expectRefusal('DECISION_STALE', commit(store, ...issued(c, 'ada', by('control', 3))));
      // A key that was replaced was good when it issued. One that was revoked may have been stolen by then.
      await store.commit({ events: [claimed(a)] });
      await expectRefusal('CONTROL_KEY_UNKNOWN', commit(store, uncontrolled('other', 'ada')));
      await store.commit({ events: [uncontrolled('newer', 'ada')] });
      await expectRefusal('CONTROL_KEY_REVOKED', commit(store, uncontrolled('newer', 'ada')));
      await expectRefusal('CONTROL_KEY_REVOKED', commit(store, controlled('last', 'ada', 'newer')));
      await expectRefusal('CONTROL_KEY_REVOKED', commit(store, ...issued(c, 'ada', by('newer', 3))));
      await expectRefusal('CONTROL_KEY_REVOKED', commit(store, claimed(b)));
      await store.commit({ events: issued(c, 'ada', by('newest', 3)) });
      await store.commit({ events: [claimed(c)] });
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
      expect(await (await reopen(at, 'read')).system()).toEqual(await store.system());
    });

    it('of two that were decided on the same count one is stale', async () => {
      const { store } = await governed(await place());
      const [a, b] = [await approved(store), await approved(store)];
      const outcomes = await Promise.allSettled(
        [a, b].map((id) => store.commit({ events: [...issued(id, 'ada')] })),
      );
      expect(outcomes.map(codeOf)).toEqual(['ok', 'DECISION_STALE']);
      await store.commit({ events: [...issued(b, 'ada', { ordinal: 2 })] });
      expect(await store.find('pace', 'planner')).toMatchObject({ total: 2 });
    });

    it('of two that do not rest on the count none is stale, and both are counted', async () => {
      const { store } = await governed(await place());
      const ids = [await approved(store), await approved(store), await approved(store)];
      const outcomes = await Promise.allSettled(
        ids.slice(0, 2).map((id) => store.commit({ events: [...issued(id, 'ada', { ordinal: null })] })),
      );
      expect(outcomes.map(codeOf)).toEqual(['ok', 'ok']);
      expect(await store.find('pace', 'planner')).toMatchObject({ total: 2 });
      await expectRefusal('DECISION_STALE', commit(store, ...issued(ids[2]!, 'ada', { ordinal: 2 })));
      await store.commit({ events: [...issued(ids[2]!, 'ada', { ordinal: 3 })] });
    });

    it('needs approvals whose keys still speak for a human', async () => {
      const { store } = await governed(await place(), ['ada', 'bo']);
      const id = await approved(store, 'bo');
      await store.commit({ events: [revoked('bo', 'ada')] });
      await expectRefusal('APPROVER_REVOKED', commit(store, ...issued(id, 'ada')));
      await store.commit({ events: [granted(id, 'ada'), ...issued(id, 'ada')] });
    });

    it('by a stranger, by an agent without a delegation, or for an unknown intent is refused', async () => {
      const { store } = await governed(await place());
      const id = await approved(store);
      await expectRefusal('PRINCIPAL_UNKNOWN', commit(store, ...issued(id, 'eve')));
      await expectRefusal('NOT_HUMAN', commit(store, ...issued(id, 'planner')));
      await expectRefusal('INTENT_NOT_FOUND', commit(store, ...issued(randomUUID(), 'ada')));
    });

    it('is refused while it is frozen', async () => {
      const { store } = await governed(await place());
      const id = await approved(store);
      await store.commit({ events: [frozen('ada')] });
      await expectRefusal('FROZEN', commit(store, ...issued(id, 'ada')));
      await store.commit({ events: [unfrozen('ada'), ...issued(id, 'ada')] });
    });
  });

  describe(`${name}: a claim`, () => {
    it('takes the capability, once, whoever asks at the same time', async () => {
      const { store } = await governed(await place());
      const id = await ready(store);
      const claims = [`execution:${id}:1`, `capability:${capabilityOf(id)}`];
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, () => store.commit({ claims, events: [claimed(id)] })),
      );
      expect(outcomes.map(codeOf)).toEqual(['ok', ...Array(7).fill('CLAIM_TAKEN')]);
      expect(await store.find('intent', id)).toMatchObject({
        status: 'claimed',
        capabilities: [{ status: 'spent' }],
        runs: [{ capability_id: capabilityOf(id) }],
      });
    });

    it('without a capability, with a revoked, a used or a foreign one, says which', async () => {
      const { store } = await governed(await place());
      const id = await ready(store);
      const bare = await approved(store);
      await expectRefusal('CAPABILITY_UNKNOWN', commit(store, claimed(bare)));
      const foreign = { capability_id: capabilityOf(id) };
      await expectRefusal('CAPABILITY_UNKNOWN', commit(store, claimed(bare, randomUUID(), 1, foreign)));
      const run = randomUUID();
      await store.commit({ events: [claimed(id, run)] });
      await store.commit({ events: [finished(id, run, 'failure'), retried(id, run, 2, 'ada')] });
      await expectRefusal('CLAIM_TAKEN', commit(store, claimed(id, randomUUID(), 2, foreign)));
      await store.commit({
        events: [...issued(id, 'ada', { attempt: 2, ordinal: 2 }), withdrawn(id, 'ada', 2)],
      });
      await expectRefusal('CAPABILITY_REVOKED', commit(store, claimed(id, randomUUID(), 2)));
      expect(await store.find('intent', id)).toMatchObject({
        status: 'approved',
        runs: [{ execution_id: run }],
      });
      expect(await store.find('intent', bare)).toMatchObject({ status: 'approved', runs: [] });
    });

    it('with an expired capability is refused by the time of the ledger', async () => {
      const { store, setTime } = await governed(await place());
      const id = await approved(store);
      const expires_at = '2026-01-15T12:05:00.000Z';
      await store.commit({ events: [...issued(id, 'ada', { expires_at })] });
      setTime(expires_at);
      await expectRefusal('CAPABILITY_EXPIRED', commit(store, claimed(id)));
      setTime('2026-01-15T12:04:59.999Z');
      await store.commit({ events: [claimed(id)] });
    });

    it.each([
      ['everything', { scope: 'system', name: '' }],
      ['its tenant', { scope: 'tenant', name: 'default' }],
      ['its proposer', { scope: 'agent', name: 'planner' }],
      ['its tool', { scope: 'tool', name: 'deploy' }],
    ] as const)('is refused while %s is frozen', async (_, target) => {
      const { store } = await governed(await place());
      const id = await ready(store);
      await store.commit({ events: [frozen('ada', target)] });
      await expectRefusal('FROZEN', commit(store, claimed(id)));
      expect(await store.find('intent', id)).toMatchObject({ status: 'approved', runs: [] });
      await store.commit({ events: [unfrozen('ada', target), claimed(id)] });
    });

    it('goes on while something else is frozen, or two humans broke the break_glass', async () => {
      const { store } = await governed(await place(), ['ada', 'bo']);
      const [a, b] = [await ready(store), await ready(store, 2)];
      await store.commit({ events: [frozen('ada', { scope: 'tool', name: 'backup' }), claimed(a)] });
      await store.commit({ events: [frozen('ada'), broken(b, 'ada'), broken(b, 'ada', 'smoke')] });
      await expectRefusal('FROZEN', commit(store, claimed(b)));
      await store.commit({ events: [broken(b, 'bo'), claimed(b)] });
    });

    it('is not issued past the policies where one of the two who broke the break_glass acts no more', async () => {
      const { store } = await governed(await place(), ['ada', 'bo', 'cy']);
      const id = randomUUID();
      const events = [
        proposed(id),
        granted(id, 'ada'),
        ordered(id, 'ada'),
        broken(id, 'ada'),
        broken(id, 'bo'),
      ];
      await store.commit({ events });
      await store.commit({ events: [assigned('bo', ['auditor'], 'ada')] });
      await expectRefusal('BREAK_GLASS_FORBIDDEN', commit(store, issuedUnder(id, { break_glass: true })));
      await store.commit({ events: [broken(id, 'cy'), issuedUnder(id, { break_glass: true })] });
    });

    it('decided by policies that are no longer active is stale', async () => {
      const { store } = await governed(await place());
      const id = await ready(store);
      await store.commit({ events: [activated('ada', NEWER)] });
      await expectRefusal('DECISION_STALE', commit(store, claimed(id)));
      await store.commit({ events: [claimed(id, randomUUID(), 1, { policy: NEWER })] });
    });

    it('dies with the key of the human who approved', async () => {
      const { store } = await governed(await place(), ['ada', 'bo']);
      const id = await approved(store, 'bo');
      await store.commit({
        events: [...issued(id, 'ada', { approvers: [{ name: 'bo', roles: [] }] }), revoked('bo', 'ada')],
      });
      await expectRefusal('APPROVER_REVOKED', commit(store, claimed(id)));
    });
  });
}
