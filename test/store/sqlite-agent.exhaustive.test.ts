import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { LEDGERS, TABLES } from '../../src/store/agent-tables.ts';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { scratch } from '../support/scratch.ts';
import { asksAndConfirms, changed, dispatchOf, goal } from './agent-facts.ts';
import { agentContract } from './contract-agent.ts';
import { granted, proposed } from './facts.ts';
import { openSqliteStore } from './open.ts';
import { allEntries, governance, NOON, type Place, requireChain } from './place.ts';
import { sqlite } from './sqlite-file.ts';

function sqlitePlace(path = join(scratch(), 'store.db')): Place & { readonly path: string } {
  return {
    path,
    open: ({ tenant = 'default', mode, clock = () => new Date() }) =>
      openSqliteStore({ path, tenant, clock, mode }),
    damage: async () => expect.fail('nothing is damaged here'),
  };
}

agentContract('sqlite', async () => sqlitePlace());

const clock = () => new Date(NOON);

/** A store with one dispatch, closed again. */
async function dispatchedIn() {
  const place = sqlitePlace();
  const store = await place.open({ mode: 'create', clock });
  const one = goal('goal-1');
  await store.commit({ events: [...governance('ada'), changed('Draft'), changed('Active')] });
  await asksAndConfirms(store, one);
  await store.commit({ events: [dispatchOf(one)] });
  await store.close();
  return { place, one };
}

