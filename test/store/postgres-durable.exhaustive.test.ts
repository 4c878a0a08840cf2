import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limits } from '../../src/limits.ts';
import { parseAddress } from '../../src/store/postgres/address.ts';
import { connect } from '../../src/store/postgres/connection.ts';
import { mapped } from '../../src/store/postgres/failure.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { begun, enrolled, proposed } from './facts.ts';
import { openPostgresStore } from './open.ts';
import { allEntries, requireChain } from './place.ts';
import { poolerTo } from './postgres-between.ts';
import { APPLICATION, postgres, storesOf, urlOf } from './postgres-place.ts';

const at = postgres();

const { opened, made } = storesOf(at);

async function reload(): Promise<void> {
  const loaded = async () =>
    String((await at().sql('SELECT extract(epoch FROM pg_conf_load_time())::text AS at'))[0]!.at);
  const before = await loaded();
  await at().sql('SELECT pg_reload_conf()');
  await until(async () => (await loaded()) !== before);
}

async function withSystem(setting: string, value: string): Promise<() => Promise<void>> {
  await at().sql(`ALTER SYSTEM SET ${setting} = '${value}'`);
  await reload();
  const reset = async () => {
    await at().sql(`ALTER SYSTEM RESET ${setting}`);
    await reload();
  };
  onTestFinished(reset);
  return reset;
}

async function withRole(setting: string): Promise<void> {
  await at().sql(`ALTER ROLE ${APPLICATION.user} SET ${setting}`);
  onTestFinished(async () => void (await at().sql(`ALTER ROLE ${APPLICATION.user} RESET ALL`)));
}

describe('a commit that no standby has', () => {
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;

  /** A process of the server of its own takes note that a standby counts, some time after the others have read the setting. */
  async function standbyCounts(): Promise<void> {
    for (let waited = false; !waited; ) {
      let done = false;
      const probe = at().sql(`COMMENT ON ROLE ${APPLICATION.user} IS 'a change that waits for a standby'`);
      const ended = probe.catch(() => []).then(() => (done = true));
      while (!done) if ((await at().sql(cancel)).length > 0) waited = true;
      await ended;
    }
  }

  /** An operator who cancels every commit that waits for the standby. */
  function cancelling(): () => void {
    const timer = setInterval(
      () =>
        void at()
          .sql(cancel)
          .catch(() => undefined),
      50,
    );
    const stop = () => clearInterval(timer);
    onTestFinished(stop);
    return stop;
  }

  for (const level of ['notice', 'error'])
    it(`is not acknowledged when the wait for it is cancelled, nor by the look after it, where a role is told of each ${level}`, async () => {
      const direct = await made();
      await withRole(`client_min_messages = ${level}`);
      const store = await opened('write', { busy_ms: 1_000 });
      await store.commit({ events: [proposed()] });
      const reset = await withSystem('synchronous_standby_names', 'nobody');
      await standbyCounts();
      const stop = cancelling();
      const refusal = await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed()] }));
      expect(refusal.message).toContain('unknown');
      await reset();
      stop();
      expect(await direct.tip()).toEqual(requireChain(await allEntries(direct)));
    });
});

describe('a setting of the role', () => {
  for (const setting of [
    'array_nulls = off',
    `client_encoding = 'LATIN1'`,
    'standard_conforming_strings = off',
    `bytea_output = 'escape'`,
    'transform_null_equals = on',
    `search_path = 'public'`,
    `default_transaction_isolation = 'serializable'`,
    'default_transaction_read_only = on',
  ])
    it(`changes nothing of what is written: ${setting}`, async () => {
      await at().place();
      await withRole(setting);
      const store = await opened('create');
      await store.commit({ events: [begun(), enrolled('ada')] });
      for (const claim of ['é€', '\\x41', 'null', 'NULL'])
        await store.commit({ claims: [claim], events: [proposed()], objects: [Buffer.from(claim)] });
      expect(await store.tip()).toEqual(requireChain(await allEntries(store)));
      expect(await store.rebuild({ write: false })).toMatchObject({ entries: 6, differences: [] });
    });
});

describe('a limit that the role has for transactions', () => {
  it('does not end one that waits for its turn', async () => {
    await made();
    await withRole(`transaction_timeout = '300ms'`);
    const store = await opened('write');
    const HOLD = `SELECT 1 FROM keyturn.tenant WHERE name = 'default' FOR UPDATE; SELECT pg_sleep(1)`;
    const held = at().sql(`BEGIN; ${HOLD}; COMMIT`);
    const sleeps = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    await until(async () => (await at().sql(sleeps)).length > 0);
    await store.commit({ events: [proposed()] });
    await held;
    expect(await store.tip()).toMatchObject({ size: 3 });
    const address = parseAddress(urlOf(at().server, APPLICATION));
    const db = await connect(address, { access: 'write', busy_ms: 1_000 });
    onTestFinished(() => db.end());
    expect((await db.ask({ text: 'SHOW transaction_timeout' })).rows).toEqual([{ transaction_timeout: '0' }]);
  });
});

