import { type Digest, isDigest, sha256 } from '../../canonical/digest.ts';
import type { Paged } from '../../fold/projection.ts';
import type { SealedEntry } from '../../ledger/entry.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { refuseAbsent } from '../objects.ts';
import {
  type EntryPage,
  type HeldObject,
  type Page,
  type PagedRow,
  requireEntryPage,
  requirePage,
} from '../store.ts';
import type { Database } from './database.ts';
import { stateOf, type Tenant } from './rows.ts';
import { idOf, rowIdOf, SEQ_END, seqOf } from './schema.ts';

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
const listedBy = (by: 'kind' | 'signer' | undefined) =>
  `SELECT id, hash, bytes FROM entry ${by ? `INDEXED BY entry_${by}` : 'NOT INDEXED'}
   WHERE id >= :first AND id < :end ${by ? `AND ${by} = :wanted` : ''} ORDER BY id DESC LIMIT :limit`;

export function readEntryPage(db: Database, tenant: Tenant, page: EntryPage): SealedEntry[] {
  const { by, limit, beyond = SEQ_END } = requireEntryPage(page);
  const first = idOf(tenant.id, 0);
  const wanted = by && { wanted: by[1] };
  const found =
    by?.[0] === 'subject'
      ? db.sql(ABOUT).all({ first, tenant: tenant.id, beyond, limit, ...wanted })
      : db
          .sql(listedBy(by?.[0]))
          .all({ first, end: idOf(tenant.id, Math.min(beyond, SEQ_END)), limit, ...wanted });
  return (found as EntryRow[]).map(sealedOf);
}

function sealedOf({ id, hash, bytes }: EntryRow): SealedEntry {
  return { seq: seqOf(id), bytes, hash };
}

/** SQLite merges what each value has, in the order of the index: it reads no more rows of each than it takes. */
export function readPage<N extends Paged>(db: Database, tenant: Tenant, name: N, page: Page): PagedRow<N>[] {
  const { column, values, limit, newest_first = false, beyond } = requirePage(name, page);
  if (values.length === 0) return [];
  const from = newest_first || beyond === undefined ? 0 : beyond + 1;
  const first = rowIdOf(tenant.id, name, from);
  const end =
    newest_first && beyond !== undefined ? rowIdOf(tenant.id, name, beyond) : idOf(tenant.id + 1, 0);
  const one = `SELECT id, state FROM projection INDEXED BY projection_${column}
    WHERE tenant = ? AND name = '${name}' AND ${column} = ? AND id >= ? AND id < ?`;
  const text = `${values.map(() => one).join(' UNION ALL ')} ORDER BY id ${newest_first ? 'DESC' : ''} LIMIT ?`;
  const found = db.sql(text).all(...values.flatMap((value) => [tenant.id, value, first, end]), limit);
  return (found as { id: number; state: string }[]).map(({ id, state }) => ({
    seq: id - rowIdOf(tenant.id, name, 0),
    state: stateOf<N>(state),
  }));
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
