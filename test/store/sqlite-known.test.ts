import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import { denied, enrolledAgent, proposed, revoked } from './facts.ts';
import { made, opened, sqlite } from './sqlite-file.ts';

async function pending() {
  const path = await made();
  const store = await opened(path);
  const id = randomUUID();
  await store.commit({ events: [proposed(id)] });
  return { path, store, id };
}

const SET_STATUS = `UPDATE projection SET status = ?1, state = json_set(state, '$.status', ?1) WHERE key = ?2`;

describe('what a process knows from its own commits', () => {
  it('is read again when another one has written', async () => {
    const { path, store, id } = await pending();
    const other = await opened(path);
    await other.commit({ events: [denied(id, 'ada')] });
    await expectRefusal('INTENT_REJECTED', () => store.commit({ events: [denied(id, 'ada')] }));
    await other.commit({ events: [proposed()] });
    expect((await store.commit({ events: [proposed()] })).entries[0]!.seq).toBe((await store.tip()).size - 1);
    for (const one of [store, other]) await one.close();
  });

  it('is read again by whoever asks, and nobody who was told can change it', async () => {
    const { path, store, id } = await pending();
    const told = (await store.find('intent', id))!;
    expect(() => Object.assign(told.approvals, [{}])).toThrow(TypeError);
    sqlite(path, (db) => db.prepare(SET_STATUS).run('approved', id));
    expect((await store.find('intent', id))!.status).toBe('approved');
    expect(told.status).toBe('proposed');
    await store.close();
  });

  it('is read again after a rebuild put it right', async () => {
    const { path, store, id } = await pending();
    sqlite(path, (db) => db.prepare(SET_STATUS).run('rejected', id));
    const denial = { events: [denied(id, 'ada')] };
    await expectRefusal('INTENT_REJECTED', () => store.commit(denial));
    expect((await store.rebuild({ write: true })).differences).toEqual([`intent ${id}`]);
    expect((await store.commit(denial)).entries).toHaveLength(1);
    await store.close();
  });

  it('is not what a refused commit would have made of it', async () => {
    const { store, id } = await pending();
    const taken = { claims: ['one'], events: [denied(id, 'ada')] };
    await expectRefusal('CLAIM_TAKEN', () => store.commit(taken));
    await Promise.all([
      expectRefusal('CLAIM_TAKEN', () => store.commit(taken)),
      store.commit({ events: [denied(id, 'ada')] }),
    ]);
    expect((await store.find('intent', id))?.status).toBe('rejected');
    await store.close();
  });

  it('is not what a batch wrote that was rolled back', async () => {
    const { path, store, id } = await pending();
    await store.find('intent', id);
    sqlite(path, (db) =>
      db.exec(`CREATE TRIGGER full BEFORE INSERT ON object BEGIN SELECT RAISE(ABORT, 'full'); END`),
    );
    const batch = [{ events: [denied(id, 'ada')] }, { events: [proposed()], objects: [Buffer.from('{}')] }];
    const ends = await Promise.allSettled(batch.map((commit) => store.commit(commit)));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await store.find('intent', id))?.status).toBe('proposed');
    await store.close();
  });
});

describe('all rows of a projection, as a process knows them', () => {
  const names = async ({ all }: Pick<Store, 'all'>) => (await all('principal')).map(({ name }) => name);

  it('are read again when this process or another one has written one of them', async () => {
    const { path, store } = await pending();
    const before = await names(store);
    await store.commit({ events: [enrolledAgent('scout', 'ada')] });
    expect(await names(store)).toEqual([...before, 'scout']);
    const other = await opened(path);
    await other.commit({ events: [enrolledAgent('other', 'ada')] });
    expect(await names(store)).toEqual([...before, 'scout', 'other']);
    await other.commit({ events: [revoked('scout', 'ada')] });
    expect((await store.all('principal')).find(({ name }) => name === 'scout')!.status).toBe('revoked');
    for (const one of [store, other]) await one.close();
  });

  it('cannot be changed by whoever was told, and a list may be', async () => {
    const { store } = await pending();
    const told = await store.all('principal');
    expect(() => Object.assign(told[0]!, { status: 'revoked' })).toThrow(TypeError);
    told.length = 0;
    expect(await store.all('principal')).not.toEqual([]);
    await store.close();
  });

  it('are not what a batch wrote that was rolled back, and are read again after a rebuild', async () => {
    const { path, store } = await pending();
    const before = await names(store);
    sqlite(path, (db) =>
      db.exec(`CREATE TRIGGER full BEFORE INSERT ON object BEGIN SELECT RAISE(ABORT, 'full'); END`),
    );
    const events = [enrolledAgent('scout', 'ada')];
    await expect(store.commit({ events, objects: [Buffer.from('{}')] })).rejects.toThrow('full');
    expect(await names(store)).toEqual(before);
    await store.close();
    const again = await opened(path);
    sqlite(path, (db) => db.exec(`DROP TRIGGER full; DELETE FROM projection WHERE key = 'ada'`));
    expect(await names(again)).not.toContain('ada');
    await again.rebuild({ write: true });
    expect(await names(again)).toEqual(before);
    await again.close();
  });
});
