import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAddress } from '../../src/store/postgres/address.ts';
import { MIGRATIONS } from '../../src/store/postgres/schema.ts';
import { migratePostgresStore } from '../../src/store/postgres/store.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { begun, enrolled, proposed } from './facts.ts';
import { APPLICATION, OWNER, postgres, urlOf } from './postgres-place.ts';

const at = postgres();
const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

async function made() {
  await at().place();
  const store = await at().open('create');
  onTestFinished(() => store.close());
  await store.commit({ claims: ['one'], events: [begun(), enrolled('ada'), proposed()] });
  return store;
}

/** Returns when a new connection finds the new settings. */
async function reload(): Promise<void> {
  const loaded = async () =>
    String((await at().sql('SELECT extract(epoch FROM pg_conf_load_time())::text AS at'))[0]!.at);
  const before = await loaded();
  await at().sql('SELECT pg_reload_conf()');
  await until(async () => (await loaded()) !== before);
}

async function as(who: { user: string; password: string }, text: string): Promise<unknown> {
  const client = new Client({ connectionString: urlOf(at().server, who) });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

describe('a store URL', () => {
  it('that cannot be understood is refused before anybody is asked', async () => {
    for (const url of [
      'mysql://ada@here/keyturn',
      'postgres://',
      'postgres://here/keyturn',
      'postgres://ada@here',
      'postgres://ada@one,two/keyturn',
      'postgres://ada:50%@here/keyturn',
      'postgres://ada@here:port/keyturn',
      'postgres://ada@here/keyturn?sslmode=prefer',
      'postgres://ada@here/keyturn?sslmod=require',
      'postgres://ada@here/keyturn?sslmode=require&sslmode=disable',
      'postgres://ada@here/keyturn?sslmode=disable&sslrootcert=/root.crt',
      'postgres://ada@here/keyturn?host=/run',
      'postgres://ada@%2Frun/keyturn?sslmode=require',
    ])
      await expectRefusal('SHAPE_INVALID', () => at().open('write', { url }));
  });

  it('with a password that is not encoded is refused, and no part of it is repeated', async () => {
    for (const url of [
      'postgres://ada:hush@here:port/keyturn',
      'postgres://ada:12?hush@here/keyturn',
      'postgres://ada:p@9/hush@here/keyturn',
      'postgres://ada:1/hush@here/keyturn',
      'postgres://ada:x#hush@here/keyturn',
      'postgres://ada:x@here/keyturn?password=hush',
      'postgres://ada:x@here/keyturn?hush=1',
      'postgres://ada:x@here/keyturn?sslmode=hush',
    ]) {
      const refusal = await expectRefusal('SHAPE_INVALID', () => parseAddress(url));
      expect(JSON.stringify([refusal.message, refusal.facts])).not.toContain('hush');
    }
  });

  it('is encrypted and verified unless it stays on this machine or says otherwise', () => {
    const tlsOf = (url: string) => parseAddress(url).tls;
    expect(tlsOf('postgres://ada@db.example/keyturn')).toEqual({
      host: 'db.example',
      rejectUnauthorized: true,
    });
    expect(tlsOf('postgres://ada@10.0.0.7/keyturn')).toEqual({ host: '10.0.0.7', rejectUnauthorized: true });
    expect(tlsOf('postgres://ada@db.example/keyturn?sslmode=require')).toMatchObject({
      rejectUnauthorized: false,
    });
    for (const local of ['localhost', '127.0.0.1', '127.255.9.30', '[::1]'])
      expect(tlsOf(`postgres://ada@${local}/keyturn`)).toBeNull();
    for (const name of ['127.example.org', '127.0.0.1.example.org', '127.0.0.256', '127.1', '127.0.0.01'])
      expect(tlsOf(`postgres://ada@${name}/keyturn`)).toMatchObject({ rejectUnauthorized: true });
    expect(parseAddress('postgres://ada:a%40b@%2Frun%2Fpostgresql/keyturn')).toEqual({
      host: '/run/postgresql',
      port: 5432,
      user: 'ada',
      password: 'a@b',
      database: 'keyturn',
      tls: null,
    });
  });

  it('with a wrong password, role, database or port is refused with a reason of its own', async () => {
    await made();
    const { server, open } = at();
    const url = (over: Parameters<typeof server.url>[0]) =>
      server.url({ ...APPLICATION, database: 'keyturn', ...over });
    await expectRefusal('STORE_DENIED', () => open('write', { url: url({ password: 'guess' }) }));
    await expectRefusal('STORE_DENIED', () => open('write', { url: url({ user: 'nobody' }) }));
    await expectRefusal('STORE_MISSING', () => open('write', { url: url({ database: 'nothing' }) }));
    await expectRefusal('STORE_UNREACHABLE', () => open('write', { url: url({ port: 1 }) }));
    await expectRefusal('STORE_UNREACHABLE', () =>
      open('write', { url: 'postgres://ada:x@no-such-host.invalid/keyturn' }),
    );
    await expectRefusal('STORE_MISSING', () => open('write', { url: url({ database: 'template1' }) }));
  });
});

describe('the connection to a server', () => {
  async function withTls(rules: string): Promise<(mode: string, host?: string) => Promise<void>> {
    await made();
    const { server, sql, open } = at();
    server.write('server.key', readFileSync(fixture('server.key'), 'utf8'));
    server.write('server.crt', readFileSync(fixture('server.crt'), 'utf8'));
    server.write('pg_hba.conf', rules);
    await sql('ALTER SYSTEM SET ssl = on');
    await reload();
    onTestFinished(async () => {
      server.write('pg_hba.conf', 'host all all 127.0.0.1/32 scram-sha-256\n');
      await sql('ALTER SYSTEM RESET ssl');
      await reload();
    });
    return async (mode, host = 'localhost') => {
      const url = `${urlOf(server, APPLICATION).replace('127.0.0.1', host)}?${mode}`;
      await (await open('read', { url })).close();
    };
  }
  const RULES = `hostssl all ${APPLICATION.user} 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 scram-sha-256\n`;

  it('is encrypted where the server asks for it, and without encryption it says so', async () => {
    const connect = await withTls(RULES);
    await connect('sslmode=require');
    await expectRefusal('STORE_TLS', () => connect('sslmode=disable'));
  });

  it('is made only to the server that the certificate names', async () => {
    const connect = await withTls(RULES);
    const [own, other] = [fixture('server.crt'), fixture('other.crt')];
    await connect(`sslmode=verify-full&sslrootcert=${own}`);
    await connect(`sslmode=verify-ca&sslrootcert=${own}`, '127.0.0.1');
    await expectRefusal('STORE_TLS', () => connect(`sslmode=verify-full&sslrootcert=${own}`, '127.0.0.1'));
    await expectRefusal('STORE_TLS', () => connect(`sslmode=verify-full&sslrootcert=${other}`));
    await expectRefusal('STORE_TLS', () => connect('sslmode=verify-full'));
    await expectRefusal('FILE_UNREADABLE', () => connect('sslmode=verify-full&sslrootcert=/none.crt'));
  });

  it('is not made without encryption where the URL asks for it', async () => {
    await made();
    const url = `${urlOf(at().server, APPLICATION)}?sslmode=require`;
    await expectRefusal('STORE_TLS', () => at().open('read', { url }));
  });

  it('is refused by a server that could lose what it acknowledges, and one with too many guests is busy', async () => {
    await made();
    const { sql, open } = at();
    await sql('ALTER SYSTEM SET fsync = off');
    await reload();
    await expectRefusal('WRITE_FAILED', () => open('write'));
    await (await open('read')).close();
    await sql('ALTER SYSTEM RESET fsync');
    await reload();
    await sql(`ALTER ROLE ${APPLICATION.user} CONNECTION LIMIT 0`);
    await expectRefusal('STORE_BUSY', () => open('write'));
    await sql(`ALTER ROLE ${APPLICATION.user} CONNECTION LIMIT -1`);
  });

  it('waits for every commit to be durable, also where the server would not', async () => {
    await made();
    const { sql, open } = at();
    await sql(`ALTER ROLE ${APPLICATION.user} SET synchronous_commit = off`);
    onTestFinished(async () => void (await sql(`ALTER ROLE ${APPLICATION.user} RESET ALL`)));
    const logged = `CREATE TABLE IF NOT EXISTS public.seen (setting text);
      GRANT INSERT ON public.seen TO ${APPLICATION.user};
      CREATE OR REPLACE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;
      CREATE TRIGGER see BEFORE INSERT ON keyturn.entry FOR EACH ROW EXECUTE FUNCTION public.see();`;
    await sql(logged);
    onTestFinished(async () => void (await sql('DROP TRIGGER see ON keyturn.entry')));
    const store = await open('write');
    await store.commit({ events: [proposed()] });
    await store.close();
    expect(await sql('SELECT setting FROM public.seen')).toEqual([{ setting: 'on' }]);
  });
});

describe('the roles of a server', () => {
  it('never change or delete an entry: not the application, not the owner, not a careless superuser', async () => {
    await made();
    const changes = [
      "UPDATE keyturn.entry SET hash = ''",
      'DELETE FROM keyturn.entry',
      'TRUNCATE keyturn.entry',
    ];
    for (const change of changes) {
      await expect(as(APPLICATION, change)).rejects.toMatchObject({ code: '42501' });
      await expect(as(OWNER, change)).rejects.toMatchObject({ code: '42501' });
      await expect(at().sql(change)).rejects.toThrow(/never changed/);
      await expect(at().sql(`SET session_replication_role = replica; ${change}`)).rejects.toThrow(
        /never changed/,
      );
    }
    expect(await at().sql('SELECT count(*) FROM keyturn.entry')).toMatchObject([
      { count: expect.anything() },
    ]);
  });

  it('let the application make no tables, and no other role in', async () => {
    await made();
    await expect(as(APPLICATION, 'DROP TABLE keyturn.entry')).rejects.toMatchObject({ code: '42501' });
    await expect(as(APPLICATION, 'CREATE TABLE keyturn.mine (x int)')).rejects.toMatchObject({
      code: '42501',
    });
    await at().sql(`CREATE ROLE stranger LOGIN PASSWORD 'x'`);
    const url = urlOf(at().server, { user: 'stranger', password: 'x' });
    await expectRefusal('STORE_DENIED', () => at().open('read', { url }));
  });

  it('let an auditor read and write nothing', async () => {
    const store = await made();
    await at().sql(`CREATE ROLE auditor LOGIN PASSWORD 'x';
      GRANT USAGE ON SCHEMA keyturn TO auditor; GRANT SELECT ON ALL TABLES IN SCHEMA keyturn TO auditor`);
    const url = urlOf(at().server, { user: 'auditor', password: 'x' });
    const reader = await at().open('read', { url });
    expect(await reader.tip()).toEqual(await store.tip());
    expect(await reader.rebuild({ write: false })).toMatchObject({ entries: 3, differences: [] });
    await reader.close();
    const writer = await at().open('write', { url });
    await expectRefusal('STORE_DENIED', () => writer.commit({ events: [proposed()] }));
    await writer.close();
  });
});

describe('the schema of a server', () => {
  async function inDatabase(name: string) {
    await at().sql(`CREATE DATABASE ${name} OWNER ${OWNER.user}`);
    return at().server.url({ ...OWNER, database: name });
  }

  it('is made by whoever may, once, even by two at the same moment', async () => {
    const url = await inDatabase('fresh');
    for (const mode of ['read', 'write'] as const)
      await expectRefusal('STORE_MISSING', () => at().open(mode, { url }));
    const stores = await Promise.all(['left', 'right'].map((tenant) => at().open('create', { url, tenant })));
    for (const store of stores) await store.commit({ events: [begun()] });
    for (const store of stores) await store.close();
    await expectRefusal('PROJECT_EXISTS', () => at().open('create', { url, tenant: 'left' }));
    for (const tenant of ['a\0b', '\ud800'])
      await expectRefusal('SHAPE_INVALID', () => at().open('create', { url, tenant }));
    await migratePostgresStore({ url });
  });

  it('is not made by the application, and not where somebody else’s is', async () => {
    const url = await inDatabase('foreign_one');
    const app = at().server.url({ ...APPLICATION, database: 'foreign_one' });
    await expectRefusal('STORE_DENIED', () => at().open('create', { url: app }));
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('CREATE SCHEMA keyturn');
    await client.end();
    await expectRefusal('STORE_CORRUPT', () => at().open('create', { url }));
  });

  it('of a newer Keyturn is refused, and of an older one is not read', async () => {
    await made();
    const { sql, open } = at();
    await sql(`UPDATE keyturn.version SET version = ${MIGRATIONS.length + 1}`);
    for (const mode of ['read', 'write', 'create'] as const)
      await expectRefusal('STORE_NEWER', () => open(mode));
    await expectRefusal('STORE_NEWER', () => migratePostgresStore({ url: urlOf(at().server, OWNER) }));
    await sql(`UPDATE keyturn.version SET version = ${MIGRATIONS.length - 1}`);
    await expectRefusal('STORE_READ_ONLY', () => open('read'));
    await expectRefusal('STORE_DENIED', () => open('write'));
    await sql(`UPDATE keyturn.version SET version = ${MIGRATIONS.length}`);
    await (await open('read')).close();
  });
});
