import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { type Cut, proxyTo } from '../support/tcp-proxy.ts';
import { begun, enrolled, proposed } from './facts.ts';
import { allEntries, plain, requireChain } from './place.ts';
import { killUnderLoad } from './postgres-kill.ts';
import { APPLICATION, postgres, urlOf } from './postgres-place.ts';

const can_mount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
if (!can_mount)
  console.warn('NOT RUN: the test of a full disk of a server, because only root can mount one.');

const at = postgres();

/** The name of the statement that writes is part of what the client sends. */
const WRITE = 'write e';

/** A store behind a proxy, and the same store seen directly. */
async function behindProxy({ commits = 0, busy_ms = 10_000 } = {}) {
  await at().place();
  const direct = await at().open('create');
  onTestFinished(() => direct.close());
  await direct.commit({ events: [begun(), enrolled('ada')] });
  const proxy = await proxyTo(at().server.port);
  onTestFinished(() => proxy.close());
  const store = await at().open('write', { url: urlOf(at().server, APPLICATION, proxy.port), busy_ms });
  onTestFinished(() => store.close());
  for (let i = 0; i < commits; i++) await store.commit({ events: [proposed()] });
  return { direct, proxy, store, size: commits + 2 };
}

async function requireSound(store: Store, size: number): Promise<void> {
  const entries = await allEntries(store);
  expect(entries).toHaveLength(size);
  expect(await store.tip()).toEqual(requireChain(entries));
  expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
}

/** The first commit of a store takes the lock and reads; the next ones know enough to write at once. */
const ROADS = [
  { road: 'the transaction of the first write', commits: 0, text: WRITE },
  { road: 'the COMMIT of the first write', commits: 0, text: 'COMMIT' },
  { road: 'a later write', commits: 2, text: WRITE },
];
const CUTS: { cut: Cut; words: string }[] = [
  { cut: 'answer', words: 'after the server has it' },
  { cut: 'ask', words: 'before the server has it' },
  { cut: 'late', words: 'and reaches the server later' },
];

describe('a connection that is cut', () => {
  for (const { road, commits, text } of ROADS)
    for (const { cut, words } of CUTS)
      it(`during ${road}, ${words}, leaves the commit done once`, async () => {
        const { direct, proxy, store, size } = await behindProxy({ commits });
        const id = randomUUID();
        const happened = proxy.cutAt(text, cut);
        const { entries } = await store.commit({ claims: ['once'], events: [proposed(id)] });
        await happened;
        expect((await direct.entriesOf(id)).map(plain)).toEqual(entries.map(plain));
        await expectRefusal('CLAIM_TAKEN', () => direct.commit({ claims: ['once'], events: [proposed()] }));
        await store.commit({ events: [proposed()] });
        await requireSound(direct, size + 2);
      });

  it('and does not come back leaves the commit unknown, and the store refuses to write until it is reopened', async () => {
    const { direct, proxy, store } = await behindProxy({ commits: 1, busy_ms: 500 });
    const id = randomUUID();
    const happened = proxy.cutAt(WRITE, 'answer').then(() => proxy.shut());
    const refusal = await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed(id)] }));
    await happened;
    expect(refusal.message).toContain('unknown');
    await proxy.open();
    await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed()] }));
    expect(await direct.find('intent', id)).toMatchObject({ status: 'proposed' });
    const again = await at().open();
    await again.commit({ events: [proposed()] });
    await again.close();
    await requireSound(direct, 5);
  });

  it('while nothing is under way costs neither a read nor a commit', async () => {
    const { direct, proxy, store, size } = await behindProxy({ commits: 1 });
    await store.tip();
    proxy.shut();
    await proxy.open();
    expect(await store.tip()).toMatchObject({ size });
    await store.commit({ events: [proposed()] });
    await requireSound(direct, size + 1);
  });

  it('to a server that is away refuses reads, and writes once it has waited', async () => {
    const { proxy, store } = await behindProxy({ commits: 1, busy_ms: 300 });
    proxy.shut();
    await expectRefusal('STORE_UNREACHABLE', () => store.tip());
    await expectRefusal('STORE_UNREACHABLE', () => store.commit({ events: [proposed()] }));
    await proxy.open();
    await store.commit({ events: [proposed()] });
  });
});

