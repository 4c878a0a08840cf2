import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  claimed,
  denied,
  finished,
  granted,
  issued,
  proposed,
  replacedBy,
  retried,
  signedBy,
} from './facts.ts';
import { codeOf, governed, NOON, type Place } from './place.ts';

/** The part of the contract about what undoes a run: it happens once, for all proposers and processes together. */
export function undoContract(name: string, place: () => Promise<Place>): void {
  /** How many capabilities were issued in the one ledger of a test. */
  let ordinal = 0;

  async function open() {
    ordinal = 0;
    return governed(await place());
  }

  async function undo(store: Store, undoes: string, over = {}): Promise<string> {
    const id = randomUUID();
    await store.commit({ events: [proposed(id, { undoes, ...over })] });
    return id;
  }

  async function run(store: Store, id: string, result: 'success' | 'failure' | 'partial'): Promise<string> {
    const execution_id = randomUUID();
    ordinal += 1;
    await store.commit({ events: [granted(id, 'ada')] });
    await store.commit({ events: [...issued(id, 'ada', { ordinal }), claimed(id, execution_id)] });
    await store.commit({ events: [finished(id, execution_id, result)] });
    return execution_id;
  }

  describe(`${name}: what undoes a run`, () => {
    it('is one intent, of however many that are proposed at once', async () => {
      const { store } = await open();
      const undone = randomUUID();
      const ids = Array.from({ length: 8 }, () => randomUUID());
      const outcomes = await Promise.allSettled(
        ids.map((id) => store.commit({ events: [proposed(id, { undoes: undone })] })),
      );
      expect(outcomes.map(codeOf).filter((code) => code !== 'UNDO_UNDER_WAY')).toHaveLength(1);
      const found = await Promise.all(ids.map((id) => store.find('intent', id)));
      expect(found.filter((one) => one !== null)).toHaveLength(1);
      expect(await undo(store, randomUUID())).toBeTruthy();
    });

    it('is not proposed twice in one commit', async () => {
      const { store } = await open();
      const undoes = randomUUID();
      const events: Event[] = [proposed(randomUUID(), { undoes }), proposed(randomUUID(), { undoes })];
      await expectRefusal('UNDO_UNDER_WAY', () => store.commit({ events }));
    });

    it('may be another one once the first was rejected, failed or has expired', async () => {
      const { store, setTime } = await open();
      const undone = randomUUID();
      const rejected = await undo(store, undone);
      await store.commit({ events: [denied(rejected, 'ada')] });
      const failed = await undo(store, undone);
      await run(store, failed, 'failure');
      const late = new Date(Date.parse(NOON) + 60_000).toISOString();
      await undo(store, undone, { expires_at: late });
      setTime(late);
      const fourth = await undo(store, undone);
      expect((await store.find('undo', undone))?.by?.intent_id).toBe(fourth);
    });

    it('is no other one while it is in doubt, nor after it ran', async () => {
      const { store } = await open();
      const undone = randomUUID();
      const killed = await undo(store, undone);
      await run(store, killed, 'partial');
      await expectRefusal('UNDO_UNDER_WAY', () => undo(store, undone));
      const another = randomUUID();
      await run(store, await undo(store, another), 'success');
      await expectRefusal('UNDONE_BEFORE', () => undo(store, another));
    });

    it('is not tried again beside another one, and does not run beside it', async () => {
      const { store } = await open();
      const undone = randomUUID();
      const first = await undo(store, undone);
      const execution_id = await run(store, first, 'failure');
      const second = await undo(store, undone);
      const again = () => store.commit({ events: [retried(first, execution_id, 2, 'ada')] });
      await expectRefusal('UNDO_UNDER_WAY', again);
      await run(store, second, 'success');
      await expectRefusal('UNDONE_BEFORE', again);
    });

    it('does not go on once another one has taken its place after its end', async () => {
      const { store, setTime } = await open();
      const undone = randomUUID();
      const late = new Date(Date.parse(NOON) + 60_000).toISOString();
      const first = await undo(store, undone, { expires_at: late });
      setTime(late);
      await undo(store, undone);
      await expectRefusal('UNDO_UNDER_WAY', () => store.commit({ events: [granted(first, 'ada')] }));
    });

    it('is edited in one commit', async () => {
      const { store } = await open();
      const undone = randomUUID();
      const first = await undo(store, undone);
      const second = randomUUID();
      const edit = { undoes: undone, replaces: first, proposer: 'ada', proposer_kind: 'human' } as const;
      const made = proposed(second, { ...edit, ...signedBy('ada') });
      await store.commit({ events: [made, replacedBy(first, second, 'ada')] });
      expect((await store.find('undo', undone))?.by?.intent_id).toBe(second);
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
    });
  });
}
