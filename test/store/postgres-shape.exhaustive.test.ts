import { describe, expect, it, onTestFinished } from 'vitest';
import { granted, yes } from '../journey/authority.ts';
import { shared } from '../journey/postgres-host.ts';
import { entriesAbout } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { begun, enrolled, proposed } from './facts.ts';
import { APPLICATION, postgres } from './postgres-place.ts';

/** What the server itself says: of the indexes that 003 names, of the sessions of a store, and of rows edited by hand. */

const at = postgres();

describe('the indexes of 003 section 10.1 in PostgreSQL', () => {
  const LEDGER = 'agent_execution_ledger';
  const CURRENT = 'agent_execution_current';
  const rows = () =>
    at().sql(`
      SELECT table_.relname AS table, index_.indisunique AS is_unique, index_.indisvalid AS is_valid,
        pg_get_expr(index_.indpred, index_.indrelid) AS only,
        (SELECT string_agg(attname, ',' ORDER BY place) FROM unnest(index_.indkey::int[]) WITH ORDINALITY AS
          key (number, place) JOIN pg_attribute ON attrelid = index_.indrelid AND attnum = number) AS columns
      FROM pg_index AS index_ JOIN pg_class AS table_ ON table_.oid = index_.indrelid
        JOIN pg_namespace AS schema_ ON schema_.oid = table_.relnamespace
      WHERE schema_.nspname = 'keyturn' AND table_.relname LIKE 'agent_execution_%'`);

  it('a dispatch is unique by tenant, correlation, step and key', async () => {
    const columns = 'tenant_id,correlation_id,step_id,idempotency_key';
    const found = (await rows()).filter((one) => one.table === LEDGER && one.columns === columns);
    expect(found).toMatchObject([{ is_unique: true, is_valid: true }]);
    // Every step comes to its key once; its later rows name the same key again.
    expect(found[0]!.only).toBe("(to_state = 'EXECUTING'::text)");
  });

  it('plans are looked up by tenant, plan and step', async () => {
    const columns = 'tenant_id,plan_id,step_id';
    const found = (await rows()).filter((one) => one.columns === columns && one.only === null);
    expect(found.map(({ table }) => table).sort()).toEqual([CURRENT, LEDGER]);
    expect(found.every(({ is_valid }) => is_valid)).toBe(true);
  });

  it('a replay is looked up by tenant, correlation and time', async () => {
    const columns = 'tenant_id,correlation_id,created_at';
    const found = (await rows()).filter((one) => one.table === LEDGER && one.columns === columns);
    expect(found).toMatchObject([{ is_valid: true, only: null }]);
  });

  it('the server refuses a second dispatch under the same key, whoever writes it', async () => {
    const types = await at().sql(
      `SELECT column_name AS name, data_type AS type FROM information_schema.columns
       WHERE table_schema = 'keyturn' AND table_name = '${LEDGER}'`,
    );
    let seq = 0;
    const insert = (over: Record<string, string>) => {
      seq += 1;
      const value = ({ name, type }: Record<string, unknown>) =>
        name === 'seq' ? `${seq}` : type === 'bigint' ? '0' : `'${over[String(name)] ?? 'same'}'`;
      const names = types.map(({ name }) => name).join();
      return at().sql(
        `INSERT INTO keyturn.${LEDGER} (${names}) VALUES (${types.map((type) => value(type)).join()})`,
      );
    };
    await insert({ to_state: 'EXECUTING' });
    await insert({ to_state: 'SUCCEEDED' });
    await expect(insert({ to_state: 'EXECUTING', plan_id: 'another' })).rejects.toMatchObject({
      code: '23505',
    });
    for (const name of ['tenant_id', 'correlation_id', 'step_id', 'idempotency_key'])
      await insert({ to_state: 'EXECUTING', [name]: 'another' });
  });
});

/**
 * Each session of the store tells what is set in it, while it asks for the row of its tenant: as the name by which the
 * server lists it. No other session can see the settings of a session.
 */
const TELLING = `
  CREATE FUNCTION public.tell() RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT set_config('application_name', concat_ws('/', current_setting('default_transaction_read_only'),
      current_setting('statement_timeout'), current_setting('lock_timeout'),
      current_setting('idle_in_transaction_session_timeout')), false) IS NOT NULL $$;
  GRANT USAGE ON SCHEMA public TO ${APPLICATION.user};
  CREATE POLICY telling ON keyturn.tenant USING (public.tell()) WITH CHECK (true);
  ALTER TABLE keyturn.tenant ENABLE ROW LEVEL SECURITY;`;
const SILENT = `
  ALTER TABLE keyturn.tenant DISABLE ROW LEVEL SECURITY;
  DROP POLICY telling ON keyturn.tenant;
  DROP FUNCTION public.tell();`;

