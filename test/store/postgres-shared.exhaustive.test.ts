import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { Event } from '../../src/event/event.ts';
import { openEntry } from '../../src/ledger/entry.ts';
import { LEDGERS, TABLES } from '../../src/store/agent-tables.ts';
import { freeLedger, keepLedger } from '../../src/store/postgres/agent-schema.ts';
import type { Store } from '../../src/store/store.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { asksAndConfirms, changed, dispatchOf, goal } from './agent-facts.ts';
import {
  begun,
  claimed,
  DIGEST,
  enrolled,
  erased,
  finished,
  granted,
  issued,
  proposed,
  refused,
  revoked,
} from './facts.ts';
import { openPostgresStore, openSqliteStore } from './open.ts';
import { allEntries, codeOf, governance, NOON, plain, requireChain } from './place.ts';
import { APPLICATION, OWNER, postgres, urlOf } from './postgres-place.ts';
import { linesOf } from './processes.ts';

const at = postgres();

async function opened(mode: 'write' | 'create', over: Parameters<ReturnType<typeof at>['open']>[1] = {}) {
  const store = await at().open(mode, over);
  onTestFinished(() => store.close());
  return store;
}

async function made(): Promise<Store> {
  await at().place();
  const store = await opened('create');
  await store.commit({ events: [begun(), enrolled('ada')] });
  return store;
}

/** The subject of a tool of a client is as long as its name. */
const blocked = (subject: string): Event => ({
  kind: 'call.blocked',
  subject,
  body: { by: 'ada', client: 'codex', tool: 'Bash', call: DIGEST, reason_code: 'FROZEN', decision: null },
});

describe('a ledger in PostgreSQL', () => {
  it('has byte for byte the entries that SQLite gives it, tip and projections included', async () => {
    await at().place();
    const clock = () => new Date(NOON);
    const url = urlOf(at().server, APPLICATION);
    const stores = [
      await openSqliteStore({ path: join(scratch(), 'store.db'), tenant: 'default', clock, mode: 'create' }),
      await openPostgresStore({ url, tenant: 'default', clock, mode: 'create' }),
    ] as const;
    const [id, other, execution] = [randomUUID(), randomUUID(), randomUUID()];
    const commits: { claims?: string[]; events: Event[] }[] = [
      { events: [proposed(id), granted(id, 'ada')] },
      { claims: [`intent:${id}`], events: [proposed(other)] },
      { events: [...issued(id, 'ada')] },
      { events: [claimed(id, execution)] },
      { events: [proposed(id)] },
      { events: [finished(id, execution, 'success'), refused(other)] },
    ];
    const [left, right] = await Promise.all(
      stores.map(async (store) => {
        await store.commit({ events: governance('ada', 'bo') });
        const outcomes = await Promise.allSettled(commits.map((commit) => store.commit(commit)));
        const seen = {
          codes: outcomes.map(codeOf),
          entries: (await allEntries(store)).map(plain),
          tip: await store.tip(),
          intents: await store.page('intent', { limit: 10 }),
          principals: await store.all('principal'),
          system: await store.system(),
          of: (await store.entriesOf(id)).map(plain),
          rebuilt: await store.rebuild({ write: false }),
        };
        await store.close();
        return seen;
      }),
    );
    expect(left!.codes).toEqual(['ok', 'CLAIM_TAKEN', 'ok', 'ok', 'CLAIM_TAKEN', 'ok']);
    expect(right).toEqual(left);
  });

  it('refuses a claim or a subject that fits into no index, and finds nothing by a name that no text can be', async () => {
    const store = await made();
    const long = 'x'.repeat(2_001);
    await expectRefusal('INPUT_TOO_LARGE', () => store.commit({ claims: [long], events: [proposed()] }));
    await expectRefusal('INPUT_TOO_LARGE', () => store.commit({ events: [blocked(`client:${long}`)] }));
    const fits = `client:${long}`.slice(0, 2_000);
    await store.commit({ claims: [long.slice(1)], events: [blocked(fits)] });
    for (const odd of ['a\0b', '\ud800']) {
      expect(await store.find('intent', odd)).toBeNull();
      expect(await store.entriesOf(odd)).toEqual([]);
      await expectRefusal('JSON_BAD_STRING', () => store.commit({ claims: [odd], events: [proposed()] }));
    }
    expect(await store.tip()).toMatchObject({ size: 3 });
  });

  it('erases an object in a batch with others, and what was added before', async () => {
    const store = await made();
    const secret = Buffer.from('secret');
    const digest = sha256(secret);
    const outcomes = await Promise.allSettled([
      store.commit({ events: [proposed()], objects: [secret] }),
      store.commit({ events: [erased(digest, 'ada')], erase: [digest] }),
      store.commit({ events: [erased(digest, 'ada')], erase: [digest] }),
      store.commit({ events: [proposed()], objects: [Buffer.from('other')] }),
    ]);
    expect(outcomes.map(codeOf)).toEqual(['ok', 'ok', 'CLAIM_TAKEN', 'ok']);
    await expectRefusal('OBJECT_MISSING', () => store.object(digest));
    expect(await store.rebuild({ write: false })).toMatchObject({ entries: 5, differences: [] });
  });
});

