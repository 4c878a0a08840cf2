import type { Digest } from '../../canonical/digest.ts';
import { eventIn, signedBy } from '../../event/event.ts';
import { leafHashOfText, openWritten } from '../../ledger/entry.ts';
import { append } from '../../ledger/merkle.ts';
import { limits, sqliteLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { type AgentRow, agentRows } from '../agent-tables.ts';
import type { Rebuild, Tip } from '../store.ts';
import { type AgentComparison, agentComparison, replaceAgentRows } from './agent-rebuild.ts';
import type { Database } from './database.ts';
import { type EntryLookups, entryLookups, insertEntryLookups } from './entry-lookups.ts';
import { type Folding, foldingOf } from './folding.ts';
import { EMPTY_TIP } from './known.ts';
import { type ListComparison, listComparison, replaceLists } from './lists.ts';
import { type RestedObjects, restedObjects } from './rested-objects.ts';
import type { Tenant } from './rows.ts';
import { idOf } from './schema.ts';

/** SQLite takes `lookup` and `projection` to mean these while they exist: the fold runs the very statements of commit. */
const FRESH_TABLES = `
  CREATE TEMP TABLE lookup (
    tenant INTEGER, near TEXT, kind TEXT, key ANY, seq INTEGER, PRIMARY KEY (tenant, near, kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TEMP TABLE projection (
    id INTEGER PRIMARY KEY, tenant INTEGER, name TEXT, key TEXT, status TEXT, tool TEXT, proposer TEXT, actor TEXT, due TEXT,
    state TEXT
  ) STRICT;
`;
const DROP_TABLES = 'DROP TABLE temp.lookup; DROP TABLE temp.projection; DROP TABLE temp.absent;';

/**
 * Folds the ledger from its first entry into fresh tables, with the functions that commit uses, and compares. One
 * transaction, so that ledger and projections are of one moment. It takes as long as the ledger is long.
 */
export function rebuildProjections(db: Database, tenant: Tenant, { write }: { write: boolean }): Rebuild {
  return db.transaction(write ? 'write' : 'read', () => {
    db.exec(FRESH_TABLES);
    const objects = restedObjects(db, tenant);
    const parts: Parts = {
      folding: foldingOf(db, tenant, objects),
      lookups: entryLookups(db, tenant, limits.named_rows),
      lists: listComparison(db, tenant, limits.named_rows),
      agent: agentComparison(db, tenant, limits.named_rows),
    };
    const tip = foldLedger(db, tenant, parts, objects);
    parts.folding.finish();
    const projected = [...differencesOf(db, tenant), ...parts.lookups.finish(), ...parts.lists.finish()];
    const agent = parts.agent.finish();
    if (write && projected.length > 0) replace(db, tenant, tip.size);
    if (write && agent.length > 0) replaceAgentRows(db, tenant, agentRowsOf(db, tenant));
    const { rows } = db.sql('SELECT count(*) AS rows FROM temp.projection').get() as { rows: number };
    db.exec(DROP_TABLES);
    return { entries: tip.size, rows, differences: [...projected, ...agent].slice(0, limits.named_rows) };
  });
}

/** What follows from the entries, each part of it told one entry after the other. */
interface Parts {
  readonly folding: Folding;
  readonly lookups: EntryLookups;
  readonly lists: ListComparison;
  readonly agent: AgentComparison;
}

type StoredEntry = readonly [
  id: number,
  hash: Digest,
  /** Null where it is the hash. */
  peak: Digest | null,
  at: string,
  kind: string,
  signer: string | null,
  /** The bytes, decoded. Where they are not UTF-8, the hash of the text is another one; where they hold a NUL, the driver cuts it there. */
  text: string,
  /** How many bytes there are. */
  bytes: number,
];

function foldLedger(db: Database, tenant: Tenant, parts: Parts, objects: RestedObjects): Tip {
  let tip = EMPTY_TIP;
  try {
    for (let batch = nextEntries(db, tenant, 0); batch.length > 0; batch = nextEntries(db, tenant, tip.size))
      for (const stored of batch) tip = foldEntry(tenant, parts, stored, tip);
  } catch (error) {
    // One before it may rest on what is not there, and is the first that is wrong.
    if (error instanceof Refusal) objects.finish();
    throw error;
  }
  objects.finish();
  return tip;
}

function nextEntries(db: Database, tenant: Tenant, from: number): StoredEntry[] {
  return db
    .lists(
      `SELECT id, hash, peak, at, kind, signer, CAST(bytes AS TEXT), length(bytes) FROM entry
       WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`,
    )
    .all(
      idOf(tenant.id, from),
      idOf(tenant.id + 1, 0),
      sqliteLimits.rebuild_read,
    ) as unknown as StoredEntry[];
}

/** An entry that commit could not have written means that the ledger itself is not what it was. */
function foldEntry(
  tenant: Tenant,
  { folding, lookups, lists, agent }: Parts,
  stored: StoredEntry,
  tip: Tip,
): Tip {
  const { size } = tip;
  const [id, hash, peak, stored_at, kind, signer, text, bytes] = stored;
  try {
    if (!isText(text, bytes) || leafHashOfText(text) !== hash)
      refuse('LEDGER_BROKEN', 'its hash is not that of its bytes');
    const entry = openWritten(text);
    const { seq, at, prev } = entry;
    if (id !== idOf(tenant.id, size) || seq !== size) refuse('LEDGER_BROKEN', 'an entry is missing');
    if (entry.tenant !== tenant.name) refuse('LEDGER_BROKEN', 'it belongs to another tenant');
    if (prev !== tip.last) refuse('LEDGER_BROKEN', 'it does not follow the entry before it');
    const { size: length, frontier } = append(tip, hash);
    const end = { size: length, frontier, last: hash, at };
    const is_listed = entry.kind === kind && signedBy(entry) === signer;
    if (frontier.at(-1) !== (peak ?? hash) || at !== stored_at || !is_listed)
      refuse('LEDGER_BROKEN', 'what is stored beside it does not fit');
    const event = eventIn(entry);
    folding.add({ entry, event }, tip.at);
    lookups.add(entry.subject);
    lists.add(kind, signer);
    agent.add(agentRows(event, { tenant: tenant.name, seq, at }));
    return end;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'OBJECT_CORRUPT') throw error;
    return refuse('LEDGER_BROKEN', `Entry ${size}: ${error.message}`, { seq: size, found: error.code });
  }
}

