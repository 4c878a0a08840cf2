import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { signedBy } from '../../src/event/event.ts';
import { openEntry } from '../../src/ledger/entry.ts';
import type { Page, Store } from '../../src/store/store.ts';
import { claimed, denied, finished, granted, issued, proposed, refused, retried } from './facts.ts';
import { allEntries, governed, type Place, reopen } from './place.ts';

/** More than a store may look through one by one. */
const INTENTS = 220;
const PROPOSERS = ['bot', 'planner', 'crawler'];

/** The part of the contract about lists of a long ledger, whose rows change long after they came into being and soon after. */
export function listContract(name: string, place: () => Promise<Place>): void {
  describe(`${name}: lists of a long ledger`, () => {
    const another = { tool: 'mend', effect_digest: sha256('another effect') };

    async function lived() {
      const { at, store } = await governed(await place(), ['ada', 'bo']);
      const ids = Array.from({ length: INTENTS }, () => randomUUID());
      const runs = [randomUUID(), randomUUID()] as const;
      const propose = (from: number, to: number) =>
        Promise.all(
          ids.slice(from, to).map((id, i) =>
            store.commit({
              events: [
                proposed(id, {
                  proposer: PROPOSERS[(from + i) % 3]!,
                  tool: i % 2 ? 'deploy' : 'build',
                  alternates: [another],
                }),
                refused(id),
              ],
            }),
          ),
        );
      const run = async (id: string, execution: string, ordinal: number) => {
        await store.commit({
          events: [granted(id, 'ada'), ...issued(id, 'ada', { ordinal }), claimed(id, execution)],
        });
        await store.commit({ events: [finished(id, execution, 'failure')] });
        await store.commit({ events: [retried(id, execution, 2, 'ada', another)] });
      };
      await propose(0, 10);
      await run(ids[1]!, runs[0], 1);
      await store.commit({ events: [denied(ids[3]!, 'bo')] });
      await propose(10, INTENTS);
      // What came into being long ago, and what just did.
      await store.commit({ events: [denied(ids[5]!, 'bo')] });
      await run(ids[7]!, runs[1], 2);
      await store.commit({ events: [denied(ids[INTENTS - 1]!, 'bo')] });
      return { at, store, ids };
    }

    async function expectPages(store: Store, ids: readonly string[]): Promise<void> {
      const states = await Promise.all(ids.map(async (id) => (await store.find('intent', id))!));
      const asked: NonNullable<Page['by']>[] = [
        ...[...new Set(states.map(({ status }) => status))].map((status) => ['status', [status]] as const),
        ['status', ['proposed', 'rejected']],
        ...[...PROPOSERS, 'nobody'].map((proposer) => ['proposer', [proposer]] as const),
        ...['deploy', 'build', 'mend'].map((tool) => ['tool', [tool]] as const),
      ];
      for (const by of asked) {
        const [column, values] = by;
        const right = states.filter((state) => values.includes(state[column as 'status']));
        for (const newest_first of [true, false])
          for (const limit of [1, 7, INTENTS]) {
            const found: string[] = [];
            for (let beyond: number | undefined; found.length <= right.length; ) {
              const page = await store.page('intent', {
                by,
                limit,
                newest_first,
                ...(beyond !== undefined && { beyond }),
              });
              found.push(...page.map(({ state }) => state.intent_id));
              if (limit === 1 && found.length >= 3) break;
              if (page.length < limit) break;
              beyond = page.at(-1)!.seq;
            }
            const ordered = right
              .map(({ intent_id }) => intent_id)
              .sort((a, b) => ids.indexOf(a) - ids.indexOf(b));
            if (newest_first) ordered.reverse();
            expect(found, `${column} ${values} ${newest_first} ${limit}`).toEqual(
              ordered.slice(0, limit === 1 ? 3 : undefined),
            );
          }
      }
    }

    it('holds each row once under what it is now, in both directions, page by page', async () => {
      const { at, store, ids } = await lived();
      await expectPages(store, ids);
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
      const other = await reopen(at, 'write');
      await other.commit({ events: [denied(ids[9]!, 'bo')] });
      for (const each of [store, other]) await expectPages(each, ids);
      await store.commit({ events: [denied(ids[11]!, 'bo')] });
      for (const each of [store, other]) await expectPages(each, ids);
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
      expect((await store.all('principal')).map((one) => one.name)).toEqual(['ada', 'bo', 'planner']);
    });

    it('holds each entry once under its kind and its signer', async () => {
      const { store } = await lived();
      const entries = (await allEntries(store)).map(({ bytes }) => openEntry(bytes)).reverse();
      const seqs = async (by: readonly ['kind' | 'signer', string]) => {
        const found: number[] = [];
        for (let beyond: number | undefined; ; ) {
          const page = await store.entryPage({ by, limit: 50, ...(beyond !== undefined && { beyond }) });
          found.push(...page.map(({ seq }) => seq));
          if (page.length < 50) return found;
          beyond = page.at(-1)!.seq;
        }
      };
      for (const kind of new Set(entries.map((entry) => entry.kind)))
        expect(await seqs(['kind', kind])).toEqual(
          entries.filter((one) => one.kind === kind).map(({ seq }) => seq),
        );
      for (const signer of ['ada', 'bo', 'planner', 'nobody'])
        expect(await seqs(['signer', signer])).toEqual(
          entries.filter((one) => signedBy(one) === signer).map(({ seq }) => seq),
        );
    });
  });
}