describe('hosts that share a ledger', () => {
  it('with clocks a day apart keep one order, and time in it never goes back', async () => {
    await at().place();
    const url = urlOf(at().server, APPLICATION);
    const open = async (iso: string, mode: 'create' | 'write') => {
      const store = await openPostgresStore({ url, tenant: 'default', clock: () => new Date(iso), mode });
      onTestFinished(() => store.close());
      return store;
    };
    const today = await open('2026-01-16T12:00:00.000Z', 'create');
    const yesterday = await open('2026-01-15T12:00:00.000Z', 'write');
    await yesterday.commit({ events: [begun()] });
    await today.commit({ events: [enrolled('ada')] });
    for (const store of [yesterday, today, yesterday]) await store.commit({ events: [proposed()] });
    const entries = await allEntries(today);
    expect(await yesterday.tip()).toEqual(requireChain(entries));
    expect(entries.map(({ bytes }) => openEntry(bytes).at.slice(8, 10))).toEqual([
      '15',
      '16',
      '16',
      '16',
      '16',
    ]);
    expect(await today.rebuild({ write: false })).toMatchObject({ differences: [] });
  });

  it('take each claim once and leave a gapless chain, in many processes', async () => {
    const store = await made();
    const [processes, each] = [3, 10];
    const script = fileURLToPath(new URL('./postgres-committer.ts', import.meta.url));
    const url = urlOf(at().server, APPLICATION);
    const committer = (tag: string) => [process.execPath, '--import', 'tsx', script, url, tag, String(each)];
    const said = await Promise.all(
      Array.from({ length: processes }, (_, i) => linesOf(committer(`own-${i}`))),
    );
    const won = said.flat().filter(({ answer }) => answer === 'ok');
    const contested = won.filter(({ claim }) => claim.startsWith('contested'));
    expect(new Set(contested.map(({ claim }) => claim)).size).toBe(each);
    expect(contested).toHaveLength(each);
    expect(won).toHaveLength(each + 2 * processes * each);
    expect(new Set(said.flat().map(({ answer }) => answer))).toEqual(new Set(['ok', 'CLAIM_TAKEN']));
    const entries = await allEntries(store);
    expect(entries).toHaveLength(2 + won.length);
    expect(await store.tip()).toEqual(requireChain(entries));
    expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
  });

  it('hear of each other’s commits', async () => {
    const [store, other] = [await made(), await opened('write')];
    let heard = () => {};
    const hearing = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const stop = await other.changes!(() => heard());
    await store.commit({ events: [proposed()] });
    await hearing;
    await stop();
  });

  it('never wait for another tenant, and for their own only so long', async () => {
    await at().place();
    const [left, right] = [
      await opened('create', { tenant: 'left', busy_ms: 300 }),
      await opened('create', { tenant: 'right', busy_ms: 300 }),
    ];
    for (const { tenant, commit } of [left, right])
      await commit({ events: [begun(), enrolled('ada', 'ada', undefined, tenant)] });
    const holder = new Client({ connectionString: at().server.url({ database: 'keyturn' }) });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query(`BEGIN; SELECT * FROM keyturn.tenant WHERE name = 'left' FOR UPDATE`);
    for (let i = 0; i < 3; i++) await right.commit({ events: [proposed()] });
    await expectRefusal('STORE_BUSY', () => left.commit({ events: [proposed()] }));
    await holder.query('ROLLBACK');
    await left.commit({ events: [proposed()] });
    expect([(await left.tip()).size, (await right.tip()).size]).toEqual([3, 5]);
  });
});

