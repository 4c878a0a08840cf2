import type { Digest } from '../../canonical/digest.ts';
import { type Event, eventIn, signedBy } from '../../event/event.ts';
import { foldEntry, LedgerOverlay, verifierOf } from '../../fold/ledger.ts';
import { rowsNamedBy } from '../../fold/projection.ts';
import type { Verified } from '../../identity/verified.ts';
import { type Entry, GENESIS, leafHash, openWritten } from '../../ledger/entry.ts';
import { append } from '../../ledger/merkle.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { turnsOf } from '../../turns.ts';
import { inEntry } from '../adopt.ts';
import { type AgentRow, agentRows } from '../agent-tables.ts';
import { type RowToWrite, rowToWrite } from '../decide.ts';
import { decidedOn, type LoadedRows, loadedRowsOf, refOf } from '../loaded-rows.ts';
import { restsIn } from '../rests.ts';
import type { Rebuild, Tip, Wanted } from '../store.ts';
import { agentDifferences, FRESH_AGENT_TABLES, insertFreshAgentRows, replaceAgentRows } from './agent.ts';
import { arrayOf, arraysOf } from './array.ts';
import type { Connection } from './connection.ts';
import { END, type EndRow, load, lockEnd } from './load.ts';
import { type Resting, requireRested } from './rested-objects.ts';
import type { Tenant } from './rows.ts';
import { ROW_CHANGES, ROW_TYPES, rowValues } from './write.ts';

/** The server keeps what is folded, so that memory here does not grow with the ledger. */
export const FRESH_TABLES = `
  SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
  CREATE TEMP TABLE claim (tenant integer, key text COLLATE "C", seq bigint, PRIMARY KEY (tenant, key)) ON COMMIT DROP;
  CREATE TEMP TABLE projection (
    tenant integer, name text COLLATE "C", key text COLLATE "C", seq bigint, status text COLLATE "C",
    tool text COLLATE "C", proposer text COLLATE "C", actor text COLLATE "C",
    due text COLLATE "C", state text COLLATE "C", PRIMARY KEY (tenant, name, key)
  ) ON COMMIT DROP;
  ${FRESH_AGENT_TABLES}`;
const COMPARING =
  'SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on';

/**
 * Folds the ledger from its first entry into fresh tables, with the functions that commit uses, and compares. One
 * transaction on a connection of its own: to compare it reads one moment and blocks no writer; to replace it holds the
 * lock of the chain. It takes as long as the ledger is long.
 */
export async function rebuildProjections(
  db: Connection,
  tenant: Tenant,
  { write }: { write: boolean },
): Promise<Rebuild> {
  const end = await begin(db, tenant, write);
  const rebuild = await refold(db, tenant, end, { write });
  await db.ask({ text: 'COMMIT' });
  return rebuild;
}

interface RefoldOptions {
  readonly write: boolean;
  /** Also where an object is not there that an entry rests on: what an entry removed that was set aside, no entry says. */
  readonly takes_lost?: boolean;
}

/** Inside a transaction that has the fresh tables. */
export async function refold(
  db: Connection,
  tenant: Tenant,
  end: Pick<EndRow, 'size' | 'last'>,
  { write, takes_lost = false }: RefoldOptions,
): Promise<Rebuild> {
  const tip = await foldLedger(db, tenant, takes_lost);
  if (tip.size > end.size) refuse('LEDGER_OVERRUN', undefined, { size: end.size });
  if (tip.size !== end.size || tip.last !== end.last)
    refuse('LEDGER_BROKEN', `The ledger ends with entry ${tip.size - 1}, not ${end.size - 1}.`, {
      seq: tip.size,
    });
  await db.ask({ text: COMPARING });
  const projected = await differencesOf(db, tenant);
  const agent = await agentDifferences(db, tenant, limits.named_rows);
  const differences = [...projected, ...[...agent.values()].flat()].slice(0, limits.named_rows);
  if (write && projected.length > 0) await replace(db, tenant);
  if (write) await replaceAgentRows(db, tenant, agent.keys());
  if (write && differences.length > 0) await nextGeneration(db, tenant);
  const { rows } = await db.ask<{ rows: number }>({
    text: 'SELECT count(*) AS rows FROM pg_temp.projection',
  });
  return { entries: tip.size, rows: rows[0]!.rows, differences };
}