const isText = (text: string, bytes: number) => text.length === bytes || Buffer.byteLength(text) === bytes;

/** What all entries add to the tables of the agent core, once more from the start. */
function* agentRowsOf(db: Database, tenant: Tenant): Iterable<AgentRow> {
  for (
    let from = 0, batch = nextEntries(db, tenant, 0);
    batch.length > 0;
    batch = nextEntries(db, tenant, from)
  )
    for (const [, , , , , , text] of batch) {
      const { seq, at, kind, subject, body } = openWritten(text);
      yield* agentRows(eventIn({ kind, subject, body }), { tenant: tenant.name, seq, at });
      from = seq + 1;
    }
}

const COLUMNS = {
  projection: ['id', 'name', 'key', 'status', 'tool', 'proposer', 'actor', 'due', 'state'],
  lookup: ['near', 'kind', 'key', 'seq'],
} as const;

type Rebuilt = keyof typeof COLUMNS;

/** Rows that are not the same on both sides, in every column. They are seldom looked for: first it is counted whether there are any. */
function differencesOf(db: Database, tenant: Tenant): string[] {
  if (isSame(db, tenant, 'projection', ['id']) && isSame(db, tenant, 'lookup', ['near', 'kind', 'key']))
    return [];
  const found = db
    .sql(`${differing('projection', `name || ' ' || key`)}
          UNION
          ${differing('lookup', `kind || ' ' || CASE kind WHEN 'claim' THEN key ELSE near END`)}
          LIMIT ${limits.named_rows}`)
    .all({ tenant: tenant.id }) as { what: string }[];
  return found.map(({ what }) => what);
}

/** The stored rows of which this is asked. Which entries are about a name is compared elsewhere. */
const storedIn = (table: Rebuilt) =>
  `main.${table} AS stored WHERE stored.tenant = :tenant${table === 'lookup' ? " AND stored.kind <> 'entry'" : ''}`;

/** Each row of one side has its own row on the other side, found by its key, and there are as many on both. */
function isSame(db: Database, tenant: Tenant, table: Rebuilt, key: readonly string[]): boolean {
  const equal = COLUMNS[table].map((column) =>
    key.includes(column) ? `stored.${column} = folded.${column}` : `stored.${column} IS folded.${column}`,
  );
  const { same, folded, stored } = db
    .sql(`SELECT
        (SELECT count(*) FROM temp.${table} AS folded CROSS JOIN ${storedIn(table)} AND ${equal.join(' AND ')}) AS same,
        (SELECT count(*) FROM temp.${table}) AS folded,
        (SELECT count(*) FROM ${storedIn(table)}) AS stored`)
    .get({ tenant: tenant.id }) as { same: number; folded: number; stored: number };
  return same === folded && same === stored;
}

function differing(table: Rebuilt, label: string): string {
  const columns = COLUMNS[table].join();
  const stored = `SELECT ${columns} FROM ${storedIn(table)}`;
  const folded = `SELECT ${columns} FROM temp.${table}`;
  return `SELECT ${label} AS what FROM (${stored} EXCEPT ${folded})
          UNION SELECT ${label} FROM (${folded} EXCEPT ${stored})`;
}

function replace(db: Database, tenant: Tenant, size: number): void {
  for (const table of ['projection', 'lookup']) {
    db.sql(`DELETE FROM main.${table} WHERE tenant = ?`).run(tenant.id);
    db.sql(`INSERT INTO main.${table} SELECT * FROM temp.${table}`).run();
  }
  insertEntryLookups(db, tenant);
  replaceLists(db, tenant, size);
}
