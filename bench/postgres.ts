import { chmodSync } from 'node:fs';
import { Client } from 'pg';
import { check } from '../src/journey/check.ts';
import type { Context } from '../src/journey/context.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import type { Commit, Store } from '../src/store/store.ts';
import { begun, enrolled } from '../test/store/facts.ts';
import { type Server, startServer } from '../test/support/postgres-server.ts';
import { TOGETHER } from './commit.ts';
import { commitInTurn, commitTogether, proposal } from './facts.ts';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import { timed, usual } from './timing.ts';

/** Until the code is compiled, of the client and of what it is compared with. */
const WARM_UP = 3_000;

/** The figures of the shared store, against a real server on the disk of the project. */
export async function measurePostgres({ folder, sizes }: { folder: string; sizes: Sizes }): Promise<Row[]> {
  // The server is not root, and must get through to its data.
  chmodSync(folder, 0o711);
  const server = await startServer({ max_wal_size: '4GB' }, folder);
  try {
    return [
      ...commitRows(await measureCommits(server, sizes)),
      tenantRow(await measureTenants(server, sizes)),
      checkRow(await measureChecks(server, sizes), sizes),
    ];
  } finally {
    await server.remove();
  }
}

function open(url: string, mode: 'write' | 'create', tenant = 'default'): Promise<Store> {
  return openPostgresStore({ url, tenant, clock: () => new Date(), mode });
}

/** A ledger that has begun, in a database of its own. */
async function made(server: Server, database: string): Promise<{ url: string; store: Store }> {
  await ask(server.url(), `CREATE DATABASE ${database}`);
  const url = server.url({ database });
  const store = await open(url, 'create');
  await store.commit({ events: [begun(), enrolled('ada')] });
  return { url, store };
}

async function ask(url: string, text: string): Promise<void> {
  const client = await connected(url);
  await client.query(text);
  await client.end();
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, pipeline: true });
  await client.connect();
  return client;
}

interface CommitTimes {
  readonly bare_us: number;
  readonly lone_us: number;
  readonly grouped_us: number;
  readonly bytes: number;
}

/** A bare INSERT, one commit at a time, and many at once, in turn in every round. */
async function measureCommits(server: Server, { commit_rounds, commits }: Sizes): Promise<CommitTimes> {
  const { url, store } = await made(server, 'commits');
  const client = await connected(url);
  await client.query('CREATE TABLE bare (id bigint PRIMARY KEY, hash text NOT NULL, bytes bytea NOT NULL)');
  const { bytes, hash } = (await store.commit(proposal())).entries[0]!;
  let id = 0;
  const insert = async (count: number) => {
    for (let i = 0; i < count; i++)
      await client.query({
        name: 'bare',
        text: 'INSERT INTO bare (id, hash, bytes) VALUES ($1, $2, $3)',
        values: [id++, hash, bytes],
      });
  };
  const grouped = async () => {
    for (let i = 0; i < commits; i += TOGETHER) await commitTogether(store, TOGETHER);
  };
  await insert(WARM_UP);
  await commitInTurn(store, WARM_UP);
  await grouped();
  const times: { bare: number; lone: number; grouped: number }[] = [];
  const each = async (act: () => unknown) => ((await timed(act)) * 1000) / commits;
  for (let round = 0; round < commit_rounds; round++)
    times.push({
      bare: await each(() => insert(commits)),
      lone: await each(() => commitInTurn(store, commits)),
      grouped: await each(grouped),
    });
  await client.end();
  await store.close();
  return {
    bare_us: usual(times.map(({ bare }) => bare)),
    lone_us: usual(times.map(({ lone }) => lone)),
    grouped_us: usual(times.map(({ grouped }) => grouped)),
    bytes: bytes.length,
  };
}

function commitRows({ bare_us, lone_us, grouped_us, bytes }: CommitTimes): Row[] {
  const cost = lone_us / bare_us;
  const gain = lone_us / grouped_us;
  return [
    {
      figure: 'PostgreSQL: one commit at a time',
      measured: `${cost.toFixed(2)} x a bare INSERT`,
      asked: '<= 1.8',
      verdict: cost <= 1.8 ? 'ok' : 'MISSED',
      baseline: `${count(lone_us)} us against ${count(bare_us)} us for ${bytes} bytes in a transaction of their own`,
    },
    {
      figure: `PostgreSQL: ${TOGETHER} commits at once on one tenant`,
      measured: `${gain.toFixed(1)} x one at a time`,
      asked: '>= 5',
      verdict: gain >= 5 ? 'ok' : 'MISSED',
      baseline: `${count(grouped_us)} us against ${count(lone_us)} us each`,
    },
  ];
}