async function begin(db: Connection, tenant: Tenant, write: boolean): Promise<EndRow> {
  // The tables are temporary: they are no writing that a reader may not do, but PostgreSQL counts making them as such.
  await db.ask({ text: `BEGIN ISOLATION LEVEL ${write ? 'READ COMMITTED' : 'REPEATABLE READ'} READ WRITE` });
  if (write) {
    const end = await lockEnd(db, tenant);
    await db.ask({ text: FRESH_TABLES });
    return end;
  }
  await db.ask({ text: FRESH_TABLES });
  const { rows } = await db.ask<EndRow>({ text: END, values: [tenant.id] });
  return rows[0] ?? refuse('STORE_CORRUPT', 'The tenant is gone.');
}

interface StoredEntry {
  readonly seq: number;
  readonly hash: Digest;
  readonly peak: Digest;
  readonly at: string;
  readonly subject: string;
  readonly kind: string;
  readonly signer: string | null;
  readonly bytes: Uint8Array;
}

interface Opened {
  readonly entry: Entry;
  readonly event: Verified;
  /** The time of the entry before it. */
  readonly before: string | null;
}

async function foldLedger(db: Connection, tenant: Tenant, takes_lost: boolean): Promise<Tip> {
  const loaded = loadedRowsOf(tenant.name);
  const verified = verifierOf(tenant.name, null);
  const turns = turnsOf();
  let tip: Tip = { size: 0, last: GENESIS, at: null, frontier: [] };
  for (;;) {
    const batch = await nextEntries(db, tenant, tip.size);
    if (batch.length === 0) return tip;
    const all: Opened[] = [];
    for (const stored of batch) {
      // A service on a server answers others meanwhile: each of these verifies a signature.
      const others = turns();
      if (others) await others;
      const { opened, end } = openStored(tenant, stored, tip, verified);
      tip = end;
      all.push(opened);
    }
    await foldBatch(db, tenant, { loaded, takes_lost }, all);
  }
}

async function nextEntries(db: Connection, tenant: Tenant, from: number): Promise<StoredEntry[]> {
  const { rows } = await db.ask<StoredEntry & { [column: string]: unknown }>({
    name: 'stored',
    text: `SELECT seq, hash, coalesce(peak, hash) AS peak, at, subject, kind, signer, bytes FROM keyturn.entry
      WHERE tenant = $1 AND seq >= $2 ORDER BY seq LIMIT ${limits.read_batch}`,
    values: [tenant.id, from],
  });
  return rows;
}

function openStored(
  tenant: Tenant,
  stored: StoredEntry,
  tip: Tip,
  verified: (event: Event) => Verified,
): { opened: Opened; end: Tip } {
  return inEntry(tip.size, () => {
    const entry = openWritten(stored.bytes);
    const { seq, at, prev } = entry;
    if (stored.seq !== tip.size || seq !== tip.size) refuse('LEDGER_BROKEN', 'an entry is missing');
    if (entry.tenant !== tenant.name) refuse('LEDGER_BROKEN', 'it belongs to another tenant');
    if (prev !== tip.last) refuse('LEDGER_BROKEN', 'it does not follow the entry before it');
    if (leafHash(stored.bytes) !== stored.hash) refuse('LEDGER_BROKEN', 'its hash is not that of its bytes');
    const end = { ...append(tip, stored.hash), last: stored.hash, at };
    const is_listed =
      entry.subject === stored.subject && entry.kind === stored.kind && signedBy(entry) === stored.signer;
    if (end.frontier.at(-1) !== stored.peak || at !== stored.at || !is_listed)
      refuse('LEDGER_BROKEN', 'what is stored beside it does not fit');
    return { opened: { entry, event: verified(eventIn(entry)), before: tip.at }, end };
  });
}