/** The server says no in the name of the disk, the network or another transaction: so many times. */
async function failing(code: string, times: number): Promise<void> {
  await at().sql(`
    CREATE SEQUENCE keyturn.failures START 2 MAXVALUE ${times + 1};
    GRANT USAGE ON SEQUENCE keyturn.failures TO ${APPLICATION.user};
    CREATE FUNCTION keyturn.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      BEGIN PERFORM nextval('keyturn.failures'); EXCEPTION WHEN OTHERS THEN RETURN NEW; END;
      RAISE EXCEPTION 'planted' USING ERRCODE = '${code}';
    END $$;
    CREATE TRIGGER fail BEFORE INSERT ON keyturn.entry FOR EACH ROW EXECUTE FUNCTION keyturn.fail();`);
  onTestFinished(async () => {
    await at().sql(
      `DROP TRIGGER fail ON keyturn.entry; DROP FUNCTION keyturn.fail; DROP SEQUENCE keyturn.failures`,
    );
  });
}

describe('a server that says no', () => {
  for (const code of ['40001', '40P01'])
    it(`because two transactions were in the way (${code}) is asked again, and a commit is done once`, async () => {
      const { direct, store, size } = await behindProxy({ commits: 1 });
      await failing(code, 2);
      await store.commit({ claims: ['once'], events: [proposed()] });
      await requireSound(direct, size + 1);
    });

  for (const [code, words] of [
    ['25P04', 'a transaction took too long'],
    ['25006', 'it has become a standby'],
  ])
    it(`because ${words} (${code}) has ended the session, and a commit is done once`, async () => {
      const { direct, store, size } = await behindProxy({ commits: 1 });
      await failing(code!, 2);
      await store.commit({ claims: ['once'], events: [proposed()] });
      await requireSound(direct, size + 1);
    });

  it('too often is not asked for ever', async () => {
    const { direct, store, size } = await behindProxy();
    await failing('40001', 100);
    await expectRefusal('STORE_BUSY', () => store.commit({ events: [proposed()] }));
    await requireSound(direct, size);
  });

  it.skipIf(!can_mount)('because its disk is really full says so, and goes on with what fits', async () => {
    const { direct, store, size } = await behindProxy({ commits: 1 });
    const folder = scratch();
    const { uid = 0, gid = 0 } = at().server.owner;
    const mounted = ['-t', 'tmpfs', '-o', `size=3m,uid=${uid},gid=${gid},mode=0700`, 'keyturn-test', folder];
    chmodSync(folder, 0o711);
    expect(spawnSync('mount', mounted).status).toBe(0);
    try {
      await at().sql(`CREATE TABLESPACE small LOCATION '${folder}'`);
      await at().sql('ALTER TABLE keyturn.object SET TABLESPACE small');
      const commit = (bytes: number) => store.commit({ events: [proposed()], objects: [randomBytes(bytes)] });
      await commit(100_000);
      await expectRefusal('DISK_FULL', () => commit(4_000_000));
      await store.commit({ events: [proposed()] });
    } finally {
      await at().sql('ALTER TABLE keyturn.object SET TABLESPACE pg_default');
      await at().sql('CHECKPOINT');
      await at().sql('DROP TABLESPACE small');
      expect(spawnSync('umount', ['--lazy', folder]).status).toBe(0);
    }
    await requireSound(direct, size + 2);
  });

  it('because its disk is full leaves nothing behind, and writes again when there is room', async () => {
    const { direct, store, size } = await behindProxy({ commits: 1 });
    await failing('53100', 1);
    await expectRefusal('DISK_FULL', () => store.commit({ claims: ['a'], events: [proposed()] }));
    await store.commit({ claims: ['a'], events: [proposed()] });
    await requireSound(direct, size + 1);
  });
});

describe('a server that is killed under load and started again', () => {
  it('loses nothing that was acknowledged, and writes nothing twice', async () => {
    await killUnderLoad(at(), 2);
  });
});
