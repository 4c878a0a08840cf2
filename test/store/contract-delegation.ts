import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Body, Event } from '../../src/event/event.ts';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  claimed,
  delegation,
  enrolledAgent,
  granted,
  issued,
  keyOf,
  proposed,
  revoked,
  submitted,
  takenBack,
} from './facts.ts';
import { governed, NOON, type Place } from './place.ts';

/** The part of the contract about delegations: no principal passes on more than they have, and the store is where it is judged. */
export function delegationContract(name: string, place: () => Promise<Place>): void {
  const commit =
    (store: Store, ...events: Event[]) =>
    () =>
      store.commit({ events });

  /** Ada and Bo, the planner and the helper with keys, and a delegation of Ada to the planner. */
  async function delegated(over: Partial<Body<'delegation.granted'>> = {}) {
    const made = await governed(await place(), ['ada', 'bo']);
    const [root, id] = [randomUUID(), randomUUID()];
    await made.store.commit({
      events: [
        enrolledAgent('helper', 'ada', keyOf('helper')),
        delegation(root, 'ada', 'planner', over),
        proposed(id),
      ],
    });
    return { ...made, root, id };
  }

  describe(`${name}: a delegation`, () => {
    it('is read back with its chain and its root, oldest first', async () => {
      const { store, root } = await delegated();
      const passed = randomUUID();
      await store.commit({ events: [delegation(passed, 'planner', 'helper', { delegation: root })] });
      await store.commit({ events: [takenBack(root, 'bo')] });
      expect(await store.find('delegation', passed)).toEqual({
        delegation_id: passed,
        delegate: 'helper',
        delegate_key: keyOf('helper'),
        actions: ['tool:*'],
        approves: true,
        expires_at: '2026-02-15T12:00:00.000Z',
        parent: root,
        root: { by: 'ada', key: keyOf('ada') },
        chain: ['ada', 'planner', 'helper'],
        grant: null,
        granted_at: NOON,
        status: 'active',
      });
      const all = (await store.all('delegation')).map(({ delegation_id, status }) => [delegation_id, status]);
      expect(all).toEqual([
        [root, 'revoked'],
        [passed, 'active'],
      ]);
      expect(await store.find('delegation', randomUUID())).toBeNull();
    });

    it('that says so lets its delegate submit for the human, and be granted a capability', async () => {
      const { store, root, id } = await delegated();
      await store.commit({ events: [submitted(id, 'planner', root)] });
      expect(await store.find('intent', id)).toMatchObject({
        status: 'approved',
        approvals: [{ by: 'ada', assurance: 'delegation', delegation: root }],
      });
      await store.commit({
        events: [...issued(id, 'planner', { delegation: root, expires_at: '2026-02-15T12:00:00.000Z' })],
      });
      expect(await store.find('intent', id)).toMatchObject({ capabilities: [{ by: 'planner' }] });
      // A second yes takes nothing away from the first.
      await store.commit({ events: [granted(id, 'bo')] });
      await store.commit({ events: [claimed(id, randomUUID(), 1, {}, 'planner')] });
    });

    it('that is unknown, ended or taken back carries nothing', async () => {
      const { store, root, id, setTime } = await delegated({ expires_at: '2026-01-15T13:00:00.000Z' });
      const submit = (by: string, under: string) =>
        commit(store, submitted(id, by, under, { expires_at: '2026-01-15T13:00:00.000Z' }));
      await expectRefusal('DELEGATION_UNKNOWN', submit('planner', randomUUID()));
      await expectRefusal('DELEGATION_OUT_OF_SCOPE', submit('helper', root));
      setTime('2026-01-15T13:00:00.000Z');
      await expectRefusal('DELEGATION_EXPIRED', submit('planner', root));
      setTime('2026-01-15T12:59:59.999Z');
      await store.commit({ events: [takenBack(root, 'ada')] });
      await expectRefusal('DELEGATION_REVOKED', submit('planner', root));
      await expectRefusal('DELEGATION_REVOKED', commit(store, takenBack(root, 'ada')));
      await expectRefusal('DELEGATION_UNKNOWN', commit(store, takenBack(randomUUID(), 'ada')));
      expect(await store.find('intent', id)).toMatchObject({ status: 'proposed', approvals: [] });
    });

    it('is passed on by its delegate only, and never becomes wider, longer or a circle', async () => {
      const { store, root } = await delegated({ actions: ['tool:deploy*', 'plan'], approves: false });
      const under = { delegation: root, actions: ['tool:deploy'], approves: false };
      const pass = (over: object, by = 'planner', to = 'helper') =>
        commit(store, delegation(randomUUID(), by, to, { ...under, ...over }));
      await expectRefusal('DELEGATION_UNKNOWN', pass({ delegation: randomUUID() }));
      await expectRefusal('DELEGATION_OUT_OF_SCOPE', pass({}, 'helper'));
      await expectRefusal('NOT_HUMAN', pass({ delegation: null }));
      await expectRefusal('DELEGATION_WIDENED', pass({ actions: ['tool:*'] }));
      await expectRefusal('DELEGATION_WIDENED', pass({ actions: ['tool:deploy', 'tool:backup'] }));
      await expectRefusal('DELEGATION_WIDENED', pass({ approves: true }));
      await expectRefusal('DELEGATION_WIDENED', pass({ expires_at: '2026-02-15T12:00:00.001Z' }));
      await expectRefusal('DELEGATION_CYCLE', pass({}, 'planner', 'planner'));
      await expectRefusal('DELEGATION_CYCLE', pass({}, 'planner', 'ada'));
      await expectRefusal('DELEGATION_EXPIRED', pass({ expires_at: NOON }));
      await expectRefusal('TRANSITION_ILLEGAL', commit(store, delegation(root, 'ada', 'helper')));
      expect(await store.all('delegation')).toHaveLength(1);
      await pass({})();
    });

    it('covers its actions, gives no approval unless it says so, and none that outlives it', async () => {
      const { store, root, id } = await delegated({ approves: false });
      const [narrow, other] = [randomUUID(), randomUUID()];
      await store.commit({ events: [delegation(narrow, 'ada', 'planner', { actions: ['tool:backup'] })] });
      const submit = (under: string, over = {}) => commit(store, submitted(id, 'planner', under, over));
      await expectRefusal('DELEGATION_OUT_OF_SCOPE', submit(narrow));
      await expectRefusal('DELEGATION_WIDENED', submit(root));
      await expectRefusal(
        'DELEGATION_WIDENED',
        submit(root, { approver: null, expires_at: '2026-03-01T12:00:00.000Z' }),
      );
      await store.commit({ events: [delegation(other, 'ada', 'planner')] });
      for (const approver of [
        { by: 'bo', key: keyOf('bo') },
        { by: 'ada', key: keyOf('bo') },
      ])
        await expectRefusal('DELEGATION_WIDENED', submit(other, { approver }));
      await submit(root, { approver: null })();
      expect(await store.find('intent', id)).toMatchObject({ status: 'proposed', approvals: [] });
      await submit(other)();
      await expectRefusal(
        'DELEGATION_OUT_OF_SCOPE',
        commit(store, ...issued(id, 'planner', { delegation: narrow })),
      );
    });

    it('dies with the key of the human at its root, and so does what was approved under it', async () => {
      const { store, root, id } = await delegated();
      await store.commit({ events: [submitted(id, 'planner', root), revoked('ada', 'bo')] });
      const later = randomUUID();
      await store.commit({ events: [proposed(later)] });
      await expectRefusal('DELEGATION_REVOKED', commit(store, submitted(later, 'planner', root)));
      await expectRefusal('APPROVER_REVOKED', commit(store, ...issued(id, 'bo')));
    });

    it('that was taken back takes the approval under it along', async () => {
      const { store, root, id } = await delegated();
      await store.commit({ events: [submitted(id, 'planner', root), takenBack(root, 'ada')] });
      await expectRefusal('APPROVER_REVOKED', commit(store, ...issued(id, 'ada')));
    });

    it('holds only while every link of its chain does', async () => {
      const { store, root, id } = await delegated();
      const passed = randomUUID();
      await store.commit({ events: [delegation(passed, 'planner', 'helper', { delegation: root })] });
      await store.commit({ events: [revoked('planner', 'ada')] });
      await expectRefusal('KEY_REVOKED', commit(store, submitted(id, 'helper', passed)));
    });
  });
}
