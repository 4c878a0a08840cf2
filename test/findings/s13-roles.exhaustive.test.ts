import { beforeAll, describe, expect, it } from 'vitest';
import { migrateStore } from '../../src/keyturn.ts';
import { answerOf, expectError, PASSPHRASE } from '../cli/project.ts';
import { keyturn } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { documentedServer, SECRET } from './s13-place.ts';

const { url, app, superuser, migrate, project } = documentedServer();

describe('S13: two roles, as docs/postgres.md says', () => {
  it('the owner makes the tables by a command, and the application works with them', async () => {
    expectError('STORE_DENIED', await keyturn(['store', 'migrate', url('keyturn_app')], { cwd: scratch() }));
    const made = answerOf(await migrate('--application', 'keyturn_app', '--json'));
    expect(made).toMatchObject({ result: { from: null, application: 'keyturn_app' } });
    const again = await migrate('--application', 'keyturn_app');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).not.toContain(SECRET);
    const { keyturn: opened, propose, run } = await project('two-roles');
    const { intent_id, hash } = await propose();
    const signer = await opened.unlock('alice', PASSPHRASE);
    await opened.intents.approve({ intent_id, hash, signer });
    await opened.intents.grant({ intent_id, hash, signer });
    await runSeen(opened, { intent_id, hash, confirm: async () => true });
    for (const words of [
      ['store', 'verify', '--deep'],
      ['ledger', 'rebuild', '--write'],
    ])
      expect(await run(...words)).toMatchObject({ code: 0, stderr: '' });
  });

  it('the application has exactly these rights, also where it had more before', async () => {
    await superuser(
      'GRANT ALL ON ALL TABLES IN SCHEMA keyturn TO keyturn_app; GRANT CREATE ON SCHEMA keyturn TO keyturn_app',
    );
    expect(await migrate('--application', 'keyturn_app')).toMatchObject({ code: 0 });
    const rows = await superuser(`
      SELECT c.relname, string_agg(lower(p), ' ' ORDER BY p) AS may
      FROM pg_class c, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
      WHERE c.relnamespace = 'keyturn'::regnamespace AND c.relkind = 'r' AND has_table_privilege('keyturn_app', c.oid, p)
      GROUP BY c.relname`);
    expect(Object.fromEntries(rows.map(({ relname, may }) => [relname, may]))).toEqual({
      tenant: 'insert',
      entry: 'insert',
      claim: 'delete insert',
      projection: 'delete insert update',
      object: 'delete insert',
      beat: 'insert update',
      nonce: 'delete insert',
      service_state: 'delete insert update',
      agent_execution_ledger: 'insert',
      agent_execution_confirmation_ledger: 'insert',
      agent_execution_access_decision_ledger: 'insert',
      agent_execution_current: 'delete insert update',
    });
    expect(await superuser(`SELECT has_schema_privilege('keyturn_app', 'keyturn', 'CREATE') AS may`)).toEqual(
      [{ may: false }],
    );
    for (const change of [
      "UPDATE keyturn.entry SET hash = ''",
      'DELETE FROM keyturn.entry',
      'TRUNCATE keyturn.entry',
    ])
      await expect(app(change)).rejects.toMatchObject({ code: '42501' });
    await expect(app('ALTER TABLE keyturn.entry DISABLE TRIGGER ALL')).rejects.toMatchObject({
      code: '42501',
    });
    await expect(app("UPDATE keyturn.tenant SET name = 'mine'")).rejects.toMatchObject({ code: '42501' });
  });

  it('a role that is missing, owns the tables, or may act as their owner is refused before anything is granted', async () => {
    await superuser('CREATE ROLE close_friend LOGIN; GRANT keyturn_owner TO close_friend');
    expectError('USAGE', await migrate('--application', ''));
    for (const role of ['nobody', 'a"b', 'PUBLIC', 'keyturn_owner', 'postgres', 'close_friend'])
      expectError('SHAPE_INVALID', await migrate('--application', role));
    await expectRefusal('SHAPE_INVALID', () =>
      migrateStore({ url: url('keyturn_owner'), application: 'a\0b' }),
    );
    expect(
      await superuser(`SELECT has_table_privilege('keyturn_owner', 'keyturn.claim', 'DELETE') AS may`),
    ).toEqual([{ may: true }]);
  });
});

describe('S13: where a ledger ends', () => {
  beforeAll(async () => void (await migrate('--application', 'keyturn_app')));

  it('an end that the application moved back is refused by every command that rests on it', async () => {
    const { propose, run, id, keyturn: opened } = await project('moved-back');
    await propose();
    await propose();
    await app(`UPDATE keyturn.tenant t SET size = e.seq + 1, last = e.hash
      FROM keyturn.entry e WHERE t.id = ${id} AND e.tenant = t.id AND e.seq = t.size - 2`);
    for (const words of [
      ['ledger', 'verify', '--deep'],
      ['ledger', 'verify'],
      ['store', 'verify', '--deep'],
      ['ledger', 'head'],
    ])
      expectError('LEDGER_OVERRUN', await run(...words));
    await expectRefusal('LEDGER_OVERRUN', () => propose());
    await expectRefusal('LEDGER_OVERRUN', () => opened.ledger.head());
  });

  it('one row past the end, near or far, is found at once', async () => {
    for (const far of [0, 1000]) {
      const { propose, run, id } = await project(`past-${far}`);
      await app(`INSERT INTO keyturn.entry (tenant, seq, hash, at, subject, kind, bytes)
        SELECT id, size + ${far}, '', '', 'x', 'x', '' FROM keyturn.tenant WHERE id = ${id}`);
      expectError('LEDGER_OVERRUN', await run('ledger', 'verify', '--deep'));
      const asked = ['propose', '--tool', 'greet', '--arg', 'name=Ada', '--by', 'bot'];
      expectError('LEDGER_OVERRUN', await run(...asked));
      if (far === 0) await expectRefusal('LEDGER_OVERRUN', () => propose());
    }
  });

  it('an end before the first entry is refused', async () => {
    const { run, id } = await project('negative');
    await app(`UPDATE keyturn.tenant SET size = -1 WHERE id = ${id}`);
    for (const word of ['verify', 'head']) expectError('LEDGER_OVERRUN', await run('ledger', word));
  });
});
