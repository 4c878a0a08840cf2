import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { copyLedger } from '../../src/store/copy.ts';
import { parseAddress } from '../../src/store/postgres/address.ts';
import { connect } from '../../src/store/postgres/connection.ts';
import { MIGRATIONS } from '../../src/store/postgres/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { elapsed, until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { begun, enrolled, erased, proposed } from './facts.ts';
import { openSqliteStore } from './open.ts';
import { allEntries, requireChain } from './place.ts';
import { wireTo } from './postgres-between.ts';
import { APPLICATION, postgres, storesOf, urlOf } from './postgres-place.ts';

const at = postgres();
const OURS = `usename = '${APPLICATION.user}'`;

const { opened, made } = storesOf(at);

async function overWire() {
  const direct = await made();
  const wire = await wireTo(at().server.port);
  const url = urlOf(at().server, APPLICATION, wire.port);
  return { direct, wire, url, store: await opened('write', { url }) };
}

const listening = async () =>
  (await at().sql(`SELECT 1 FROM pg_stat_activity WHERE ${OURS} AND query LIKE 'LISTEN%'`)).length;

const endSessions = () =>
  at().sql(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${OURS}`);

describe('whoever listens over a connection that breaks', () => {
  it('again and again has one connection, and hears again when it holds', async () => {
    const { direct, wire, store } = await overWire();
    let heard = 0;
    const stop = await store.changes!(() => {
      heard += 1;
    });
    const before = wire.made();
    wire.breakAt('LISTEN');
    wire.cut();
    await until(() => wire.made() >= before + 3);
    await elapsed(1_000, 'no further connection is made');
    expect(wire.made()).toBe(before + 3);
    wire.breakAt(null);
    await until(async () => (await listening()) > 0);
    expect(await listening()).toBe(1);
    const told = heard;
    await direct.commit({ events: [proposed()] });
    await until(() => heard > told);
    await stop();
  });

  it('the first time is told so, and nothing goes on behind its back', async () => {
    const { wire, store } = await overWire();
    wire.breakAt('LISTEN');
    await expectRefusal('STORE_UNREACHABLE', () => store.changes!(() => {}));
    const before = wire.made();
    wire.breakAt(null);
    await elapsed(1_200, 'no further connection is made');
    expect([wire.made(), await listening()]).toEqual([before, 0]);
    await (await store.changes!(() => {}))();
    expect(await listening()).toBe(1);
  });

  it('does not begin anew once the store is closed', async () => {
    const { wire, store } = await overWire();
    await store.changes!(() => {});
    wire.cut();
    await store.close();
    const before = wire.made();
    await elapsed(1_200, 'no further connection is made');
    expect([wire.made(), await listening()]).toEqual([before, 0]);
  });
});

describe('a server that is cut off without a word', () => {
  it('keeps nobody from closing a store', async () => {
    const { wire, store } = await overWire();
    await store.tip();
    await store.changes!(() => {});
    await store.commit({ events: [proposed()] });
    wire.pull();
    await store.close();
  });

  it('is found out before anything is asked over a connection that was quiet for long', async () => {
    const { direct, wire, store } = await overWire();
    const tellings = wire.counting('pg_notify');
    await store.commit({ events: [proposed()] });
    // Others have been told of the commit by then.
    await until(() => tellings() > 0);
    await store.tip();
    const before = (await at().sql(`SELECT generation FROM keyturn.tenant WHERE name = 'default'`))[0];
    wire.forget();
    await elapsed(5_200, 'after 5 s a quiet connection is not trusted');
    expect(await store.tip()).toMatchObject({ size: 3 });
    await store.commit({ events: [proposed()] });
    expect(await direct.tip()).toMatchObject({ size: 4 });
    const after = (await at().sql(`SELECT generation FROM keyturn.tenant WHERE name = 'default'`))[0];
    expect(after).toEqual(before);
  });

  it('is not waited for without end by a rebuild', async () => {
    await made();
    const address = parseAddress(urlOf(at().server, APPLICATION));
    const db = await connect(address, { access: 'read', busy_ms: 1_000, patient: true });
    onTestFinished(() => db.end());
    const { rows } = await db.ask({ text: 'SHOW statement_timeout' });
    expect(rows).toEqual([{ statement_timeout: '301s' }]);
    const slow = db.ask({ text: 'SELECT pg_sleep(60)', query_timeout: 100 });
    await expect(slow).rejects.toThrow('timeout');
  });
});

describe('hosts that write in turn', () => {
  it('read what their commits rest on in one round trip, while the others wait', async () => {
    const { direct, wire, store } = await overWire();
    for (let i = 0; i < 3; i++) for (const one of [direct, store]) await one.commit({ events: [proposed()] });
    const loads = wire.counting('load keyturn');
    for (let i = 0; i < 3; i++) for (const one of [direct, store]) await one.commit({ events: [proposed()] });
    expect(loads()).toBe(3);
  });
});

describe('a write that was not made', () => {
  it('and turns out so after the deadline is tried once more on a server that is well', async () => {
    const direct = await made();
    const proxy = await proxyTo(at().server.port);
    onTestFinished(() => proxy.close());
    const store = await opened('write', { url: urlOf(at().server, APPLICATION, proxy.port), busy_ms: 1 });
    await store.commit({ events: [proposed()] });
    const happened = proxy.cutAt('write e', 'ask');
    await store.commit({ claims: ['once'], events: [proposed()] });
    await happened;
    expect(await direct.tip()).toMatchObject({ size: 4 });
  });
});

describe('a server without room for another connection', () => {
  it('is waited for by a commit', async () => {
    const { wire, store } = await overWire();
    const { sql } = at();
    const limit = (most: number) => sql(`ALTER ROLE ${APPLICATION.user} CONNECTION LIMIT ${most}`);
    await limit(0);
    onTestFinished(async () => void (await limit(-1)));
    await endSessions();
    const before = wire.made();
    const committed = store.commit({ events: [proposed()] });
    await until(() => wire.made() > before + 1);
    await limit(-1);
    await committed;
    expect(await store.tip()).toMatchObject({ size: 3 });
  });
});

describe('a connection that leads elsewhere when it is made anew', () => {
  it('to a store of a newer Keyturn is refused', async () => {
    const store = await made();
    await store.tip();
    const { sql } = at();
    await sql(`UPDATE keyturn.version SET version = ${MIGRATIONS.length + 1}`);
    onTestFinished(async () => void (await sql(`UPDATE keyturn.version SET version = ${MIGRATIONS.length}`)));
    await endSessions();
    await expectRefusal('STORE_NEWER', () => store.tip());
    await expectRefusal('STORE_NEWER', () => store.commit({ events: [proposed()] }));
  });

  it('to the ledger of another tenant is refused', async () => {
    const store = await made();
    await store.tip();
    await at().sql(`UPDATE keyturn.tenant SET name = 'other' WHERE name = 'default'`);
    await endSessions();
    await expectRefusal('STORE_CORRUPT', () => store.tip());
    await expectRefusal('STORE_CORRUPT', () => store.commit({ events: [proposed()] }));
  });
});

describe('two copies of one ledger at the same time', () => {
  it('never bring back what was erased', async () => {
    await at().place();
    const path = join(scratch(), 'store.db');
    const clock = () => new Date();
    const home = await openSqliteStore({ path, tenant: 'default', clock, mode: 'create' });
    onTestFinished(() => home.close());
    const [slow, quick] = [await opened('create'), await opened('write')];
    const secret = Buffer.from('personal data');
    await home.commit({ events: [begun(), enrolled('ada')] });
    await home.commit({ events: [proposed()], objects: [secret] });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached = () => {};
    const reaching = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const target: Store = {
      ...slow,
      adopt: async (moved) => {
        if (moved.objects) {
          reached();
          await released;
        }
        return slow.adopt(moved);
      },
    };
    const copied = expectRefusal('STORE_BUSY', () => copyLedger(home, target));
    await reaching;
    await home.commit({ events: [erased(sha256(secret), 'ada')], erase: [sha256(secret)] });
    await copyLedger(home, quick);
    release();
    await copied;
    await expectRefusal('OBJECT_MISSING', () => quick.object(sha256(secret)));
    await copyLedger(home, slow);
    expect(await slow.tip()).toEqual(requireChain(await allEntries(slow)));
  });
});

// The last one: it ends the server, and starts it as a standby without a primary.
describe('a server that became a standby', () => {
  it('is not read by whoever writes, and a commit waits until it is the first again', async () => {
    const { wire, store } = await overWire();
    await store.tip();
    const { server, sql } = at();
    await server.kill();
    server.write('standby.signal', '');
    const started = server.start();
    await until(() =>
      sql('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
    await expectRefusal('STORE_UNREACHABLE', () => store.tip());
    await expectRefusal('STORE_UNREACHABLE', () => at().open('write'));
    const reader = await opened('read');
    expect(await reader.tip()).toMatchObject({ size: 2 });
    const before = wire.made();
    const committed = store.commit({ events: [proposed()] });
    await until(() => wire.made() > before + 1);
    await sql('SELECT pg_promote()');
    await started;
    await committed;
    expect(await store.tip()).toMatchObject({ size: 3 });
  });
});
