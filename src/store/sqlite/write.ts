import { setTimeout as pause } from 'node:timers/promises';
import type { Digest } from '../../canonical/digest.ts';
import { erasedClaim } from '../../gate/claims.ts';
import { sqliteLimits } from '../../limits.ts';
import {
  type CheckedCommit,
  type CommitDecision,
  decideCommit,
  type EntriesToWrite,
  type EntryToWrite,
  type RowToWrite,
  refuseTaken,
  type StoredLedger,
} from '../decide.ts';
import type { BatchAnswer } from '../group.ts';
import type { Receipt } from '../store.ts';
import { insertAgentRows } from './agent.ts';
import type { Checkpoints } from './checkpoint.ts';
import type { Database } from './database.ts';
import { isBusy, isConstraint, isSqliteError } from './failure.ts';
import type { KnownRows } from './known.ts';
import { enterLists, moveInLists } from './lists.ts';
import { claimKey, claimLookup, entryLookup, type Lookup, rowLookup } from './lookup.ts';
import type { Tenant } from './rows.ts';
import { idOf, rowIdOf } from './schema.ts';

/**
 * While another process writes, this one goes on: what is asked meanwhile joins the batch. A batch that has waited for half of its time takes in
 * no more: those would be refused with it, soon after they asked.
 */
export function writerOf(
  db: Database,
  tenant: Tenant,
  clock: () => Date,
  known: KnownRows,
  checkpoints: Checkpoints,
) {
  return async (first: readonly CheckedCommit[], join: () => readonly CheckedCommit[]) => {
    const batch = [...first];
    for (let until_ms: number | null = null; ; ) {
      try {
        const answers = writeBatch(db, tenant, clock, known, batch);
        if (batch.some(({ erase }) => erase.length > 0)) forgetErased(db);
        checkpoints.noteCommits(batch.length);
        return answers;
      } catch (error) {
        if (!isBusy(error)) throw error;
        until_ms ??= performance.now() + db.busy_ms;
        if (performance.now() >= until_ms) throw error;
      }
      await pause(1 + Math.random() * (sqliteLimits.pause_ms - 1));
      if (performance.now() < until_ms - db.busy_ms / 2) batch.push(...join());
    }
  };
}

/**
 * Commits a batch in one transaction with one sync. Each commit is decided before any of it is written, so a refused
 * one leaves no trace and the others of the batch go on. When writing itself fails, this throws, and no commit of the batch is acknowledged.
 * Where another writer is at work it is refused.
 */
function writeBatch(
  db: Database,
  tenant: Tenant,
  clock: () => Date,
  known: KnownRows,
  batch: readonly CheckedCommit[],
): BatchAnswer<Receipt>[] {
  let is_begun = false;
  try {
    return db.write(() => {
      is_begun = true;
      let tip = known.tip();
      const listed = known.listed();
      const answers = batch.map((commit): BatchAnswer<Receipt> => {
        const at = clock().toISOString();
        const decision = attempt(() => decideCommit(tenant.name, commit, tip, at, known.ledger));
        if ('error' in decision) return decision;
        const refusal = attempt(() => takeClaims(db, tenant, decision, known.ledger));
        if (refusal) return refusal;
        writeFacts(db, tenant, decision, decision.commit, listed);
        tip = decision.tip;
        known.absorb(
          tip,
          decision.rows.map(({ row }) => row),
        );
        return { answer: decision.receipt };
      });
      known.absorbLists(enterLists(db, tenant, listed, tip.size));
      return answers;
    });
  } catch (error) {
    if (is_begun) known.forget();
    throw error;
  }
}

/** A failure of the database ends all commits of the batch; anything else ends this one commit. */
function attempt<T>(act: () => T): T | { readonly error: unknown } {
  try {
    return act();
  } catch (error) {
    if (isSqliteError(error)) throw error;
    return { error };
  }
}

/**
 * First of all writes, and one statement: it takes the claims or changes nothing. At most once is the unique key of
 * this tree and nothing else.
 */
function takeClaims(db: Database, tenant: Tenant, decision: CommitDecision, ledger: StoredLedger): void {
  const lookups = lookupsOf(decision);
  if (lookups.length > sqliteLimits.statement_rows) refuseTaken(decision.commit, ledger);
  try {
    insertLookups(db, tenant, lookups);
  } catch (error) {
    if (isConstraint(error)) refuseTaken(decision.commit, ledger);
    throw error;
  }
}