describe('the tables of the agent core in a SQLite file', () => {
  it('have the columns and the indexes that 003 names', async () => {
    const { place } = await dispatchedIn();
    for (const { name: table, columns } of TABLES) {
      const found = sqlite(place.path, (db) =>
        db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all(),
      );
      expect((found as { name: string }[]).map(({ name }) => name)).toEqual(columns);
    }
    const indexes = sqlite(place.path, (db) =>
      db.prepare(`SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name LIKE 'agent_%'`).all(),
    ) as { sql: string | null }[];
    const texts = indexes.map(({ sql }) => sql?.replace(/\s+/g, ' ') ?? '').join('\n');
    expect(texts).toMatch(/UNIQUE INDEX .*\(tenant_id, correlation_id, step_id, idempotency_key\) WHERE/);
    expect(texts).toMatch(/\(tenant_id, plan_id, step_id\)/);
    expect(texts).toMatch(/\(tenant_id, correlation_id, created_at\)/);
  });

  it('a second dispatch row of a step is refused by its unique index', async () => {
    const { place } = await dispatchedIn();
    const columns = TABLES[0]!.columns.join();
    const again = (seq: string, to_state: string) => `
      INSERT INTO agent_execution_ledger (${columns})
      SELECT ${columns.replace(/\bseq\b/, seq).replace(/\bto_state\b/, to_state)}
      FROM agent_execution_ledger WHERE to_state = 'EXECUTING'`;
    const insert = (text: string) => () => sqlite(place.path, (db) => db.exec(text));
    expect(insert(again('seq + 1', 'to_state'))).toThrow(/UNIQUE.*idempotency_key/);
    expect(insert(again('seq', 'to_state'))).toThrow(/UNIQUE/);
    insert(again('seq + 1', "'SUCCEEDED'"))();
  });

  it.each(LEDGERS.map(({ name }) => name))('no row of %s is changed or deleted', async (table) => {
    const { place } = await dispatchedIn();
    const count = () => sqlite(place.path, (db) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get());
    const before = count() as { n: number };
    expect(before.n).toBeGreaterThan(0);
    for (const text of [`UPDATE ${table} SET plan_id = 'x'`, `DELETE FROM ${table}`])
      expect(() => sqlite(place.path, (db) => db.exec(text))).toThrow(/never/);
    expect(count()).toEqual(before);
  });

  type Forgery = readonly [what: string, sql: string, found: RegExp];
  const FORGERIES: readonly Forgery[] = [
    [
      'a state in the current table',
      `UPDATE agent_execution_current SET state = 'COMPLETED' WHERE step_id = ''`,
      /^agent_execution_current \w{64} $/,
    ],
    [
      'a row that is missing there',
      'DELETE FROM agent_execution_current',
      /^agent_execution_current \w{64} /,
    ],
    [
      'a row that nobody committed',
      `INSERT INTO agent_execution_current SELECT tenant_id, 'goal-9', plan_id, step_id, state, reason_code,
         idempotency_key, intent_id, execution_id, outcome_ref, seq, updated_at FROM agent_execution_current`,
      /^agent_execution_current \w{64} /,
    ],
    [
      'a changed transition',
      `DROP TRIGGER agent_execution_ledger_no_update;
       UPDATE agent_execution_ledger SET reason_code = 'TURN_ENDED' WHERE to_state = 'EXECUTING'`,
      /^agent_execution_ledger \d+$/,
    ],
    [
      'a transition that nobody made',
      `INSERT INTO agent_execution_ledger
         (tenant_id, correlation_id, plan_id, step_id, seq, part, from_state, to_state, reason_code,
          finder_packet_ref, policy_snapshot_ref, catalog_snapshot_ref, artifact_fingerprint_bundle_ref, created_at)
       SELECT tenant_id, correlation_id, plan_id, step_id, seq + 1, 0, to_state, 'SUCCEEDED', 'STEP_SUCCEEDED',
          finder_packet_ref, policy_snapshot_ref, catalog_snapshot_ref, artifact_fingerprint_bundle_ref, created_at
       FROM agent_execution_ledger WHERE to_state = 'EXECUTING'`,
      /^agent_execution_ledger \d+$/,
    ],
    [
      'a transition whose time was changed',
      `DROP TRIGGER agent_execution_ledger_no_update;
       UPDATE agent_execution_ledger SET created_at = '2020-01-01T00:00:00.000Z' WHERE to_state = 'EXECUTING'`,
      /^agent_execution_ledger \d+$/,
    ],
    ...[`char(30)`, `''`, `char(31)`].map(
      (value): Forgery => [
        `${value} where there was nothing`,
        `DROP TRIGGER agent_execution_ledger_no_update;
       UPDATE agent_execution_ledger SET outcome_ref = ${value} WHERE outcome_ref IS NULL AND to_state = 'EXECUTING'`,
        /^agent_execution_ledger \d+$/,
      ],
    ),
    [
      'a forgotten answer',
      `DROP TRIGGER agent_execution_confirmation_ledger_no_delete;
       DELETE FROM agent_execution_confirmation_ledger`,
      /^agent_execution_confirmation_ledger \d+$/,
    ],
    [
      'a decision made good',
      `DROP TRIGGER agent_execution_access_decision_ledger_no_update;
       UPDATE agent_execution_access_decision_ledger SET outcome = 'DENY'`,
      /^agent_execution_access_decision_ledger \d+$/,
    ],
  ];

  it('a rebuild names what was added behind a NUL, where the driver does not look', async () => {
    const { place } = await dispatchedIn();
    sqlite(place.path, (db) =>
      db.exec(`DROP TRIGGER agent_execution_ledger_no_update;
        UPDATE agent_execution_ledger SET reason_code = reason_code || char(0) || 'x' WHERE to_state = 'EXECUTING'`),
    );
    const store = await place.open({ mode: 'write', clock });
    const { differences } = await store.rebuild({ write: true });
    expect(differences).toEqual([expect.stringMatching(/^agent_execution_ledger \d+$/)]);
    expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    await store.close();
  });

  it.each(FORGERIES)('a rebuild names %s and puts it right, triggers included', async (_, sql, found) => {
    const { place } = await dispatchedIn();
    const whole = contentOf(place.path);
    sqlite(place.path, (db) => db.exec(sql));
    expect(contentOf(place.path)).not.toEqual(whole);
    const store = await place.open({ mode: 'write', clock });
    const { differences } = await store.rebuild({ write: false });
    expect(differences.length).toBeGreaterThan(0);
    for (const difference of differences) expect(difference).toMatch(found);
    expect((await store.rebuild({ write: true })).differences).toEqual(differences);
    expect((await store.rebuild({ write: false })).differences).toEqual([]);
    await store.close();
    expect(contentOf(place.path)).toEqual(whole);
    expect(() => sqlite(place.path, (db) => db.exec('DELETE FROM agent_execution_ledger'))).toThrow(/never/);
  });

  it('a store of version 1 is brought to this version, and then keeps them', async () => {
    const path = join(scratch(), 'store.db');
    const id = sqlite(path, (db) => {
      db.exec(`${MIGRATIONS[0]}; PRAGMA application_id = 0x4b54524e; PRAGMA user_version = 1`);
      db.exec(`INSERT INTO tenant (name) VALUES ('default')`);
      return db.prepare(`SELECT count(*) AS n FROM sqlite_schema WHERE name LIKE 'agent_%'`).get();
    });
    expect(id).toEqual({ n: 0 });
    const store = await sqlitePlace(path).open({ mode: 'write', clock });
    const one = goal('goal-1');
    await store.commit({ events: [...governance('ada'), changed('Draft'), changed('Active')] });
    await asksAndConfirms(store, one);
    expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    expect(await store.agentLedger({ limit: 100 })).toHaveLength(7);
    expect(await store.tip()).toEqual(requireChain(await allEntries(store)));
    await store.close();
  });

  it('a rebuild of more rows than it keeps in memory finds nothing to say', async () => {
    const store = await sqlitePlace().open({ mode: 'create', clock });
    await store.commit({ events: governance('ada') });
    const first = proposed();
    await store.commit({ events: [first] });
    const many = Array.from({ length: 22 }, () => Array.from({ length: 500 }, () => proposed()));
    await Promise.all(many.map((events) => store.commit({ events })));
    await store.commit({ events: [granted(first.subject, 'ada'), granted(many[20]![0]!.subject, 'ada')] });
    const { rows, differences } = await store.rebuild({ write: false });
    expect([rows, differences]).toEqual([11_008, []]);
    await store.close();
  });

  it('a dispatch that was durable is found after the store is opened again', async () => {
    const { place, one } = await dispatchedIn();
    const store = await place.open({ mode: 'read', clock });
    expect(await store.find('dispatch', one.idempotency_key)).toMatchObject({ outcome: null });
    expect(await store.find('dispatch', sha256('another'))).toBeNull();
    await store.close();
  });
});

/** Every row of the tables, and what keeps them. */
function contentOf(path: string): unknown {
  return sqlite(path, (db) => [
    ...TABLES.map(({ name, key }) => db.prepare(`SELECT * FROM ${name} ORDER BY ${key.join()}`).all()),
    db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`).all(),
  ]);
}
