import { isUtf8 } from 'node:buffer';
import type { Digest } from '../../canonical/digest.ts';
import { parseEvent } from '../../event/event.ts';
import { type Entry, isEntry, leafHash, openEntry } from '../../ledger/entry.ts';
import { append } from '../../ledger/merkle.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { agentTableRows } from '../agent-rows.ts';
import type { AgentTableRows } from '../agent-tables.ts';
import type { Rebuild, Tip } from '../store.ts';
import {
  type AgentComparison,
  agentComparison,
  DROP_CURRENT,
  FRESH_CURRENT,
  replaceAgentRows,
} from './agent-rebuild.ts';
import type { Database } from './database.ts';
import { type Folding, foldingOf } from './folding.ts';
import { BATCH } from './read.ts';
import type { Tenant } from './rows.ts';
import { idOf } from './schema.ts';
import { EMPTY_TIP } from './tip.ts';

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
`;
const DROP_TABLES = 'DROP TABLE temp.lookup; DROP TABLE temp.projection;';

/**
 * Folds the ledger from its first entry into fresh tables, with the functions that commit uses, and compares. One
 * transaction, so that ledger and projections are of one moment. It takes as long as the ledger is long.
 */
export function rebuildProjections(db: Database, tenant: Tenant, { write }: { write: boolean }): Rebuild {
  return db.transaction(write ? 'write' : 'read', () => {
    db.exec(FRESH_TABLES + FRESH_CURRENT);
    const folding = foldingOf(db, tenant);
    const comparison = agentComparison(db, tenant, NAMED);
    const tip = foldLedger(db, tenant, folding, comparison);
    folding.finish();
    const projected = differencesOf(db, tenant);
    const agent = comparison.finish();
    if (write && projected.length > 0) replace(db, tenant);
    if (write && agent.length > 0) replaceAgentRows(db, tenant, agentRowsOf(db, tenant));
    const { rows } = db.sql('SELECT count(*) AS rows FROM temp.projection').get() as { rows: number };
    db.exec(DROP_TABLES + DROP_CURRENT);
    return { entries: tip.size, rows, differences: [...projected, ...agent].slice(0, NAMED) };
  });
}

interface StoredEntry {
  readonly id: number;
  readonly hash: Digest;
  readonly peak: Digest;
  readonly at: string;
  readonly bytes: Uint8Array;
}

function foldLedger(db: Database, tenant: Tenant, folding: Folding, comparison: AgentComparison): Tip {
  let tip = EMPTY_TIP;
  for (let batch = nextEntries(db, tenant, 0); batch.length > 0; batch = nextEntries(db, tenant, tip.size))
    for (const stored of batch) tip = foldEntry(tenant, folding, comparison, stored, tip);
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
function foldEntry(
  tenant: Tenant,
  folding: Folding,
  comparison: AgentComparison,
  stored: StoredEntry,
  tip: Tip,
): Tip {
  const { size } = tip;
  try {
    const entry = openStored(stored.bytes);
    const { seq, at, prev } = entry;
    if (stored.id !== idOf(tenant.id, size) || seq !== size) refuse('LEDGER_BROKEN', 'an entry is missing');
    if (entry.tenant !== tenant.name) refuse('LEDGER_BROKEN', 'it belongs to another tenant');
    if (prev !== tip.last) refuse('LEDGER_BROKEN', 'it does not follow the entry before it');
    if (leafHash(stored.bytes) !== stored.hash) refuse('LEDGER_BROKEN', 'its hash is not that of its bytes');
    const end = { ...append(tip, stored.hash), last: stored.hash, at };
    if (end.frontier.at(-1) !== stored.peak || at !== stored.at)
      refuse('LEDGER_BROKEN', 'what is stored beside it does not fit');
    const event = parseEvent(entry);
    folding.add({ entry, event }, tip.at);
    const added = agentTableRows(event, { tenant: tenant.name, seq, at });
    if (added) comparison.add(added);
    return end;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('LEDGER_BROKEN', `Entry ${size}: ${error.message}`, { seq: size, found: error.code });
  }
}

/** A lone surrogate or a NUL, which no entry has. */
const ODD = /\\u(0000|d[89a-f])/i;
const isOdd = (text: string) => text.includes('\\u') && ODD.test(text);

/**
 * Reads an entry several times faster than `openEntry`: bytes that are written back as they were hold no key twice and
 * nothing else that could be read in two ways. Whatever is odd is left to `openEntry`.
 */
function openStored(bytes: Uint8Array): Entry {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return openEntry(bytes);
  }
  const is_plain = isUtf8(bytes) && isEntry(value) && !isOdd(text) && JSON.stringify(value) === text;
  return is_plain ? (value as Entry) : openEntry(bytes);
}

/** What all entries add to the tables of the agent core, once more from the start. */
function* agentRowsOf(db: Database, tenant: Tenant): Iterable<AgentTableRows> {
  for (
    let from = 0, batch = nextEntries(db, tenant, 0);
    batch.length > 0;
    batch = nextEntries(db, tenant, from)
  )
    for (const { bytes } of batch) {
      const { seq, at, kind, subject, body } = openStored(bytes);
      const added = agentTableRows(parseEvent({ kind, subject, body }), { tenant: tenant.name, seq, at });
      if (added) yield added;
      from = seq + 1;
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