describe('a superuser who edits rows by hand', () => {
  const FREE = 'ALTER TABLE keyturn.entry DISABLE TRIGGER entry_is_kept';
  const KEEP = 'ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept';
  const HERE = `tenant = (SELECT id FROM keyturn.tenant WHERE name = 'default')`;
  const EDITS: { what: string; edit: string; seq: number }[] = [
    {
      what: 'bytes',
      edit: `UPDATE keyturn.entry SET bytes = set_bit(bytes, 160, 1 - get_bit(bytes, 160))`,
      seq: 0,
    },
    { what: 'a hash', edit: `UPDATE keyturn.entry SET hash = repeat('1', 64)`, seq: 0 },
    { what: 'a peak', edit: `UPDATE keyturn.entry SET peak = repeat('1', 64)`, seq: 0 },
    { what: 'a subject', edit: `UPDATE keyturn.entry SET subject = 'other'`, seq: 0 },
    { what: 'a kind', edit: `UPDATE keyturn.entry SET kind = 'other'`, seq: 0 },
    { what: 'a signer', edit: `UPDATE keyturn.entry SET signer = 'other'`, seq: 0 },
    { what: 'an entry in the middle', edit: 'DELETE FROM keyturn.entry', seq: 1 },
    { what: 'the last entry', edit: 'DELETE FROM keyturn.entry', seq: 2 },
  ];
  for (const { what, edit, seq } of EDITS)
    it(`is found by a rebuild: ${what}`, async () => {
      const store = await made();
      for (let i = 0; i < 3; i++) await store.commit({ events: [proposed()] });
      await at().sql(`${FREE}; ${edit} WHERE seq = ${seq} AND ${HERE}; ${KEEP}`);
      const { facts } = await expectRefusal('LEDGER_BROKEN', () => store.rebuild({ write: true }));
      expect(facts.seq).toBe(seq);
    });

  it('and cuts the end off is found by whoever writes next', async () => {
    const store = await made();
    for (let i = 0; i < 3; i++) await store.commit({ events: [proposed()] });
    await at().sql(`${FREE}; DELETE FROM keyturn.entry WHERE seq = 4 AND ${HERE}; ${KEEP}`);
    await expectRefusal('LEDGER_BROKEN', () => store.tip());
    const fresh = await opened('write');
    await expectRefusal('LEDGER_BROKEN', () => fresh.commit({ events: [proposed()] }));
  });

  it('and forges a row deceives nobody once somebody has rebuilt, not even a process that has read it', async () => {
    const [deceived, other] = [await made(), await opened('write')];
    const id = randomUUID();
    await other.commit({ events: [enrolled('bo', 'ada'), revoked('bo', 'ada')] });
    await at().sql(`UPDATE keyturn.projection SET status = 'active',
      state = jsonb_set(state::jsonb, '{status}', '"active"')::text WHERE key = 'bo' AND ${HERE}`);
    await deceived.commit({ events: [proposed(id)] });
    expect((await other.rebuild({ write: true })).differences).toEqual(['principal bo']);
    await expectRefusal('KEY_REVOKED', () => deceived.commit({ events: [granted(id, 'bo')] }));
  });
});

describe('the tables of the agent core in PostgreSQL', () => {
  async function dispatched(): Promise<Store> {
    await at().place();
    const url = urlOf(at().server, APPLICATION);
    const clock = () => new Date(NOON);
    const store = await openPostgresStore({ url, tenant: 'default', clock, mode: 'create' });
    onTestFinished(() => store.close());
    const one = goal('goal-1');
    await store.commit({ events: [...governance('ada'), changed('Draft'), changed('Active')] });
    await asksAndConfirms(store, one);
    await store.commit({ events: [dispatchOf(one)] });
    return store;
  }

  it('have the columns that 003 names, and their ledgers are never changed', async () => {
    await dispatched();
    for (const { name: table, columns } of TABLES) {
      const found = await at().sql(
        `SELECT column_name AS name FROM information_schema.columns
         WHERE table_schema = 'keyturn' AND table_name = $1 ORDER BY ordinal_position`,
        [table],
      );
      expect(found.map(({ name }) => name)).toEqual(columns);
    }
    for (const { name: table } of LEDGERS)
      for (const change of [`UPDATE keyturn.${table} SET plan_id = 'x'`, `DELETE FROM keyturn.${table}`])
        await expect(at().sql(change)).rejects.toThrow(/never changed/);
  });

  it('that somebody changed are put right by a rebuild: the present by the application, a ledger by the owner', async () => {
    const store = await dispatched();
    await at().sql(`UPDATE keyturn.agent_execution_current SET state = 'COMPLETED' WHERE step_id = ''`);
    const { differences } = await store.rebuild({ write: true });
    expect(differences).toEqual([expect.stringMatching(/^agent_execution_current \w{64} $/)]);
    const table = 'agent_execution_ledger';
    const forge = `UPDATE keyturn.${table} SET reason_code = 'TURN_ENDED' WHERE to_state = 'EXECUTING'`;
    await at().sql(`${freeLedger(table)} ${forge}; ${keepLedger(table)}`);
    await expectRefusal('STORE_DENIED', () => store.rebuild({ write: true }));
    const owner = await opened('write', { url: urlOf(at().server, OWNER) });
    expect((await owner.rebuild({ write: true })).differences).toEqual([
      expect.stringMatching(/^agent_execution_ledger \d+$/),
    ]);
    expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    await expect(at().sql(`DELETE FROM keyturn.${table}`)).rejects.toThrow(/never changed/);
  });
});
