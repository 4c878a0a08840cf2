import { type Digest, isDigest, sha256 } from '../../canonical/digest.ts';
import type { IntentState } from '../../gate/state.ts';
import type { SealedEntry } from '../../ledger/entry.ts';
import { refuse } from '../../refusal.ts';
import { refuseAbsent } from '../objects.ts';
import type { HeldObject, Page } from '../store.ts';
import type { Database } from './database.ts';
import { readRow, stateOf, type Tenant } from './rows.ts';
import { idOf, seqOf } from './schema.ts';

/** Entries per read. Each read is a transaction of its own, so that a slow reader never keeps the WAL from a reset. */
export const BATCH = 1000;

interface EntryRow {
  readonly id: number;
  readonly hash: Digest;
  readonly bytes: Uint8Array;
}

export function readEntries(db: Database, tenant: Tenant, from: number): SealedEntry[] {
  const found = db
    .sql('SELECT id, hash, bytes FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT ?')
    .all(idOf(tenant.id, from), idOf(tenant.id + 1, 0), BATCH) as EntryRow[];
  return found.map(sealedOf);
}

export function readEntry(db: Database, tenant: Tenant, seq: number): SealedEntry | null {
  const found = db
    .sql('SELECT id, hash, bytes FROM entry WHERE id = ? AND id < ?')
    .get(idOf(tenant.id, seq), idOf(tenant.id + 1, 0)) as EntryRow | undefined;
  return found ? sealedOf(found) : null;
}

export function readEntriesOf(db: Database, tenant: Tenant, subject: string): SealedEntry[] {
  const found = db
    .sql(
      `SELECT id, hash, bytes FROM lookup JOIN entry ON entry.id = ? + lookup.seq
       WHERE tenant = ? AND near = ? AND kind = 'entry' ORDER BY key`,
    )
    .all(idOf(tenant.id, 0), tenant.id, subject) as EntryRow[];
  return found.map(sealedOf);
}

function sealedOf({ id, hash, bytes }: EntryRow): SealedEntry {
  return { seq: seqOf(id), bytes, hash };
}

export function readIntents(db: Database, tenant: Tenant, { status, limit, after }: Page): IntentState[] {
  // SQLite takes a negative limit for none.
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('SHAPE_INVALID', 'The limit of a page is 1 or more.');
  const from = after === undefined ? 0 : seqAfter(db, tenant, after);
  const range = [idOf(tenant.id, from), idOf(tenant.id + 1, 0)];
  const found = (
    status === undefined
      ? db
          .sql(`${SELECT} NOT INDEXED WHERE id >= ? AND id < ? AND name = 'intent' ORDER BY id LIMIT ?`)
          .all(...range, limit)
      : db
          .sql(
            `${SELECT} INDEXED BY projection_status WHERE id >= ? AND id < ? AND tenant = ? AND name = 'intent' AND status = ? ORDER BY id LIMIT ?`,
          )
          .all(...range, tenant.id, status, limit)
  ) as { state: string }[];
  return found.map(({ state }) => stateOf<'intent'>(state));
}

const SELECT = 'SELECT state FROM projection';

function seqAfter(db: Database, tenant: Tenant, intent_id: string): number {
  const row = readRow(db, tenant, 'intent', intent_id) ?? refuse('INTENT_NOT_FOUND');
  return row.seq + 1;
}

/** Digests per read. */
const DIGESTS = 1000;

export function readObjects(db: Database, tenant: Tenant, after: Digest): HeldObject[] {
  return db
    .sql(
      `SELECT digest, length(bytes) AS bytes FROM object WHERE tenant = ? AND digest > ? ORDER BY digest LIMIT ${DIGESTS}`,
    )
    .all(tenant.id, after) as HeldObject[];
}

export function readObject(db: Database, tenant: Tenant, digest: Digest): Uint8Array {
  if (!isDigest(digest)) refuse('HASH_MALFORMED');
  const found = db.sql('SELECT bytes FROM object WHERE tenant = ? AND digest = ?').get(tenant.id, digest) as
    | { bytes: Uint8Array }
    | undefined;
  if (!found) refuseAbsent(digest, readEntriesOf(db, tenant, digest));
  if (sha256(found.bytes) !== digest) refuse('OBJECT_CORRUPT', undefined, { digest });
  return found.bytes;
}