export function lookupsOf({ claims, entries, rows, first_seq }: EntriesToWrite): Lookup[] {
  const lookups = claims.map(([claim, seq]) => claimLookup(claim, seq));
  for (const { subject, seq } of entries) lookups.push(entryLookup(subject, seq));
  for (const { row } of rows) if (row.seq >= first_seq) lookups.push(rowLookup(row));
  return lookups;
}

const INSERT_LOOKUPS = Array.from(
  { length: sqliteLimits.statement_rows + 1 },
  (_, rows) =>
    `INSERT INTO lookup (tenant, near, kind, key, seq) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join()}`,
);

export function insertLookups(db: Database, tenant: Tenant, lookups: readonly Lookup[]): void {
  for (let i = 0; i < lookups.length; i += sqliteLimits.statement_rows) {
    const some = lookups.slice(i, i + sqliteLimits.statement_rows);
    const values: (string | number)[] = [];
    for (const [near, kind, key, seq] of some) values.push(tenant.id, near, kind, key, seq);
    db.sql(INSERT_LOOKUPS[some.length]!).run(...values);
  }
}

/** What entries write besides their lookups, with the objects that come and go with them. Entries before `listed` are in the lists. */
export function writeFacts(
  db: Database,
  tenant: Tenant,
  { first_seq, entries, rows, agent_rows }: EntriesToWrite,
  { objects, erase }: Pick<CheckedCommit, 'objects' | 'erase'>,
  listed: number,
): void {
  for (const entry of entries) insertEntry(db, tenant, entry);
  for (const to_write of rows) {
    if (to_write.row.seq < first_seq) updateRow(db, tenant, to_write, listed);
    else insertRow(db, tenant, to_write);
  }
  insertAgentRows(db, agent_rows);
  for (const { digest, bytes } of objects) insertObject(db, tenant, digest, bytes);
  for (const digest of erase) eraseObject(db, tenant, digest);
}

function insertEntry(db: Database, tenant: Tenant, entry: EntryToWrite): void {
  const { seq, hash, peak, at, kind, signer, bytes } = entry;
  db.sql('INSERT INTO entry (id, hash, peak, at, kind, signer, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    idOf(tenant.id, seq),
    hash,
    peak === hash ? null : peak,
    at,
    kind,
    signer,
    bytes,
  );
}

function eraseObject(db: Database, tenant: Tenant, digest: Digest): void {
  db.sql('DELETE FROM object WHERE tenant = ? AND digest = ?').run(tenant.id, digest);
}

export function insertRow(db: Database, tenant: Tenant, to_write: RowToWrite): void {
  const { row, status, tool, proposer, actor, due, text } = to_write;
  db.sql(INSERT_ROW).run(
    rowIdOf(tenant.id, row.name, row.seq),
    tenant.id,
    row.name,
    row.key,
    status,
    tool,
    proposer,
    actor,
    due,
    text,
  );
}

const INSERT_ROW =
  'INSERT INTO projection (id, tenant, name, key, status, tool, proposer, actor, due, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

/** Entries before `listed` are in the lists. */
export function updateRow(db: Database, tenant: Tenant, to_write: RowToWrite, listed: number): void {
  const { row, status, tool, due, text } = to_write;
  const id = rowIdOf(tenant.id, row.name, row.seq);
  if (status !== null && row.seq < listed) moveInLists(db, tenant, id, to_write);
  db.sql(UPDATE_ROW).run(status, tool, due, text, id);
}

const UPDATE_ROW = 'UPDATE projection SET status = ?, tool = ?, due = ?, state = ? WHERE id = ?';

/** What was erased stays erased, also when the same bytes come again. */
const INSERT_OBJECT = `
  INSERT INTO object (tenant, digest, bytes) SELECT ?, ?, ?
  WHERE NOT EXISTS (SELECT 1 FROM lookup WHERE tenant = ? AND near = ? AND kind = ? AND key = ?)
  ON CONFLICT DO NOTHING`;

function insertObject(db: Database, tenant: Tenant, digest: Digest, bytes: Uint8Array): void {
  const [near, kind, key] = claimKey(erasedClaim(digest));
  db.sql(INSERT_OBJECT).run(tenant.id, digest, bytes, tenant.id, near, kind, key);
}

/**
 * The erased bytes are zeroed in the database, but the WAL may still hold an older copy of their pages. This moves the
 * WAL into the database and cuts it off. The commit is durable already, so a reader in the way is no reason to fail.
 */
export function forgetErased(db: Database): void {
  try {
    db.exec(`PRAGMA busy_timeout = ${sqliteLimits.erase_ms}`);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (!isSqliteError(error)) throw error;
  } finally {
    db.exec('PRAGMA busy_timeout = 0');
  }
}
