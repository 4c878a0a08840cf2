import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GENESIS } from '../../src/ledger/entry.ts';
import { createHeadFile, readHeadFile } from '../../src/project/head-file.ts';
import { headKeeper } from '../../src/project/head-keeper.ts';
import type { Store } from '../../src/store/store.ts';
import { claimed, granted, issued, ORIGIN, proposed } from '../store/facts.ts';
import { openSqliteStore } from '../store/open.ts';
import { codeOf, governance, NOON } from '../store/place.ts';
import { scratch } from '../support/scratch.ts';

const { synced } = vi.hoisted(() => ({ synced: { times: 0, fails: false, held: Promise.resolve() } }));

/** The file system as it is; the syncs of files are counted, and fail where a test says so. */
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const fdatasync = (fd: number, done: (error: Error | null) => void) => {
    synced.times += 1;
    if (synced.fails) setImmediate(done, Object.assign(new Error('no'), { code: 'EIO' }));
    else void synced.held.then(() => fs.fdatasync(fd, done));
  };
  return { ...fs, fdatasync };
});

async function keeping(): Promise<{ readonly store: Store; readonly head: string }> {
  const folder = scratch();
  const head = join(folder, 'head');
  createHeadFile(head, { origin: ORIGIN, size: 0, last: GENESIS, mark: null });
  const path = join(folder, 'store.db');
  const clock = () => new Date(NOON);
  const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'create' });
  const places = { files: [head], lock: join(folder, 'lock') };
  const keeper = headKeeper(store, ORIGIN, places, 'write', null);
  onTestFinished(() => keeper.store.close());
  await keeper.store.commit({ events: governance('ada') });
  return { store: keeper.store, head };
}

/** Intents of which only the claim is missing. */
async function ready(store: Store, many: number): Promise<string[]> {
  const ids = Array.from({ length: many }, () => randomUUID());
  for (const [i, id] of ids.entries()) {
    await store.commit({ events: [proposed(id), granted(id, 'ada')] });
    await store.commit({ events: [...issued(id, 'ada', { ordinal: i + 1 })] });
  }
  return ids;
}

describe('the head that is kept of a ledger', () => {
  it('is synced once for claims that are committed together, and holds all of them', async () => {
    const { store, head } = await keeping();
    const ids = await ready(store, 5);
    const before = synced.times;
    await Promise.all(ids.map((id) => store.commit({ events: [claimed(id)] })));
    expect(synced.times - before).toBe(1);
    const { size, last } = await store.tip();
    expect(readHeadFile(head, ORIGIN)).toMatchObject({ size, last });
  });

  it('is synced for each claim that is committed by itself', async () => {
    const { store } = await keeping();
    const ids = await ready(store, 2);
    const before = synced.times;
    for (const id of ids) await store.commit({ events: [claimed(id)] });
    expect(synced.times - before).toBe(2);
  });

  it('refuses each of the claims that it cannot keep', async () => {
    const { store, head } = await keeping();
    const ids = await ready(store, 3);
    rmSync(head);
    const outcomes = await Promise.allSettled(ids.map((id) => store.commit({ events: [claimed(id)] })));
    expect(outcomes.map(codeOf)).toEqual(ids.map(() => 'KEPT_HEAD_INVALID'));
  });

  it('refuses the claims whose head cannot be made durable, and makes the next one durable again', async () => {
    const { store, head } = await keeping();
    const [first, second, third] = await ready(store, 3);
    synced.fails = true;
    const together = [first!, second!].map((id) => store.commit({ events: [claimed(id)] }));
    expect((await Promise.allSettled(together)).map(codeOf)).toEqual(['WRITE_FAILED', 'WRITE_FAILED']);
    synced.fails = false;
    const before = synced.times;
    await store.commit({ events: [claimed(third!)] });
    expect(synced.times - before).toBe(1);
    expect(readHeadFile(head, ORIGIN).size).toBe((await store.tip()).size);
  });

  it('is waited for by a claim, while other commits go on', async () => {
    const { store } = await keeping();
    const [id] = await ready(store, 1);
    const before = synced.times;
    let open = () => {};
    synced.held = new Promise((resolve) => {
      open = resolve;
    });
    let is_claimed = false;
    const claim = store.commit({ events: [claimed(id!)] }).then(() => {
      is_claimed = true;
    });
    await vi.waitUntil(() => synced.times > before);
    await store.commit({ events: [proposed(randomUUID())] });
    expect(is_claimed).toBe(false);
    open();
    await claim;
  });
});
