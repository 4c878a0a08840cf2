import { parseEvent } from '../../event/event.ts';
import { GENESIS, leafHash, openEntry, type SealedEntry } from '../../ledger/entry.ts';
import { append, EMPTY_TREE } from '../../ledger/merkle.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Ledger } from '../plan.ts';
import { fold } from '../projection.ts';
import type { Rebuild, Tip } from '../store.ts';
import type { Database } from './database.ts';
import { claimKey, entryKey } from './lookup.ts';
import { readEntries } from './read.ts';
import { ledgerOf, readTip, type Tenant } from './rows.ts';
import { insertRow, updateRow, writeLookup, writeTip } from './write.ts';

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
    const differences = differencesOf(db, tenant, tip);
    if (write && differences.length > 0) replace(db, tenant, tip);
    const { rows } = db.sql('SELECT count(*) AS rows FROM temp.projection').get() as { rows: number };
    db.exec(DROP_TABLES);
    return { entries: tip.size, rows, differences };
  });
}

function foldLedger(db: Database, tenant: Tenant): Tip {
  const ledger = ledgerOf(db, tenant);
  let tip: Tip = { ...EMPTY_TREE, last: GENESIS, at: null };
  for (let batch = readEntries(db, tenant, 0); batch.length > 0; batch = readEntries(db, tenant, tip.size))
    for (const sealed of batch) tip = foldEntry(db, tenant, ledger, sealed, tip);
  return tip;
}

/** An entry that commit could not have written means that the ledger itself is not what it was. */
function foldEntry(db: Database, tenant: Tenant, ledger: Ledger, sealed: SealedEntry, tip: Tip): Tip {
  try {
    const { seq, at, claims, prev, tenant: owner, ...event } = openEntry(sealed.bytes);
    if (sealed.seq !== tip.size || seq !== tip.size) refuse('LEDGER_BROKEN', 'an entry is missing');
    if (owner !== tenant.name) refuse('LEDGER_BROKEN', 'it belongs to another tenant');
    if (prev !== tip.last) refuse('LEDGER_BROKEN', 'it does not follow the entry before it');
    if (leafHash(sealed.bytes) !== sealed.hash) refuse('LEDGER_BROKEN', 'its hash is not that of its bytes');
    for (const claim of claims) {
      if (ledger.isClaimed(claim)) refuse('CLAIM_TAKEN', 'it takes a claim that was taken');
      writeLookup(db, tenant, claimKey(claim), seq);
    }
    const rows = fold(ledger, parseEvent(event), seq, at);
    for (const row of rows) row.seq < seq ? updateRow(db, tenant, row) : insertRow(db, tenant, row);
    writeLookup(db, tenant, entryKey(event.subject, seq), seq);
    return { ...append(tip, sealed.hash), last: sealed.hash, at };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('LEDGER_BROKEN', `Entry ${tip.size}: ${error.message}`, {
      seq: tip.size,
      found: error.code,
    });
  }
}

/** Rows that are not the same on both sides, in every column. */
function differencesOf(db: Database, tenant: Tenant, tip: Tip): string[] {
  const found = db
    .sql(`${differing('projection', 'id, name, key, status, state', `name || ' ' || key`)}
          UNION
          ${differing('lookup', 'near, kind, key, seq', `kind || ' ' || CASE kind WHEN 'claim' THEN key ELSE near END`)}
          LIMIT ${NAMED}`)
    .all({ tenant: tenant.id }) as { what: string }[];
  const is_same_tip = JSON.stringify(readTip(db, tenant)) === JSON.stringify(sameOrder(tip));
  return [...(is_same_tip ? [] : ['tip']), ...found.map(({ what }) => what)];
}

function differing(table: string, columns: string, label: string): string {
  const stored = `SELECT ${columns} FROM main.${table} WHERE tenant = :tenant`;
  const folded = `SELECT ${columns} FROM temp.${table}`;
  return `SELECT ${label} AS what FROM (${stored} EXCEPT ${folded})
          UNION SELECT ${label} FROM (${folded} EXCEPT ${stored})`;
}

function sameOrder({ size, last, at, frontier }: Tip): Tip {
  return { size, last, at, frontier };
}

function replace(db: Database, tenant: Tenant, tip: Tip): void {
  for (const table of ['projection', 'lookup']) {
    db.sql(`DELETE FROM main.${table} WHERE tenant = ?`).run(tenant.id);
    db.sql(`INSERT INTO main.${table} SELECT * FROM temp.${table}`).run();
  }
  writeTip(db, tenant, tip);
}
