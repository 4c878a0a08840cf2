import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  activated,
  assigned,
  broken,
  capabilityOf,
  claimed,
  controlled,
  delegation,
  denied,
  enrolled,
  finished,
  frozen,
  granted,
  issued,
  issuedUnder,
  ordered,
  proposed,
  refused,
  resolved,
  retried,
  revoked,
  submitted,
  takenBack,
  unfrozen,
  withdrawn,
} from './facts.ts';
import { allEntries, codeOf, governance, governed, NOON, type Place, reopen, requireChain } from './place.ts';

/** The part of the contract about folding the ledger again. */
export function rebuildContract(name: string, place: () => Promise<Place>): void {
  describe(`${name}: rebuild`, () => {
    const BY_BO = { approvers: [{ name: 'bo', roles: [] }] };
    async function lived() {
      const made = await governed(await place(), ['ada', 'bo']);
      const [id, execution] = [randomUUID(), randomUUID()];
      await made.store.commit({ events: [proposed(id), granted(id, 'bo')] });
      await made.store.commit({
        events: [delegation(DELEGATION, 'ada', 'planner'), ...issued(id, 'ada', BY_BO)],
      });
      const claims = [`execution:${id}:1`, `capability:${capabilityOf(id)}`];
      await made.store.commit({ claims, events: [claimed(id, execution)] });
      await made.store.commit({ events: [finished(id, execution, 'partial')] });
      return { ...made, id, execution };
    }

    it('finds nothing to say about what it wrote itself', async () => {
      const { at, store } = await lived();
      const same = { entries: 14, rows: 14, differences: [] };
      expect(await store.rebuild({ write: false })).toEqual(same);
      expect(await store.rebuild({ write: true })).toEqual(same);
      expect(await (await reopen(at, 'read')).rebuild({ write: false })).toEqual(same);
    });

    it('names a forged status and puts it right', async () => {
      const { at, store, id } = await lived();
      await at.damage('intents');
      expect(await store.find('intent', id)).toMatchObject({ status: 'approved' });
      expect((await store.rebuild({ write: false })).differences).toEqual([`intent ${id}`]);
      expect((await store.rebuild({ write: true })).differences).toEqual([`intent ${id}`]);
      expect(await store.find('intent', id)).toMatchObject({ status: 'partial' });
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
    });

    it('names forgotten claims and takes them again', async () => {
      const { at, store, id } = await lived();
      await at.damage('claims');
      const claims = [`capability:${capabilityOf(id)}`, `execution:${id}:1`, `intent:${id}`];
      const expected = claims.map((claim) => `claim ${claim}`);
      const { differences } = await store.rebuild({ write: true });
      expect(differences.filter((one) => !one.startsWith('claim act:'))).toEqual(expected);
      for (const claim of claims)
        await expectRefusal('CLAIM_TAKEN', () => store.commit({ claims: [claim], events: [proposed()] }));
    });

    it('refuses to fold a ledger whose entry was changed', async () => {
      const { at, store } = await lived();
      await at.damage('entry');
      const refusal = await expectRefusal('LEDGER_BROKEN', () => store.rebuild({ write: true }));
      expect(refusal.facts.seq).toBe(8);
    });

    it('gives the stored projections for any sequence of events', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyCommit, { minLength: 1, maxLength: 40 }), async (commits) => {
          const at = await place();
          const store = await at.open({ mode: 'create', clock: () => new Date(NOON) });
          await store.commit({ events: governance('ada', 'bo') });
          const outcomes = await Promise.allSettled(commits.map((commit) => store.commit(commit)));
          for (const outcome of outcomes) codeOf(outcome);
          const { differences, entries } = await store.rebuild({ write: false });
          const chain = requireChain(await allEntries(store));
          const tip = await store.tip();
          await store.close();
          expect(differences).toEqual([]);
          expect(entries).toBe(chain.size);
          expect(tip).toEqual(chain);
        }),
        { numRuns: 60 },
      );
    });
  });
}

const DELEGATION = '22222222-0000-4000-8000-000000000000';
const IDS = Array.from({ length: 3 }, (_, i) => `00000000-0000-4000-8000-00000000000${i}`);
const RUNS = Array.from({ length: 4 }, (_, i) => `11111111-0000-4000-8000-00000000000${i}`);
const id = fc.constantFrom(...IDS);
const run = fc.constantFrom(...RUNS);
const human = fc.constantFrom('ada', 'bo', 'cy');
const attempt = fc.integer({ min: 1, max: 3 });

/** Mostly plausible events over few names, so that many are legal and many are not. */
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.tuple(human, human).map(([name, by]) => enrolled(name, by)),
  human.map((name) => enrolled(name)),
  fc.tuple(human, human).map(([name, by]) => revoked(name, by)),
  id.map((subject) => proposed(subject)),
  fc.tuple(id, human).map(([subject, by]) => granted(subject, by)),
  fc.tuple(id, human).map(([subject, by]) => denied(subject, by)),
  fc
    .tuple(id, human, attempt, fc.integer({ min: 1, max: 4 }))
    .map(([subject, , attempt, ordinal]) => issuedUnder(subject, { attempt, ordinal })),
  fc.tuple(id, human, attempt).map(([subject, by, attempt]) => ordered(subject, by, { attempt })),
  fc.tuple(id, human, attempt).map((parts) => withdrawn(...parts)),
  fc.tuple(id, human).map((parts) => broken(...parts)),
  fc.tuple(id, run, attempt).map((parts) => claimed(...parts)),
  fc
    .tuple(id, run, fc.constantFrom('success' as const, 'failure' as const, 'partial' as const), attempt)
    .map((parts) => finished(...parts)),
  fc
    .tuple(id, run, fc.constantFrom('happened' as const, 'did_not_happen' as const), human)
    .map((parts) => resolved(...parts)),
  fc.tuple(id, run, attempt, human).map((parts) => retried(...parts)),
  id.map(refused),
  fc.tuple(human, human).map(([name, by]) => assigned(name, ['dev'], by)),
  human.map((by) => frozen(by)),
  human.map((by) => unfrozen(by)),
  human.map((by) => activated(by)),
  human.map((by) => controlled('control', by)),
  human.map((by) => delegation(DELEGATION, by, 'planner')),
  human.map((by) => takenBack(DELEGATION, by)),
  id.map((subject) => submitted(subject, 'planner', DELEGATION)),
);

const anyCommit = fc.record({
  events: fc.array(anyEvent, { minLength: 1, maxLength: 4 }),
  claims: fc.uniqueArray(fc.constantFrom('a', 'b', `c:${IDS[0]}`, ...IDS), { maxLength: 2 }),
});
