import type { Digest } from '../../canonical/digest.ts';
import { type Event, parseEvent } from '../../event/event.ts';
import { leafHash, openEntry } from '../../ledger/entry.ts';
import { append } from '../../ledger/merkle.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { type Ledger, plannedRow } from '../decide.ts';
import { fold } from '../projection.ts';
import type { Rebuild, Tip } from '../store.ts';
import type { Database } from './database.ts';
import { claimLookup, entryLookup, rowLookup } from './lookup.ts';
import { BATCH } from './read.ts';
import { ledgerOf, type Tenant } from './rows.ts';
import { idOf } from './schema.ts';
import { EMPTY_TIP } from './tip.ts';
import { insertLookups, insertRow, updateRow } from './write.ts';

/** How many differences are named. One is enough to act on; a page of them shows the pattern. */
const NAMED = 20;

/** SQLite takes `lookup` and `projection` to mean these while they exist: the fold runs the very statements of commit. */
const FRESH_TABLES = `
  CREATE TEMP TABLE lookup (
    tenant INTEGER, near TEXT, kind TEXT, key ANY, seq INTEGER, PRIMARY KEY (tenant, near, kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TEMP TABLE projection (
    id INTEGER PRIMARY KEY, tenant INTEGER, name TEXT, key TEXT, status TEXT, state TEXT
  ) STRICT;
  CREATE INDEX temp.principal_rows ON projection (id) WHERE name = 'principal';
`;
const DROP_TABLES = 'DROP TABLE temp.lookup; DROP TABLE temp.projection;';

/**
 * Folds the ledger from its first entry into fresh tables, with the functions that commit uses, and compares. One
 * transaction, so that ledger and projections are of one moment. It takes as long as the ledger is long.
 */
export function rebuildProjections(db: Database, tenant: Tenant, { write }: { write: boolean }): Rebuild {
  return db.transaction(write ? 'write' : 'read', () => {
    db.exec(FRESH_TABLES);
    const tip = foldLedger(db, tenant);
    const differences = differencesOf(db, tenant);
    if (write && differences.length > 0) replace(db, tenant);
    const { rows } = db.sql('SELECT count(*) AS rows FROM temp.projection').get() as { rows: number };
    db.exec(DROP_TABLES);
    return { entries: tip.size, rows, differences };
  });
}

interface StoredEntry {
  readonly id: number;
  readonly hash: Digest;
  readonly peak: Digest;
  readonly at: string;
  readonly bytes: Uint8Array;
}

function foldLedger(db: Database, tenant: Tenant): Tip {
  const ledger = ledgerOf(db, tenant);
  let tip = EMPTY_TIP;
  for (let batch = nextEntries(db, tenant, 0); batch.length > 0; batch = nextEntries(db, tenant, tip.size))
    for (const stored of batch) tip = foldEntry(db, tenant, ledger, stored, tip);
  return tip;
}

function nextEntries(db: Database, tenant: Tenant, from: number): StoredEntry[] {
  return db
    .sql(
      `SELECT id, hash, ifnull(peak, hash) AS peak, at, bytes FROM entry
       WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`,
    )
    .all(idOf(tenant.id, from), idOf(tenant.id + 1, 0), BATCH) as StoredEntry[];
}

/** An entry that commit could not have written means that the ledger itself is not what it was. */
function foldEntry(db: Database, tenant: Tenant, ledger: Ledger, stored: StoredEntry, tip: Tip): Tip {
  const { size } = tip;
  try {
    const { seq, at, claims, prev, tenant: owner, ...event } = openEntry(stored.bytes);
    if (stored.id !== idOf(tenant.id, size) || seq !== size) refuse('LEDGER_BROKEN', 'an entry is missing');
    if (owner !== tenant.name) refuse('LEDGER_BROKEN', 'it belongs to another tenant');
    if (prev !== tip.last) refuse('LEDGER_BROKEN', 'it does not follow the entry before it');
    if (leafHash(stored.bytes) !== stored.hash) refuse('LEDGER_BROKEN', 'its hash is not that of its bytes');
    const end = { ...append(tip, stored.hash), last: stored.hash, at };
    if (end.frontier.at(-1) !== stored.peak || at !== stored.at)
      refuse('LEDGER_BROKEN', 'what is stored beside it does not fit');
    foldEvent(db, tenant, ledger, seq, at, claims, parseEvent(event));
    return end;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('LEDGER_BROKEN', `Entry ${size}: ${error.message}`, { seq: size, found: error.code });
  }
}

function foldEvent(
  db: Database,
  tenant: Tenant,
  ledger: Ledger,
  seq: number,
  at: string,
  claims: readonly string[],
  event: Event,
): void {
  for (const claim of claims) {
    if (ledger.isClaimed(claim)) refuse('CLAIM_TAKEN', 'it takes a claim that was taken');
    insertLookups(db, tenant, [claimLookup(claim, seq)]);
  }
  insertLookups(db, tenant, [entryLookup(event.subject, seq)]);
  for (const row of fold(ledger, event, seq, at)) {
    if (row.seq === seq) insertLookups(db, tenant, [rowLookup(row)]);
    (row.seq === seq ? insertRow : updateRow)(db, tenant, plannedRow(row));
  }
}

/** Rows that are not the same on both sides, in every column. */
function differencesOf(db: Database, tenant: Tenant): string[] {
  const found = db
    .sql(`${differing('projection', 'id, name, key, status, state', `name || ' ' || key`)}
          UNION
          ${differing('lookup', 'near, kind, key, seq', `kind || ' ' || CASE kind WHEN 'claim' THEN key ELSE near END`)}
          LIMIT ${NAMED}`)
    .all({ tenant: tenant.id }) as { what: string }[];
  return found.map(({ what }) => what);
}

function differing(table: string, columns: string, label: string): string {
  const stored = `SELECT ${columns} FROM main.${table} WHERE tenant = :tenant`;
  const folded = `SELECT ${columns} FROM temp.${table}`;
  return `SELECT ${label} AS what FROM (${stored} EXCEPT ${folded})
          UNION SELECT ${label} FROM (${folded} EXCEPT ${stored})`;
}

function replace(db: Database, tenant: Tenant): void {
  for (const table of ['projection', 'lookup']) {
    db.sql(`DELETE FROM main.${table} WHERE tenant = ?`).run(tenant.id);
    db.sql(`INSERT INTO main.${table} SELECT * FROM temp.${table}`).run();
  }
}
