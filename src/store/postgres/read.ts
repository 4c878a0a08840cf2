import type { Digest } from '../../canonical/digest.ts';
import type { ListedRow, Paged } from '../../fold/projection.ts';
import type { RowName, States } from '../../fold/row.ts';
import type { SealedEntry } from '../../ledger/entry.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { refuseAbsent } from '../objects.ts';
import {
  type EntryPage,
  endOf,
  type HeldObject,
  type Page,
  type PagedRow,
  type RowRef,
  requireEntryPage,
  requirePage,
} from '../store.ts';
import { arrayOf } from './array.ts';
import type { Connection } from './connection.ts';
import { isStorable, stateOf, type Tenant } from './rows.ts';

/** The hash of the second entry, which covers the first: no other ledger has it. Null while the ledger has no founder. */
export const FOUNDING =
  '(SELECT hash FROM keyturn.entry WHERE entry.tenant = tenant.id AND seq = 1) AS founding';

export async function findTenant(db: Connection, name: string): Promise<Tenant | null> {
  if (!isStorable(name)) return null;
  const { rows } = await db.ask<{ id: number; founding: Digest | null }>({
    text: `SELECT id, ${FOUNDING} FROM keyturn.tenant WHERE name = $1`,
    values: [name],
  });
  return rows[0] ? { name, ...rows[0] } : null;
}

export async function readRow<N extends RowName>(
  db: Connection,
  tenant: Tenant,
  name: N,
  key: string,
): Promise<States[N] | null> {
  const [text] = await readRowTexts(db, tenant, [[name, key]]);
  return text ? stateOf<N>(text) : null;
}

const ROW = 'SELECT state FROM keyturn.projection WHERE tenant = $1 AND name = $2 AND key = $3';

/** Each row is looked up by itself, as in `load`. */
const ROWS = `SELECT found.state FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS wanted (name, key, place)
  LEFT JOIN LATERAL (
    SELECT state FROM keyturn.projection p
    WHERE p.tenant = $1 AND p.name = wanted.name AND p.key = wanted.key LIMIT 1
  ) AS found ON true ORDER BY wanted.place`;

/** The state of each row as its text; null for one that is not there. */
export async function readRowTexts(
  db: Connection,
  tenant: Tenant,
  refs: readonly RowRef[],
): Promise<(string | null)[]> {
  const storable = refs.filter(([, key]) => isStorable(key));
  const names = storable.map(([name]) => name);
  const keys = storable.map(([, key]) => key);
  const asked =
    storable.length > 1
      ? { name: 'rows', text: ROWS, values: [tenant.id, arrayOf('text', names), arrayOf('text', keys)] }
      : { name: 'row', text: ROW, values: [tenant.id, ...names, ...keys] };
  const { rows } = storable.length > 0 ? await db.ask<{ state: string | null }>(asked) : { rows: [] };
  let place = 0;
  return refs.map(([, key]) => (isStorable(key) ? (rows[place++]?.state ?? null) : null));
}

/**
 * All rows of a kind that has few, oldest first. The kind is part of the text: a server that plans for any kind expects as
 * many rows as there are intents, and reads the whole table.
 */
export async function readAll<N extends ListedRow>(
  db: Connection,
  tenant: Tenant,
  name: N,
): Promise<States[N][]> {
  const { rows } = await db.ask<{ state: string }>({
    name: `all ${name}`,
    text: `SELECT state FROM keyturn.projection WHERE tenant = $1 AND name = '${name}' ORDER BY seq`,
    values: [tenant.id],
  });
  return rows.map(({ state }) => stateOf<N>(state));
}

export async function readKeys(
  db: Connection,
  tenant: Tenant,
  { name, beginning, limit }: { readonly name: RowName; readonly beginning: string; readonly limit: number },
): Promise<string[]> {
  if (!isStorable(beginning)) return [];
  const { rows } = await db.ask<{ key: string }>({
    name: 'keys',
    text: `SELECT key FROM keyturn.projection
      WHERE tenant = $1 AND name = $2 AND key >= $3 AND key < $4 ORDER BY key LIMIT $5`,
    values: [tenant.id, name, beginning, endOf(beginning), limit],
  });
  return rows.map(({ key }) => key);
}

/** Of each value no more rows are read than one page has, in the order of the index. */
export async function readPage<N extends Paged>(
  db: Connection,
  tenant: Tenant,
  name: N,
  page: Page,
): Promise<PagedRow<N>[]> {
  const { column, values, limit, newest_first = false } = requirePage(name, page);
  const beyond = page.beyond ?? (newest_first ? Number.MAX_SAFE_INTEGER : -1);
  const storable = values.filter(isStorable);
  if (storable.length === 0) return [];
  const order = `ORDER BY seq ${newest_first ? 'DESC' : ''} LIMIT $3`;
  const one = (_: string, i: number) => `(SELECT seq, state FROM keyturn.projection
      WHERE tenant = $1 AND name = '${name}' AND seq ${newest_first ? '<' : '>'} $2 AND ${column} = $${i + 4} ${order})`;
  const { rows } = await db.ask<{ seq: number; state: string }>({
    name: `page ${name} ${newest_first ? 'newest' : 'oldest'} ${column} ${storable.length}`,
    text: `SELECT seq, state FROM (${storable.map(one).join(' UNION ALL ')}) AS found ${order}`,
    values: [tenant.id, beyond, limit, ...storable],
  });
  return rows.map(({ seq, state }) => ({ seq, state: stateOf<N>(state) }));
}

