import { PROJECTIONS } from '../../fold/projection.ts';
import type { RowName } from '../../fold/row.ts';
import { refuse } from '../../refusal.ts';
import { AGENT_MIGRATION } from './agent-schema.ts';
import type { Database } from './database.ts';

/** "KTRN": says that a SQLite file is a Keyturn store and not the file of another program. */
const APPLICATION_ID = 0x4b54524e;

/**
 * One step per version of the schema, never changed once released.
 *
 * A page that a commit touches is written to the WAL whole and later to the file, so the schema is made to touch few.
 * `id` is tenant * 2^40 + seq: a ledger is one run of row ids, and an append stays on the last page of its table. And
 * one tree, `lookup`, answers every question that begins with a name: which entries are about it (`entry`), who took
 * this claim (`claim`), where is its row (`intent`, `execution`, `principal`, …). `near` comes first in it and is the
 * intent's id wherever there is one, so that ids as random as UUIDs cost a commit one page and not three. What lists are read by
 * is written to `listed` for many entries at once (`lists.ts`). The tip is not
 * stored: it is the last entry, and the Merkle frontier lies in `peak` of a few earlier ones.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE tenant (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4095),
    name TEXT NOT NULL UNIQUE,
    listed INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    peak TEXT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    signer TEXT,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END;
  CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END;

  CREATE TABLE lookup (
    tenant INTEGER NOT NULL,
    near TEXT NOT NULL,
    kind TEXT NOT NULL,
    key ANY NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, near, kind, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE projection (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    status TEXT,
    tool TEXT,
    proposer TEXT,
    actor TEXT,
    due TEXT,
    state TEXT NOT NULL
  ) STRICT;

  CREATE TABLE listed (
    tenant INTEGER NOT NULL,
    list TEXT NOT NULL,
    value TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, list, value, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE object (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    digest TEXT NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (tenant, digest)
  ) STRICT;
  `,
  AGENT_MIGRATION,
];

/** A store from nothing. */
export const CREATION = [
  ...MIGRATIONS,
  `PRAGMA application_id = ${APPLICATION_ID}`,
  `PRAGMA user_version = ${MIGRATIONS.length}`,
].join(';');

/** Room for the entries of one tenant, and as much for each further row of an entry: 2^12 tenants stay exact in a JavaScript number. */
const SPAN = 2 ** 40;

/** No entry of a tenant has this number, nor a higher one. */
export const SEQ_END = SPAN;

export function idOf(tenant_id: number, seq: number): number {
  return tenant_id * SPAN + seq;
}

/**
 * Where a row of a projection is. Rows that an entry brings into being beside its first one lie in rooms of their own. The first ones
 * are by far the most, and come last: they are appended to the last page, and fill it.
 */
export function rowIdOf(tenant_id: number, name: RowName, seq: number): number {
  return idOf(tenant_id, seq + (SPAN / 4) * (2 - (PROJECTIONS[name].slot ?? 0)));
}

export function seqOf(id: number): number {
  return id % SPAN;
}

/** Refuses what is not a store of this Keyturn, and returns the version it has. */
export function requireVersion(db: Database, newest: number): number {
  if (numberOf(db, 'PRAGMA application_id') !== APPLICATION_ID)
    refuse('STORE_CORRUPT', 'The file is not a Keyturn store.');
  const version = numberOf(db, 'PRAGMA user_version');
  if (version > newest) refuse('STORE_NEWER', undefined, { version, newest });
  return version;
}

/** Brings a store to the newest version in one transaction. Two processes may try; the second finds nothing to do. */
export function migrate(db: Database, steps: readonly string[] = MIGRATIONS): void {
  if (requireVersion(db, steps.length) === steps.length) return;
  db.transaction('write', () => {
    const version = requireVersion(db, steps.length);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${steps.length}`);
  });
}

function numberOf(db: Database, pragma: string): number {
  return Object.values(db.sql(pragma).get() as Record<string, number>)[0]!;
}