describe('a pooler that changes sessions between transactions', () => {
  async function pooled(hands_on: boolean, shares = false) {
    const direct = await made();
    const { server } = at();
    server.write('pg_hba.conf', 'host all all 127.0.0.1/32 trust\n');
    await reload();
    onTestFinished(async () => {
      server.write('pg_hba.conf', 'host all all 127.0.0.1/32 scram-sha-256\n');
      await reload();
    });
    await withRole('synchronous_commit = off');
    const pooler = await poolerTo(server.port, { hands_on, shares });
    const open = () => opened('write', { url: urlOf(server, APPLICATION, pooler.port) });
    return { direct, pooler, open };
  }

  it('is found out before the first write', async () => {
    const { direct, pooler, open } = await pooled(true);
    const store = await open();
    pooler.change();
    const refusal = await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed()] }));
    expect(refusal.message).toContain('pooler');
    expect(await direct.tip()).toMatchObject({ size: 2 });
  });

  it('is found out by a write in another session, where nothing is written', async () => {
    const { direct, pooler, open } = await pooled(true);
    const store = await open();
    for (let i = 0; i < 3; i++) await store.commit({ events: [proposed()] });
    pooler.change();
    const refusal = await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed()] }));
    expect(refusal.message).toContain('pooler');
    expect(await direct.tip()).toMatchObject({ size: 5 });
    await store.commit({ events: [proposed()] });
    expect(await direct.tip()).toMatchObject({ size: 6 });
  });

  it('and goes on doing so has only those commits written that run in our session', async () => {
    const { direct, pooler, open } = await pooled(true);
    const store = await open();
    for (let i = 0; i < 3; i++) await store.commit({ events: [proposed()] });
    await at().sql(`CREATE TABLE public.weak (at text);
      CREATE FUNCTION public.look() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN IF current_setting('synchronous_commit') = 'off' THEN INSERT INTO public.weak VALUES (NEW.at); END IF; RETURN NEW; END $$;
      CREATE TRIGGER look BEFORE INSERT ON keyturn.entry FOR EACH ROW EXECUTE FUNCTION public.look()`);
    pooler.changeAlways();
    let written = 0;
    for (let i = 0; i < 6; i++)
      await store.commit({ events: [proposed()] }).then(
        () => {
          written += 1;
        },
        (error) => expect(error).toMatchObject({ code: 'WRITE_FAILED' }),
      );
    expect(await direct.tip()).toMatchObject({ size: 5 + written });
    expect(await direct.tip()).toEqual(requireChain(await allEntries(direct)));
    expect(await at().sql('SELECT at FROM public.weak')).toEqual([]);
  });

  it('and takes no settings when a session begins, as PgBouncer does, can be used while it does not change them', async () => {
    const { direct, open } = await pooled(false);
    const store = await open();
    for (let i = 0; i < 3; i++) await store.commit({ events: [proposed()] });
    expect(await direct.tip()).toMatchObject({ size: 5 });
  });

  it('and gives one session to several clients is refused before anything is set in it', async () => {
    const { pooler, open } = await pooled(false, true);
    const refusal = await expectRefusal('WRITE_FAILED', open);
    expect(refusal.message).toContain('session mode');
    const client = new Client({ connectionString: urlOf(at().server, APPLICATION, pooler.port) });
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query(`SELECT current_setting('search_path') AS path`);
    expect(rows[0].path).toContain('public');
  });

  it.each([
    ['array_nulls', 'off'],
    ['client_min_messages', 'error'],
    ['keyturn.session', 'another'],
  ])('has nothing written in a session where somebody else set %s', async (name, value) => {
    const { direct, pooler, open } = await pooled(false);
    const store = await open();
    await store.commit({ events: [proposed()] });
    await pooler.say(`SET ${name} = '${value}'`);
    await expectRefusal('WRITE_FAILED', () => store.commit({ events: [proposed()] }));
    expect(await direct.tip()).toMatchObject({ size: 3 });
    // It goes on in a session of its own.
    await store.commit({ events: [proposed()] });
    expect(await direct.rebuild({ write: false })).toMatchObject({ entries: 4, differences: [] });
  });

  it.each([
    ['has not seen our prepared statements', `DEALLOCATE ALL`],
    ['has others of their names', `DEALLOCATE ALL; PREPARE peaks AS SELECT 1`],
  ])('is found out by a session that %s', async (_, text) => {
    await made();
    const address = parseAddress(urlOf(at().server, APPLICATION));
    const db = await connect(address, { access: 'write', busy_ms: 1_000 });
    onTestFinished(() => db.end());
    const prepared = { name: 'peaks', text: 'SELECT 2' };
    if (text.endsWith('ALL')) await db.ask(prepared);
    await db.ask({ text });
    const refusal = await expectRefusal('WRITE_FAILED', () => mapped(() => db.ask(prepared)));
    expect(refusal.message).toContain('pooler');
  });
});

describe('a host whose clock is ahead of the server', () => {
  it('reads and does not write, until its clock is right', async () => {
    const direct = await made();
    let ahead_ms = 0;
    const store = await openPostgresStore({
      url: urlOf(at().server, APPLICATION),
      tenant: 'default',
      clock: () => new Date(Date.now() + ahead_ms),
      mode: 'write',
    });
    onTestFinished(() => store.close());
    for (const right_ms of [0, limits.clock_skew_ms - 1_000, -3_600_000]) {
      ahead_ms = right_ms;
      await store.commit({ events: [proposed()] });
      ahead_ms = limits.clock_skew_ms + 1_000;
      await expectRefusal('CLOCK_AHEAD', () => store.commit({ events: [proposed()] }));
    }
    expect(await store.tip()).toMatchObject({ size: 5 });
    await direct.commit({ events: [proposed()] });
  });
});