async function foldBatch(
  db: Connection,
  tenant: Tenant,
  { loaded, takes_lost }: { readonly loaded: LoadedRows; readonly takes_lost: boolean },
  batch: readonly Opened[],
): Promise<void> {
  const refs = batch.flatMap(({ event }) => rowsNamedBy(event));
  const loadFresh = (wanted: Wanted) => load(db, tenant, wanted, 'pg_temp');
  const wanted = {
    rows: new Map(refs.map((ref) => [refOf(ref), ref])),
    claims: batch.flatMap(({ entry }) => entry.claims),
    objects: [],
  };
  loaded.learn(wanted, await loadFresh(wanted));
  let resting: Resting[] = [];
  const decide = () => {
    resting = [];
    return foldEntries(tenant, loaded, batch, resting);
  };
  try {
    const folded = await decidedOn(loaded, decide, loadFresh);
    await requireRested(db, tenant, resting, takes_lost);
    await store(db, tenant, folded);
    loaded.absorb(folded.rows.map(({ row }) => row));
    loaded.trim();
  } catch (error) {
    // One before it may rest on an object that says something else, and is the first that is wrong.
    await requireRested(db, tenant, resting, takes_lost);
    throw error;
  }
}

interface Folded {
  readonly rows: readonly RowToWrite[];
  readonly claims: ReadonlyMap<string, number>;
  readonly agent_rows: readonly AgentRow[];
}

/** Notes in `resting` what each entry rests on, also where a later one is refused. */
function foldEntries(
  tenant: Tenant,
  { ledger }: LoadedRows,
  batch: readonly Opened[],
  resting: Resting[],
): Folded {
  const so_far = new LedgerOverlay(ledger);
  const agent_rows: AgentRow[] = [];
  for (const { entry, event, before } of batch)
    inEntry(entry.seq, () => {
      const { seq, at, claims } = entry;
      const rests = restsIn(so_far, event);
      for (const row of foldEntry(so_far, { entry, event }, before)) so_far.put(row);
      if (rests.decision || rests.token) resting.push({ ...rests, seq });
      for (const claim of claims) so_far.taken.set(claim, seq);
      agent_rows.push(...agentRows(event, { tenant: tenant.name, seq, at }));
    });
  return { rows: Array.from(so_far.changed(), rowToWrite), claims: so_far.taken, agent_rows };
}

async function store(db: Connection, tenant: Tenant, folded: Folded): Promise<void> {
  const { rows, claims, agent_rows } = folded;
  await insertFreshAgentRows(db, agent_rows);
  await db.ask({
    text: 'INSERT INTO pg_temp.claim SELECT $1::integer, v.* FROM unnest($2::text[], $3::bigint[]) AS v',
    values: [tenant.id, arrayOf('text', [...claims.keys()]), arrayOf('bigint', [...claims.values()])],
  });
  await db.ask({
    text: `INSERT INTO pg_temp.projection
      SELECT $1::integer, v.* FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]) AS v
      ${ROW_CHANGES}`,
    values: [tenant.id, ...arraysOf(ROW_TYPES, rows.map(rowValues))],
  });
}

/** Rows that are not the same on both sides, in every column. */
async function differencesOf(db: Connection, tenant: Tenant): Promise<string[]> {
  const { rows } = await db.ask<{ what: string }>({
    text: `${differing('projection', 'name, key, seq, status, tool, proposer, actor, due, state', `name || ' ' || key`)}
      UNION ${differing('claim', 'key, seq', `'claim ' || key`)}
      ORDER BY what LIMIT ${limits.named_rows}`,
    values: [tenant.id],
  });
  return rows.map(({ what }) => what);
}

function differing(table: string, columns: string, label: string): string {
  const stored = `SELECT ${columns} FROM keyturn.${table} WHERE tenant = $1`;
  const folded = `SELECT ${columns} FROM pg_temp.${table}`;
  return `SELECT (${label}) COLLATE "C" AS what FROM ((${stored} EXCEPT ${folded}) UNION ALL (${folded} EXCEPT ${stored})) AS differing`;
}

async function replace(db: Connection, tenant: Tenant): Promise<void> {
  for (const table of ['projection', 'claim']) {
    await db.ask({ text: `DELETE FROM keyturn.${table} WHERE tenant = $1`, values: [tenant.id] });
    await db.ask({ text: `INSERT INTO keyturn.${table} SELECT * FROM pg_temp.${table}` });
  }
}

/** Tells every process that what it remembers of the rows is no longer so. */
async function nextGeneration(db: Connection, tenant: Tenant): Promise<void> {
  await db.ask({
    text: 'UPDATE keyturn.tenant SET generation = generation + 1 WHERE id = $1',
    values: [tenant.id],
  });
}