export async function readEntries(db: Connection, tenant: Tenant, from: number): Promise<SealedEntry[]> {
  const { rows } = await db.ask<{ seq: number; hash: Digest; bytes: Uint8Array }>({
    name: 'entries',
    text: 'SELECT seq, hash, bytes FROM keyturn.entry WHERE tenant = $1 AND seq >= $2 ORDER BY seq LIMIT $3',
    values: [tenant.id, from, limits.read_batch],
  });
  return rows;
}

export async function readEntriesAt(
  db: Connection,
  tenant: Tenant,
  seqs: readonly number[],
): Promise<(SealedEntry | null)[]> {
  const { rows } = await db.ask<SealedEntry & { [column: string]: unknown }>({
    name: 'entries at',
    text: 'SELECT seq, hash, bytes FROM keyturn.entry WHERE tenant = $1 AND seq = ANY ($2::bigint[])',
    values: [tenant.id, arrayOf('bigint', seqs)],
  });
  const found = new Map(rows.map((row) => [row.seq, row]));
  return seqs.map((seq) => found.get(seq) ?? null);
}

export async function readEntriesOf(db: Connection, tenant: Tenant, subject: string): Promise<SealedEntry[]> {
  if (!isStorable(subject)) return [];
  const { rows } = await db.ask<{ seq: number; hash: Digest; bytes: Uint8Array }>({
    name: 'entries of',
    text: 'SELECT seq, hash, bytes FROM keyturn.entry WHERE tenant = $1 AND subject = $2 ORDER BY seq',
    values: [tenant.id, subject],
  });
  return rows;
}

const PAGE = 'tenant = $1 AND seq < $2 ORDER BY seq DESC';

/** Written so that only the index of that column gives this order: for a rare value the server would read the whole ledger backwards. */
const pageBy = (column: string) => `${column} IS NOT NULL
  AND (tenant, ${column}, seq) < ($1, $4, $2) AND (tenant, ${column}, seq) >= ($1, $4, 0)
  ORDER BY tenant DESC, ${column} DESC, seq DESC`;

export async function readEntryPage(db: Connection, tenant: Tenant, page: EntryPage): Promise<SealedEntry[]> {
  const { by, limit, beyond = Number.MAX_SAFE_INTEGER } = requireEntryPage(page);
  if (by && !isStorable(by[1])) return [];
  const { rows } = await db.ask<{ seq: number; hash: Digest; bytes: Uint8Array }>({
    name: `entry page ${by?.[0] ?? ''}`,
    text: `SELECT seq, hash, bytes FROM keyturn.entry WHERE ${by ? pageBy(by[0]) : PAGE} LIMIT $3`,
    values: [tenant.id, beyond, limit, ...(by ? [by[1]] : [])],
  });
  return rows;
}

export async function readObjects(db: Connection, tenant: Tenant, after: Digest): Promise<HeldObject[]> {
  const { rows } = await db.ask<{ digest: Digest; bytes: number }>({
    name: 'held objects',
    text: `SELECT digest, octet_length(bytes) AS bytes FROM keyturn.object
      WHERE tenant = $1 AND digest > $2 ORDER BY digest LIMIT $3`,
    values: [tenant.id, after, limits.read_batch],
  });
  return rows.map(({ digest, bytes }) => ({ digest, bytes }));
}

export async function readObjectsLike(
  db: Connection,
  tenant: Tenant,
  beginning: string,
  limit: number,
): Promise<HeldObject[]> {
  if (!isStorable(beginning)) return [];
  const { rows } = await db.ask<{ digest: Digest; bytes: number }>({
    name: 'objects like',
    text: `SELECT digest, octet_length(bytes) AS bytes FROM keyturn.object
      WHERE tenant = $1 AND digest >= $2 AND digest < $3 ORDER BY digest LIMIT $4`,
    values: [tenant.id, beginning, endOf(beginning), limit],
  });
  return rows.map(({ digest, bytes }) => ({ digest, bytes }));
}

/** The bytes of each object as they are stored; null for one that is not there. */
export async function readObjectBytes(
  db: Connection,
  tenant: Tenant,
  digests: readonly Digest[],
): Promise<(Uint8Array | null)[]> {
  const { rows } = await db.ask<{ digest: Digest; bytes: Uint8Array }>({
    name: 'objects at',
    text: 'SELECT digest, bytes FROM keyturn.object WHERE tenant = $1 AND digest = ANY ($2::text[])',
    values: [tenant.id, arrayOf('text', digests)],
  });
  const found = new Map(rows.map(({ digest, bytes }) => [digest, bytes]));
  return digests.map((digest) => found.get(digest) ?? null);
}

/** Says why an object is absent, or that what is stored is not it. */
export async function refuseObject(
  db: Connection,
  tenant: Tenant,
  digest: Digest,
  bytes: Uint8Array | null,
): Promise<never> {
  if (bytes === null) refuseAbsent(digest, await readEntriesOf(db, tenant, digest));
  return refuse('OBJECT_CORRUPT', undefined, { digest });
}
