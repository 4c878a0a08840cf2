import { type Digest, isDigest, sha256 } from '../../canonical/digest.ts';
import type { Paged } from '../../fold/projection.ts';
import type { SealedEntry } from '../../ledger/entry.ts';
import { limits, sqliteLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { refuseAbsent } from '../objects.ts';
import {
  type EntryPage,
  endOf,
  type HeldObject,
  type Page,
  type PagedRow,
  requireEntryPage,
  requirePage,
} from '../store.ts';
import type { Database } from './database.ts';
import { readListed, readListedRows } from './lists.ts';
import type { Tenant } from './rows.ts';
import { idOf, SEQ_END, seqOf } from './schema.ts';

interface EntryRow {
  readonly id: number;
  readonly hash: Digest;
  readonly bytes: Uint8Array;
}

export function readEntries(db: Database, tenant: Tenant, from: number): SealedEntry[] {
  const found = db
    .sql('SELECT id, hash, bytes FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT ?')
    .all(idOf(tenant.id, from), idOf(tenant.id + 1, 0), limits.read_batch) as EntryRow[];
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
       WHERE tenant = ? AND near = ? AND lookup.kind = 'entry' ORDER BY key`,
    )
    .all(idOf(tenant.id, 0), tenant.id, subject) as EntryRow[];
  return found.map(sealedOf);
}

const ABOUT = `SELECT id, hash, bytes FROM lookup JOIN entry ON entry.id = :first + lookup.seq
  WHERE tenant = :tenant AND near = :wanted AND lookup.kind = 'entry' AND key < :beyond ORDER BY key DESC LIMIT :limit`;
const newestBy = (by?: 'kind' | 'signer') =>
  `SELECT id, hash, bytes FROM entry WHERE id >= ? AND id < ? ${by ? `AND ${by} = ?` : ''} ORDER BY id DESC LIMIT ?`;
const LISTED_ENTRIES = `SELECT id, hash, bytes FROM listed JOIN entry ON entry.id = ? + seq
  WHERE tenant = ? AND list = ? AND value = ? AND seq < ? ORDER BY seq DESC LIMIT ?`;

export function readEntryPage(db: Database, tenant: Tenant, page: EntryPage): SealedEntry[] {
  const { by, limit, beyond = SEQ_END } = requireEntryPage(page);
  const first = idOf(tenant.id, 0);
  const end = Math.min(beyond, SEQ_END);
  if (by?.[0] === 'subject')
    return entriesIn(db.sql(ABOUT).all({ first, tenant: tenant.id, beyond, limit, wanted: by[1] }));
  if (!by) return entriesIn(db.sql(newestBy()).all(first, first + end, limit));
  const [list, wanted] = by;
  return db.transaction('read', () => {
    const listed = readListed(db, tenant);
    const newest = db.sql(newestBy(list)).all(first + listed, first + end, wanted, limit);
    const left = limit - newest.length;
    const older = db.sql(LISTED_ENTRIES).all(first, tenant.id, list, wanted, Math.min(end, listed), left);
    return entriesIn([...newest, ...older]);
  });
}

const entriesIn = (found: readonly unknown[]) => (found as EntryRow[]).map(sealedOf);

function sealedOf({ id, hash, bytes }: EntryRow): SealedEntry {
  return { seq: seqOf(id), bytes, hash };
}

export function readPage<N extends Paged>(db: Database, tenant: Tenant, name: N, page: Page): PagedRow<N>[] {
  const { column, values, limit, newest_first = false, beyond } = requirePage(name, page);
  if (values.length === 0) return [];
  const from = newest_first || beyond === undefined ? 0 : beyond + 1;
  const end = newest_first && beyond !== undefined ? Math.min(beyond, SEQ_END) : SEQ_END;
  return readListedRows(db, tenant, { name, column, values, limit, newest_first, from, end });
}

export function readObjects(db: Database, tenant: Tenant, after: Digest): HeldObject[] {
  return db
    .sql(
      `SELECT digest, length(bytes) AS bytes FROM object WHERE tenant = ? AND digest > ? ORDER BY digest LIMIT ${sqliteLimits.digests_read}`,
    )
    .all(tenant.id, after) as HeldObject[];
}

export function readObjectsLike(
  db: Database,
  tenant: Tenant,
  beginning: string,
  limit: number,
): HeldObject[] {
  return db
    .sql(
      `SELECT digest, length(bytes) AS bytes FROM object
       WHERE tenant = ? AND digest >= ? AND digest < ? ORDER BY digest LIMIT ?`,
    )
    .all(tenant.id, beginning, endOf(beginning), limit) as HeldObject[];
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