describe('the sessions of a store', () => {
  it('end a statement, a wait for a lock and an idle transaction, whether they read or write', async () => {
    await at().place();
    const made = await at().open('create', { tenant: 'sessions' });
    await made.commit({ events: [begun(), enrolled('ada', 'ada', undefined, 'sessions')] });
    await made.close();
    await at().sql(TELLING);
    onTestFinished(async () => void (await at().sql(SILENT)));
    const store = await at().open('write', { tenant: 'sessions', busy_ms: 1234 });
    onTestFinished(() => store.close());
    await store.commit({ events: [proposed()] });
    await store.page('intent', { limit: 1 });
    const stop = await store.changes!(() => {});
    const listed = await at().sql(
      `SELECT application_name AS told FROM pg_stat_activity WHERE usename = '${APPLICATION.user}'`,
    );
    await stop();
    const sessions = listed.map(({ told }) => String(told).split('/'));
    // One writes, one reads, and one listens.
    expect(sessions.map(([read_only]) => read_only).sort()).toEqual(['off', 'on', 'on']);
    for (const [, statement, lock, idle] of sessions) {
      expect(statement).toMatch(/^[1-9]\d*(ms|s|min)$/);
      expect(lock).toBe('1234ms');
      expect(idle).toMatch(/^[1-9]\d*(ms|s|min)$/);
    }
  });
});

describe('a row that a superuser edited', () => {
  const FREE = 'ALTER TABLE keyturn.entry DISABLE TRIGGER entry_is_kept';
  const KEEP = 'ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept';
  const here = (tenant: string) => `tenant = (SELECT id FROM keyturn.tenant WHERE name = '${tenant}')`;
  const flipped = 'bytes = set_byte(bytes, 40, get_byte(bytes, 40) # 1)';

  async function ran(tenant: string) {
    const p = await shared(at(), tenant);
    const intent = await granted(p);
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    await p.keyturn.ledger.verify({ deep: true });
    await p.keyturn.ledger.verifyStore({ deep: true });
    return { ...p, ...intent };
  }

  it('is found by verifying the ledger and by verifying the store, where it is an entry', async () => {
    const { keyturn, tenant, intent_id } = await ran('edited-entry');
    const { seq } = (await entriesAbout(keyturn, intent_id)).find(
      ({ kind }) => kind === 'execution.finished',
    )!;
    const edit = `UPDATE keyturn.entry SET ${flipped} WHERE seq = ${seq} AND ${here(tenant)}`;
    await at().sql(`${FREE}; ${edit}; ${KEEP}`);
    for (const act of ['verify', 'verifyStore'] as const)
      for (const deep of [false, true])
        await expectRefusal('LEDGER_BROKEN', () => keyturn.ledger[act]({ deep }));
  });

  it('is found by verifying the ledger, where it is the hash that a forger put right as well', async () => {
    const { keyturn, tenant, intent_id } = await ran('edited-hash');
    const { seq } = (await entriesAbout(keyturn, intent_id)).find(({ kind }) => kind === 'approval.granted')!;
    const where = `WHERE seq = ${seq} AND ${here(tenant)}`;
    await at().sql(`${FREE}; UPDATE keyturn.entry SET ${flipped} ${where};
      UPDATE keyturn.entry SET hash = encode(sha256('\\x00'::bytea || bytes), 'hex') ${where}; ${KEEP}`);
    await expectRefusal('LEDGER_BROKEN', () => keyturn.ledger.verify({ deep: false }));
  });

  it('is found by verifying the store, where it is the state of an intent', async () => {
    const { keyturn, tenant, intent_id } = await ran('edited-state');
    await at().sql(
      `UPDATE keyturn.projection SET state = jsonb_set(state::jsonb, '{runs}', '[]')::text
       WHERE name = 'intent' AND key = '${intent_id}' AND ${here(tenant)}`,
    );
    expect((await keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(5);
    await expectRefusal('PROJECTION_DRIFT', () => keyturn.ledger.verifyStore({ deep: false }));
  });

  it('is found by verifying the store, where it is a claim that makes a second run possible', async () => {
    const { keyturn, tenant, intent_id } = await ran('edited-claim');
    await at().sql(`DELETE FROM keyturn.claim WHERE key = 'execution:${intent_id}:1' AND ${here(tenant)}`);
    await expectRefusal('PROJECTION_DRIFT', () => keyturn.ledger.verifyStore({ deep: false }));
  });

  it('is found by verifying the store, where it is an object', async () => {
    const { keyturn, tenant, hash } = await ran('edited-object');
    await at().sql(`UPDATE keyturn.object SET ${flipped} WHERE digest = '${hash}' AND ${here(tenant)}`);
    await expectRefusal('OBJECT_CORRUPT', () => keyturn.ledger.verifyStore({ deep: false }));
  });
});
