import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { Event } from '../../src/event/event.ts';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import { asked, changed, stood, told, waived } from './agent-facts.ts';
import { delegation, takenBack } from './facts.ts';
import { codeOf, governance, governed, type Place } from './place.ts';

/** The part of the contract about what the agent core may run, what it lacks, and who waives its targets. */
export function simulationContract(name: string, place: () => Promise<Place>): void {
  describe(`${name}: simulations, requests and waivers`, () => {
    const commit = (store: Store, event: Event) => () => store.commit({ events: [event] });

    it('only a human changes a simulation, and no delegate does', async () => {
      const { store } = await governed(await place());
      const held = '22222222-0000-4000-8000-000000000000';
      await store.commit({ events: [delegation(held, 'ada', 'planner', { actions: ['simulation:*'] })] });
      const held_until = { own_delegation: held, expires_at: '2026-01-16T12:00:00.000Z' };
      await expectRefusal('NOT_HUMAN', commit(store, changed('Draft', 'planner')));
      await expectRefusal('PRINCIPAL_UNKNOWN', commit(store, changed('Draft', 'eve')));
      const draft = changed('Draft');
      const forged = { ...draft, body: { ...draft.body, proof: sha256('another proof') } };
      await expectRefusal('SIGNATURE_INVALID', commit(store, forged));
      await store.commit({ events: [draft] });
      await expectRefusal('NOT_HUMAN', commit(store, changed('Active', 'planner', held_until)));
      await store.commit({ events: [changed('Active', 'ada', held_until)] });
      expect(await store.find('simulation', 'user.create')).toMatchObject({
        status: 'Active',
        ...held_until,
      });
      expect(await store.find('simulation', 'user.delete')).toBeNull();
    });

    it('an activation rests on a delegation that holds and covers it', async () => {
      const { store } = await governed(await place());
      const [held, narrow] = ['2', '3'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
      const expires_at = '2026-01-16T12:00:00.000Z';
      const active = (own_delegation: string, until = expires_at) =>
        commit(store, changed('Active', 'ada', { own_delegation, expires_at: until }));
      await store.commit({ events: [changed('Draft')] });
      await expectRefusal('DELEGATION_UNKNOWN', active(held!));
      await store.commit({
        events: [
          delegation(held!, 'ada', 'planner', { actions: ['simulation:user.create@1'] }),
          delegation(narrow!, 'ada', 'planner', { actions: ['simulation:user.create@2'] }),
        ],
      });
      await expectRefusal('DELEGATION_OUT_OF_SCOPE', active(narrow!));
      await expectRefusal('DELEGATION_WIDENED', active(held!, '2027-01-16T12:00:00.000Z'));
      await store.commit({ events: [takenBack(narrow!, 'ada')] });
      await expectRefusal('DELEGATION_REVOKED', active(narrow!));
      await active(held!)();
    });

    it('lists all simulations and all requests, oldest first', async () => {
      const { store } = await governed(await place());
      await store.commit({ events: [changed('Draft'), changed('Active')] });
      const delete_1 = { simulation: 'user.delete' };
      await store.commit({
        events: [
          changed('Draft', 'ada', delete_1),
          changed('Disabled', 'ada', { ...delete_1, from: stood('Draft') }),
        ],
      });
      await store.commit({ events: [asked('mia'), asked('leo', 'order pizza'), asked('leo')] });
      expect((await store.all('simulation')).map(({ simulation, status }) => [simulation, status])).toEqual([
        ['user.create', 'Active'],
        ['user.delete', 'Disabled'],
      ]);
      expect((await store.all('intake')).map(({ count, users }) => [count, users.length])).toEqual([
        [2, 2],
        [1, 1],
      ]);
      expect(await store.find('intake', sha256('order pizza'))).toMatchObject({ count: 1, status: 'open' });
      expect(await store.find('intake', sha256('nothing'))).toBeNull();
    });

    it('a requester is told once, of something that is active', async () => {
      const { store } = await governed(await place());
      await store.commit({ events: [asked('mia')] });
      await expectRefusal('SIMULATION_NOT_REGISTERED', commit(store, told('mia')));
      await store.commit({ events: [changed('Draft')] });
      await expectRefusal('SIMULATION_NOT_ACTIVE', commit(store, told('mia')));
      await store.commit({ events: [changed('Active')] });
      const outcomes = await Promise.allSettled(
        [told('mia'), told('mia')].map((event) => commit(store, event)()),
      );
      expect(outcomes.map(codeOf)).toEqual(['ok', 'AGENT_TRANSITION_ILLEGAL']);
      expect(await store.all('intake')).toMatchObject([{ status: 'told', told: ['mia'] }]);
    });

    it('a waiver is signed by a human and ends soon', async () => {
      const { store } = await governed(await place());
      await expectRefusal('NOT_HUMAN', commit(store, waived('2026-01-20T12:00:00.000Z', 'planner')));
      await expectRefusal('TIME_MALFORMED', commit(store, waived('2027-01-20T12:00:00.000Z')));
      await store.commit({ events: [waived('2026-01-20T12:00:00.000Z')] });
      expect(await store.entriesOf('system')).toHaveLength(governance('ada').length - 1);
    });
  });
}
