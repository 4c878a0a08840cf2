import type { Digest } from '../../canonical/digest.ts';
import { canonicalText } from '../../canonical/json.ts';
import { type CheckedCommit, type Plan, planCommit } from '../plan.ts';
import { type Row, statusOf } from '../projection.ts';
import type { Receipt, Tip } from '../store.ts';
import type { Database } from './database.ts';
import { isSqliteError } from './failure.ts';
import type { Outcome } from './group.ts';
import { claimKey, entryKey, type LookupKey, rowKey } from './lookup.ts';
import { ledgerOf, readTip, type Tenant } from './rows.ts';
import { idOf } from './schema.ts';

/**
 * Commits a batch in one transaction with one sync. Each commit is decided before any of it is written, so a refused
 * one leaves no trace and its neighbours go on. When writing itself fails, this throws and nobody is told yes.
 */
export function writeBatch(
  db: Database,
  tenant: Tenant,
  clock: () => Date,
  batch: readonly CheckedCommit[],
): Outcome<Receipt>[] {
  return db.transaction('write', () => {
    const ledger = ledgerOf(db, tenant);
    const before = readTip(db, tenant);
    let tip = before;
    const outcomes = batch.map((commit): Outcome<Receipt> => {
      const plan = attempt(() => planCommit(tenant.name, commit, tip, clock().toISOString(), ledger));
      if ('error' in plan) return plan;
      writePlan(db, tenant, plan);
      tip = plan.tip;
      return { answer: { entries: plan.entries.map(({ seq, bytes, hash }) => ({ seq, bytes, hash })) } };
    });
    if (tip !== before) writeTip(db, tenant, tip);
    return outcomes;
  });
}

/** A failure to read is everybody's; anything else is a no to this one commit. */
function attempt(plan: () => Plan): Plan | { readonly error: unknown } {
  try {
    return plan();
  } catch (error) {
    if (isSqliteError(error)) throw error;
    return { error };
  }
}

function writePlan(db: Database, tenant: Tenant, { commit, first_seq, entries, rows }: Plan): void {
  for (const claim of commit.claims) writeLookup(db, tenant, claimKey(claim), first_seq);
  for (const { seq, hash, subject, bytes } of entries) {
    db.sql('INSERT INTO entry (id, hash, bytes) VALUES (?, ?, ?)').run(idOf(tenant.id, seq), hash, bytes);
    writeLookup(db, tenant, entryKey(subject, seq), seq);
  }
  for (const row of rows) {
    if (row.seq < first_seq) updateRow(db, tenant, row);
    else insertRow(db, tenant, row);
  }
  for (const { digest, bytes } of commit.objects) writeObject(db, tenant, digest, bytes);
  for (const digest of commit.erase)
    db.sql('DELETE FROM object WHERE tenant = ? AND digest = ?').run(tenant.id, digest);
}

/** The key is unique: of two processes that take one claim, one fails here even if all else were wrong. */
export function writeLookup(db: Database, tenant: Tenant, [near, kind, key]: LookupKey, seq: number): void {
  db.sql('INSERT INTO lookup (tenant, near, kind, key, seq) VALUES (?, ?, ?, ?, ?)').run(
    tenant.id,
    near,
    kind,
    key,
    seq,
  );
}

export function insertRow(db: Database, tenant: Tenant, row: Row): void {
  db.sql('INSERT INTO projection (id, tenant, name, key, status, state) VALUES (?, ?, ?, ?, ?, ?)').run(
    idOf(tenant.id, row.seq),
    tenant.id,
    row.name,
    row.key,
    statusOf(row),
    canonicalText(row.state),
  );
  writeLookup(db, tenant, rowKey(row.name, row.key), row.seq);
}

export function updateRow(db: Database, tenant: Tenant, row: Row): void {
  db.sql('UPDATE projection SET status = ?, state = ? WHERE id = ?').run(
    statusOf(row),
    canonicalText(row.state),
    idOf(tenant.id, row.seq),
  );
}

function writeObject(db: Database, tenant: Tenant, digest: Digest, bytes: Uint8Array): void {
  db.sql('INSERT INTO object (tenant, digest, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING').run(
    tenant.id,
    digest,
    bytes,
  );
}

export function writeTip(db: Database, tenant: Tenant, { size, last, at, frontier }: Tip): void {
  db.sql('UPDATE tenant SET size = ?, last = ?, at = ?, frontier = ? WHERE id = ?').run(
    size,
    last,
    at,
    frontier.join(''),
    tenant.id,
  );
}

/** How long an erasure waits for readers before it leaves the rest to the next checkpoint. */
const ERASE_WAIT_ms = 1000;

/**
 * The erased bytes are zeroed in the database, but the WAL may still hold an older copy of their pages. This moves the
 * WAL into the database and cuts it off. The commit is durable already, so a reader in the way is no reason to fail.
 */
export function forgetErased(db: Database): void {
  try {
    db.exec(`PRAGMA busy_timeout = ${ERASE_WAIT_ms}`);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (!isSqliteError(error)) throw error;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${db.busy_ms}`);
  }
}
