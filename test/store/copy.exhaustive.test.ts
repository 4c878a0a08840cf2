import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { parseEvent } from '../../src/event/event.ts';
import { restsOn } from '../../src/fold/decided.ts';
import { openEntry, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { limits } from '../../src/limits.ts';
import { copyLedger, foundLedger } from '../../src/store/copy.ts';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { randomStories } from './agent-stories.ts';
import { begun, claimed, erased, finished, frozen, granted, issued, proposed } from './facts.ts';
import { openSqliteStore } from './open.ts';
import { allEntries, governance, governed, type Place, plain, requireChain } from './place.ts';
import { postgres } from './postgres-place.ts';
import { sqlite } from './sqlite-file.ts';

const server = postgres();
const SECRET = Buffer.from('a secret that was erased');
const KEPT = Buffer.from('an output that was kept');

const path = () => join(scratch(), 'store.db');
const file = (at = path()): Place => ({
  open: ({ tenant = 'default', mode, clock = () => new Date() }) =>
    openSqliteStore({ path: at, tenant, clock, mode }),
  damage: async () => undefined,
});

/** A run, a refused one, a freeze, an object that was kept, and one that was erased and sent again. */
async function lived(place: Place): Promise<Store> {
  const { store } = await governed(place);
  const [id, execution] = [randomUUID(), randomUUID()];
  await store.commit({
    events: [proposed(id), granted(id, 'ada')],
    objects: [SECRET, KEPT],
  });
  await store.commit({ events: [...issued(id, 'ada')] });
  await store.commit({ events: [claimed(id, execution)] });
  await store.commit({ events: [finished(id, execution, 'success')] });
  await store.commit({ events: [erased(sha256(SECRET), 'ada')], erase: [sha256(SECRET)] });
  await store.commit({ events: [proposed()], objects: [SECRET, KEPT] });
  await store.commit({ events: [frozen('ada')] });
  return store;
}

/** The decisions that entries rest on, and the tokens that they issue. */
function decisionsIn(entries: readonly SealedEntry[]): string[] {
  const events = entries.map(({ bytes }) => parseEvent(openEntry(bytes)));
  const tokens = events.flatMap(({ kind, body }) => (kind === 'capability.issued' ? [body.token] : []));
  return [...events.map(restsOn).filter((digest) => digest !== null), ...tokens];
}

async function target(place: Place): Promise<Store> {
  const store = await place.open({ mode: 'create' });
  onTestFinished(() => store.close());
  return store;
}

async function digests(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of store.objects()) found.push(...batch.map(({ digest }) => digest));
  return found;
}

async function expectSame(a: Store, b: Store): Promise<void> {
  expect(await b.tip()).toEqual(await a.tip());
  expect((await allEntries(b)).map(plain)).toEqual((await allEntries(a)).map(plain));
  expect(await digests(b)).toEqual(await digests(a));
  expect(await b.rebuild({ write: false })).toEqual({
    ...(await a.rebuild({ write: false })),
    differences: [],
  });
}

describe('a ledger that moves house', () => {
  it('from SQLite to PostgreSQL and back ends with the same head, state and objects', async () => {
    const home = await lived(file());
    const away = await target(await server().place());
    const copied = await copyLedger(home, away);
    expect(copied).toMatchObject({ resumed_at: 0, objects: 5, tip: await home.tip() });
    await expectSame(home, away);
    const back = await target(file());
    await copyLedger(away, back);
    await expectSame(home, back);
    requireChain(await allEntries(back));
    const kept = [sha256(KEPT), ...decisionsIn(await allEntries(back))];
    expect(await digests(back)).toEqual(kept.sort());
  });

  it('goes on from there: what it had claimed stays claimed, and new commits follow', async () => {
    const home = await lived(file());
    for (const place of [file(), await server().place()]) {
      const away = await target(place);
      await copyLedger(home, away);
      const id = (await home.page('intent', { limit: 1 }))[0]!.state.intent_id;
      await expectRefusal('CLAIM_TAKEN', () =>
        away.commit({ claims: [`execution:${id}:1`], events: [proposed()] }),
      );
      await away.commit({ events: [proposed()] });
      requireChain(await allEntries(away));
      await expectRefusal('LEDGER_FORKED', () => copyLedger(home, away));
    }
  });

  it('takes the tables of the agent core along', async () => {
    await randomStories(2, async (walk) => {
      const home = await governed(file());
      const { correlations } = await walk(home.store);
      const away = await target(await server().place());
      await copyLedger(home.store, away);
      await expectSame(home.store, away);
      for (const correlation_id of correlations)
        expect(await away.agentCurrent({ correlation_id })).toEqual(
          await home.store.agentCurrent({ correlation_id }),
        );
    });
  });

  it('that broke off half way is resumed, whatever was erased meanwhile', async () => {
    const home = await lived(file());
    for (let i = 0; i < 5; i++)
      await Promise.all(Array.from({ length: 500 }, () => home.commit({ events: [proposed()] })));
    const late = Buffer.from('erased between the two');
    await home.commit({ events: [proposed()], objects: [late] });
    for (const place of [file(), await server().place()]) {
      const away = await target(place);
      const breakOff = ({ entries }: { entries: number }) => {
        if (entries >= 2000) throw new Error('the power went');
      };
      await expect(copyLedger(home, away, breakOff)).rejects.toThrow('the power went');
      expect((await away.tip()).size).toBe(2000);
      await away.adopt({ objects: [late] });
      if ((await digests(home)).includes(sha256(late)))
        await home.commit({ events: [erased(sha256(late), 'ada')], erase: [sha256(late)] });
      expect(await copyLedger(home, away)).toMatchObject({ resumed_at: 2000, tip: await home.tip() });
      await expectSame(home, away);
      expect(await copyLedger(home, away)).toMatchObject({ resumed_at: (await home.tip()).size, objects: 0 });
    }
  });

  it('that grows while it is copied is followed to its end', async () => {
    const home = await lived(file());
    const away = await target(await server().place());
    let more = 3;
    await copyLedger(home, away, () => {
      if (more-- > 0) void home.commit({ events: [proposed()], objects: [Buffer.from(`late ${more}`)] });
    });
    await expectSame(home, away);
  });
});

