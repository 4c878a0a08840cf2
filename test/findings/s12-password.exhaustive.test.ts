import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { migratePostgresStore } from '../../src/store/postgres/store.ts';
import { APPLICATION, OWNER, postgres, urlOf } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';

const at = postgres();
const fixture = (name: string) => fileURLToPath(new URL(`../store/fixtures/${name}`, import.meta.url));
const VERIFIED = `?sslmode=verify-full&sslrootcert=${fixture('server.crt')}`;
const MODES = ['', '?sslmode=require', `?sslmode=verify-ca&sslrootcert=${fixture('server.crt')}`];

/** The application connects as the method says; the superuser as before. Returns when a new connection finds it so. */
async function use(method: string, encryption: 'md5' | 'scram-sha-256'): Promise<void> {
  const { server, sql } = at();
  const others = 'host all postgres 127.0.0.1/32 scram-sha-256';
  server.write('pg_hba.conf', `${others}\nhost all all 127.0.0.1/32 ${method}\n`);
  for (const { user, password } of [APPLICATION, OWNER])
    await sql(`SET password_encryption = '${encryption}'; ALTER ROLE ${user} PASSWORD '${password}'`);
  const loaded = async () => (await sql('SELECT pg_conf_load_time()::text AS at'))[0]!.at;
  const before = await loaded();
  await sql('SELECT pg_reload_conf()');
  await until(async () => (await loaded()) !== before);
}

const url = (query: string) => urlOf(at().server, APPLICATION).replace('127.0.0.1', 'localhost') + query;

beforeAll(async () => {
  const { server, sql, place, open } = at();
  for (const name of ['server.key', 'server.crt']) server.write(name, readFileSync(fixture(name), 'utf8'));
  await sql('ALTER SYSTEM SET ssl = on');
  await place();
  await (await open('create')).close();
});

describe('S12: the ways of a real server to ask for a password', () => {
  it.each([
    ['password', 'scram-sha-256'],
    ['md5', 'md5'],
  ] as const)('%s works with verified TLS and in no other way', async (method, encryption) => {
    await use(method, encryption);
    for (const query of MODES) {
      await expectRefusal('STORE_PASSWORD_UNSAFE', () => at().open('write', { url: url(query) }));
      const owner = urlOf(at().server, OWNER).replace('127.0.0.1', 'localhost') + query;
      await expectRefusal('STORE_PASSWORD_UNSAFE', () => migratePostgresStore({ url: owner }));
    }
    await (await at().open('write', { url: url(VERIFIED) })).close();
  });

  it('scram-sha-256 works in all of them, bound to the certificate where there is one', async () => {
    await use('scram-sha-256', 'scram-sha-256');
    for (const query of [...MODES, VERIFIED]) {
      const store = await at().open('write', { url: url(query) });
      expect((await store.tip()).size).toBe(0);
      await store.close();
    }
    const wrong = url('?sslmode=require').replace(APPLICATION.password, 'wrong');
    await expectRefusal('STORE_DENIED', () => at().open('write', { url: wrong }));
  });

  it('trust asks for no password, and none is sent', async () => {
    await use('trust', 'scram-sha-256');
    for (const query of MODES) await (await at().open('write', { url: url(query) })).close();
  });

  it('the connections that listen, copy and look again are held to it as well', async () => {
    await use('scram-sha-256', 'scram-sha-256');
    const store = await at().open('write', { url: url('') });
    await use('password', 'scram-sha-256');
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => store.changes!(() => undefined));
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => store.tip());
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => store.rebuild({ write: false }));
    await store.close();
  });
});