interface TenantTimes {
  readonly alone_ms: number;
  readonly beside_ms: number;
}

/** One tenant's commits, in turn with and without another session that holds the chain of another tenant. */
async function measureTenants(server: Server, { commit_rounds, commits }: Sizes): Promise<TenantTimes> {
  const { url, store } = await made(server, 'tenants');
  const other = await open(url, 'create', 'other');
  await other.commit({ events: [begun(), enrolled('ada', 'ada', undefined, 'other')] });
  const holder = await connected(url);
  const times = { alone: [] as number[], beside: [] as number[] };
  const commitEach = async (into: number[]) => {
    for (let i = 0; i < commits; i++) into.push(await timed(() => store.commit(proposal())));
  };
  await commitInTurn(store, WARM_UP);
  for (let round = 0; round < commit_rounds; round++) {
    await commitEach(times.alone);
    await holder.query(`BEGIN; SELECT FROM keyturn.tenant WHERE name = 'other' FOR UPDATE`);
    const waiting = other.commit(proposal());
    await commitEach(times.beside);
    await holder.query('ROLLBACK');
    await waiting;
  }
  await holder.end();
  for (const one of [store, other]) await one.close();
  return { alone_ms: p99(times.alone), beside_ms: p99(times.beside) };
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

function tenantRow({ alone_ms, beside_ms }: TenantTimes): Row {
  const ratio = beside_ms / alone_ms;
  return {
    figure: 'PostgreSQL: p99 of a commit while another chain is locked',
    measured: `${ratio.toFixed(2)} x alone`,
    asked: '<= 1.5',
    verdict: ratio <= 1.5 ? 'ok' : 'MISSED',
    baseline: `${beside_ms.toFixed(1)} ms against ${alone_ms.toFixed(1)} ms`,
  };
}

interface CheckTimes {
  readonly small_us: number;
  readonly large_us: number;
}

/** Entries of an intent, and how many intents are asked about, evenly across each ledger. */
const ENTRIES = 4;
const ASKED = 250;
const ROUNDS = 20;

async function measureChecks(server: Server, { small, large, checks }: Sizes): Promise<CheckTimes> {
  const ledgers = [await filled(server, 'small', small), await filled(server, 'large', large)] as const;
  const times: [number[], number[]] = [[], []];
  for (const { store, ids } of ledgers) await checkMany(store, ids, checks);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, { store, ids }] of ledgers.entries())
      times[i]!.push(((await timed(() => checkMany(store, ids, checks))) * 1000) / checks);
  for (const { store } of ledgers) await store.close();
  return { small_us: usual(times[0]), large_us: usual(times[1]) };
}

async function filled(server: Server, name: string, size: number): Promise<{ store: Store; ids: string[] }> {
  const { store, url } = await made(server, name);
  const ids: string[] = [];
  for (let left = size - 2; left > 0; ) {
    const commits: Commit[] = [];
    for (; commits.length < 512 && left > 0; left -= ENTRIES) commits.push(proposal(Math.min(left, ENTRIES)));
    await Promise.all(commits.map((commit) => store.commit(commit)));
    ids.push(...commits.map(({ events }) => events[0]!.subject));
  }
  await ask(url, 'VACUUM (ANALYZE)');
  const spread = Array.from({ length: ASKED }, (_, i) => ids[Math.floor((i * ids.length) / ASKED)]!);
  return { store, ids: spread };
}

async function checkMany(store: Store, ids: readonly string[], checks: number): Promise<void> {
  // The kept head is a file beside the store. What is compared is the store.
  const context = { store, clock: () => new Date(), requireKeptHead: async () => {} } as unknown as Context;
  for (let i = 0; i < checks; i++) await check(context, ids[i % ids.length]!, 'ab'.repeat(32));
}

function checkRow({ small_us, large_us }: CheckTimes, { small, large }: Sizes): Row {
  const ratio = large_us / small_us;
  return {
    figure: `PostgreSQL: check, ${count(large)} entries`,
    measured: `${ratio.toFixed(2)} x ${count(small)} entries`,
    asked: '<= 1.2',
    verdict: ratio <= 1.2 ? 'ok' : 'MISSED',
    baseline: `${large_us.toFixed(0)} us against ${small_us.toFixed(0)} us`,
  };
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}