describe('a copy is refused', () => {
  it('where the target holds another ledger', async () => {
    const home = await lived(file());
    for (const place of [file(), await server().place()]) {
      const other = await target(place);
      await other.commit({ events: governance('ada') });
      const before = await other.tip();
      await expectRefusal('LEDGER_FORKED', () => copyLedger(home, other));
      await expectRefusal('LEDGER_FORKED', () => foundLedger(home, other));
      expect(await other.tip()).toEqual(before);
    }
  });

  it('where the target is ahead', async () => {
    const home = await lived(file());
    const behind = await target(file());
    await behind.adopt({ entries: (await allEntries(home)).slice(0, 3) });
    await expectRefusal('LEDGER_FORKED', () => copyLedger(behind, home));
  });

  it('where the source has an entry that was changed, moved or left out', async () => {
    const at = path();
    const home = await lived(file(at));
    const entries = await allEntries(home);
    sqlite(at, (db) => {
      db.exec('DROP TRIGGER entry_no_update');
      db.exec(
        `UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), '"kind":"approval.granted"', '"kind":"approval.grantee"') AS BLOB)`,
      );
    });
    for (const place of [file(), await server().place()]) {
      const away = await target(place);
      const { message } = await expectRefusal('LEDGER_BROKEN', () => copyLedger(home, away));
      expect(message).toMatch(/^Entry \d+: its hash is not that of its bytes/);
      expect((await away.tip()).size).toBe(0);
      await expectRefusal('LEDGER_BROKEN', () => away.adopt({ entries: entries.slice(1) }));
      await expectRefusal('LEDGER_BROKEN', () =>
        away.adopt({ entries: [...entries.slice(0, 2), ...entries.slice(3)] }),
      );
      expect((await away.tip()).size).toBe(0);
    }
  });

  it('where an entry is whole and yet none that could have been committed', async () => {
    const home = await lived(file());
    const [first, second] = await allEntries(home);
    const forged = { ...openEntry(second!.bytes), kind: 'key.enrolled', subject: 'eve' };
    const foreign = { ...openEntry(second!.bytes), tenant: 'other' };
    const twice = { ...openEntry(second!.bytes), ...begun(), body: begun().body as never };
    for (const place of [file(), await server().place()]) {
      const away = await target(place);
      for (const entry of [forged, foreign, twice])
        await expectRefusal('LEDGER_BROKEN', () => away.adopt({ entries: [first!, sealEntry(entry)] }));
      const spaced = Buffer.concat([Buffer.from(' '), first!.bytes]);
      await expectRefusal('LEDGER_BROKEN', () => away.adopt({ entries: [{ ...first!, bytes: spaced }] }));
      expect(await allEntries(away)).toEqual([]);
    }
  });

  it('where time goes back in the source', async () => {
    const [first, second] = await allEntries(await lived(file()));
    const { at } = openEntry(first!.bytes);
    const earlier = new Date(Date.parse(at) - 1).toISOString();
    const back = sealEntry({ ...openEntry(second!.bytes), at: earlier });
    for (const place of [file(), await server().place()]) {
      const away = await target(place);
      const { message } = await expectRefusal('LEDGER_BROKEN', () => away.adopt({ entries: [first!, back] }));
      expect(message).toContain('Entry 1: its time is before');
      await away.adopt({ entries: [first!] });
      await expectRefusal('LEDGER_BROKEN', () => away.adopt({ entries: [back] }));
      expect((await away.tip()).size).toBe(1);
    }
  });

  it('where the target holds an object that is no longer what its digest says', async () => {
    const home = await lived(file());
    const at = path();
    const place = await server().place();
    for (const [away, damage] of [
      [await target(file(at)), async () => sqlite(at, (db) => db.exec(`UPDATE object SET bytes = x'00'`))],
      [await target(place), () => place.damage('object')],
    ] as const) {
      await copyLedger(home, away);
      await damage();
      await expectRefusal('OBJECT_CORRUPT', () => copyLedger(home, away));
    }
  });

  it('where the store is open to read only, and where an object is too large', async () => {
    const at = path();
    const home = await lived(file(at));
    const reader = await file(at).open({ mode: 'read' });
    await expectRefusal('STORE_READ_ONLY', () => reader.adopt({ objects: [KEPT] }));
    await reader.close();
    await expectRefusal('INPUT_TOO_LARGE', () =>
      home.adopt({ objects: [Buffer.alloc(limits.object_bytes + 1)] }),
    );
  });
});
