import { type Digest, isDigest, sha256 } from '../../canonical/digest.ts';
import type { Listed } from '../../fold/projection.ts';
import type { RowName, States } from '../../fold/row.ts';
import type { IntentState } from '../../gate/state.ts';
import type { SealedEntry } from '../../ledger/entry.ts';
import { refuse } from '../../refusal.ts';
import { refuseAbsent } from '../objects.ts';
import type { HeldObject, Page } from '../store.ts';
import type { Connection } from './connection.ts';
import { isStorable, stateOf, type Tenant } from './rows.ts';

/** Entries per read. Each read is a transaction of its own, so that a slow reader never keeps the server from cleaning up. */
export const BATCH = 1000;

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
  if (!isStorable(key)) return null;
  const { rows } = await db.ask<{ state: string }>({
    name: 'row',
    text: 'SELECT state FROM keyturn.projection WHERE tenant = $1 AND name = $2 AND key = $3',
    values: [tenant.id, name, key],
  });
  return rows[0] ? stateOf<N>(rows[0].state) : null;
}

/**
 * All rows of a kind that has few, oldest first. The kind is part of the text: a server that plans for any kind expects as
 * many rows as there are intents, and reads the whole table.
 */
export async function readAll<N extends Listed>(
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

export async function readIntents(db: Connection, tenant: Tenant, page: Page): Promise<IntentState[]> {
  const { status, limit, after } = page;
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('SHAPE_INVALID', 'The limit of a page is 1 or more.');
  const from = after === undefined ? 0 : await seqAfter(db, tenant, after);
  const by_status = status === undefined ? '' : 'AND status = $4';
  const { rows } = await db.ask<{ state: string }>({
    name: `intents ${by_status}`,
    text: `SELECT state FROM keyturn.projection
      WHERE tenant = $1 AND name = 'intent' AND seq >= $2 ${by_status} ORDER BY seq LIMIT $3`,
    values: [tenant.id, from, limit, ...(status === undefined ? [] : [status])],
  });
  return rows.map(({ state }) => stateOf<'intent'>(state));
}

async function seqAfter(db: Connection, tenant: Tenant, intent_id: string): Promise<number> {
  if (!isStorable(intent_id)) refuse('INTENT_NOT_FOUND');
  const { rows } = await db.ask<{ seq: number }>({
    name: 'place',
    text: `SELECT seq FROM keyturn.projection WHERE tenant = $1 AND name = 'intent' AND key = $2`,
    values: [tenant.id, intent_id],
  });
  return (rows[0] ?? refuse('INTENT_NOT_FOUND')).seq + 1;
}

export async function readEntries(db: Connection, tenant: Tenant, from: number): Promise<SealedEntry[]> {
  const { rows } = await db.ask<{ seq: number; hash: Digest; bytes: Uint8Array }>({
    name: 'entries',
    text: 'SELECT seq, hash, bytes FROM keyturn.entry WHERE tenant = $1 AND seq >= $2 ORDER BY seq LIMIT $3',
    values: [tenant.id, from, BATCH],
  });
  return rows;
}

export async function readEntry(db: Connection, tenant: Tenant, seq: number): Promise<SealedEntry | null> {
  const { rows } = await db.ask<SealedEntry & { [column: string]: unknown }>({
    name: 'entry',
    text: 'SELECT seq, hash, bytes FROM keyturn.entry WHERE tenant = $1 AND seq = $2',
    values: [tenant.id, seq],
  });
  return rows[0] ?? null;
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

export async function readObjects(db: Connection, tenant: Tenant, after: Digest): Promise<HeldObject[]> {
  const { rows } = await db.ask<{ digest: Digest; bytes: number }>({
    name: 'held objects',
    text: `SELECT digest, octet_length(bytes) AS bytes FROM keyturn.object
      WHERE tenant = $1 AND digest > $2 ORDER BY digest LIMIT $3`,
    values: [tenant.id, after, BATCH],
  });
  return rows.map(({ digest, bytes }) => ({ digest, bytes }));
}

export async function readObject(db: Connection, tenant: Tenant, digest: Digest): Promise<Uint8Array> {
  if (!isDigest(digest)) refuse('HASH_MALFORMED');
  const { rows } = await db.ask<{ bytes: Uint8Array }>({
    name: 'object',
    text: 'SELECT bytes FROM keyturn.object WHERE tenant = $1 AND digest = $2',
    values: [tenant.id, digest],
  });
  const [found] = rows;
  if (!found) refuseAbsent(digest, await readEntriesOf(db, tenant, digest));
  if (sha256(found.bytes) !== digest) refuse('OBJECT_CORRUPT', undefined, { digest });
  return found.bytes;
}
