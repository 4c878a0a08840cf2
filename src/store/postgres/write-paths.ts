import { limits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { CheckedCommit, StoredLedger } from '../decide.ts';
import { type BatchDraft, draftBatch } from '../draft.ts';
import {
  areProven,
  decidedOn,
  type LoadedRows,
  loadedRowsOf,
  type MissedRows,
  NotLoaded,
  wantedOf,
} from '../loaded-rows.ts';
import type { Tip, Wanted } from '../store.ts';
import { RAN, type Ran, requireReady } from './begin.ts';
import type { Connection } from './connection.ts';
import { isNo, isTaken } from './failure.ts';
import { type End, load, loadEnd, lockEnd } from './load.ts';
import type { Tenant } from './rows.ts';
import { together } from './together.ts';
import { writeBatch } from './write.ts';

/** What this process knows of the chain: true as long as the chain still ends there. */
export interface KnownChain {
  readonly tip: Tip;
  readonly generation: number;
  readonly loaded: LoadedRows;
}

export interface BatchWritten {
  readonly draft: BatchDraft;
  readonly known: KnownChain;
}

/** The write was sent and no good answer came: it happened, it will still happen, or it never will. */
export interface Unknown {
  readonly unanswered: BatchDraft;
  readonly cause: unknown;
}

/** What is to be written: decided on rows that are held still meanwhile, perhaps more than once. */
export interface Work {
  readonly wanted: Wanted;
  /** Takes in what was asked while the lock was waited for. What that wants to look at; null where there is nothing. */
  join?(): Wanted | null;
  draft(before: Tip, at: string, base: StoredLedger): BatchDraft;
}

/** Commits, with those that join them while they wait for the lock. */
export interface GatheringWork extends Work {
  readonly batch: readonly CheckedCommit[];
}

export function workOf(
  tenant: Tenant,
  first: readonly CheckedCommit[],
  join: () => readonly CheckedCommit[],
): GatheringWork {
  const batch = [...first];
  return {
    batch,
    get wanted() {
      return wantedOf(batch);
    },
    join: () => {
      const joined = join();
      batch.push(...joined);
      return joined.length > 0 ? wantedOf(joined) : null;
    },
    draft: (before, at, base) => draftBatch(tenant.name, batch, before, at, base),
  };
}

/** Why a write that was acknowledged may be lost all the same; null when it may not. */
function doubtAfter(db: Connection, warnings: number): Refusal | null {
  if (db.warnings() === warnings) return null;
  return new Refusal('WRITE_FAILED', 'The server gave a warning beside a commit.');
}

/** Nothing was written, so there is time to ask in which session. */
async function requireOurs(db: Connection): Promise<void> {
  const { rows } = await db.ask<Ran & { [column: string]: unknown }>({ text: `SELECT ${RAN}` });
  requireReady(db.backend, rows[0]!);
}

/**
 * The time of an entry is never before that of the entry before it. So one host whose clock is ahead would make the
 * clocks of all others seem behind the ledger, and stop them.
 */
function timeOf(db: Connection, clock: () => Date): string {
  const now = clock();
  if (now.getTime() > db.serverTime_ms() + limits.clock_skew_ms) refuse('CLOCK_AHEAD');
  return now.toISOString();
}

/**
 * The optimistic path: one round trip. The batch is decided on what this process knows from its last commit, and written
 * only if no other process wrote since. What it presumes absent is proven by the unique keys of what it writes. Any doubt, and any
 * refusal, is left to the locked path: null.
 */
export async function quickly(
  db: Connection,
  tenant: Tenant,
  known: KnownChain,
  batch: readonly CheckedCommit[],
  clock: () => Date,
): Promise<BatchWritten | Unknown | null> {
  const { tip, generation, loaded } = known;
  const at = timeOf(db, clock);
  const { ledger, presumed } = loaded.presuming();
  const draft = attempted(() => draftBatch(tenant.name, batch, tip, at, ledger));
  if (draft === null || draft.commits.length < batch.length || !areProven(presumed, rowsOf(draft)))
    return null;
  const warnings = db.warnings();
  let is_written: boolean;
  try {
    is_written = await writeBatch(db, tenant, draft, generation);
  } catch (error) {
    if (isTaken(error)) return null;
    if (isNo(error)) throw error;
    return { unanswered: draft, cause: error };
  }
  if (!is_written) return null;
  const doubt = doubtAfter(db, warnings);
  return doubt ? { unanswered: draft, cause: doubt } : advanced(draft, generation, loaded);
}

function attempted(act: () => BatchDraft): BatchDraft | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof NotLoaded) return null;
    throw error;
  }
}

const rowsOf = (draft: BatchDraft) => draft.rows.map(({ row }) => row);

function advanced(draft: BatchDraft, generation: number, loaded: LoadedRows): BatchWritten {
  loaded.absorb(rowsOf(draft));
  loaded.trim();
  return { draft, known: { tip: draft.after, generation, loaded } };
}

/**
 * The locked path: two round trips. It takes the lock of the chain, reads what the batch needs, decides, writes. What
 * it refuses is refused for good. Where many processes write, most of a commit is the wait for the lock, so what was asked meanwhile is written
 * with it: one more round trip under this lock, in place of another turn behind all the others.
 */
export async function lockedly(
  db: Connection,
  tenant: Tenant,
  work: Work,
  clock: () => Date,
  missed: MissedRows,
  before: KnownChain | null,
): Promise<BatchWritten | Unknown> {
  const wanted = missed.with(work.wanted);
  let loaded: LoadedRows;
  let draft: BatchDraft;
  let generation: number;
  try {
    const [, , end, found] = await together([
      db.ask({ text: 'BEGIN' }),
      lockEnd(db, tenant),
      loadEnd(db, tenant),
      load(db, tenant, wanted),
    ]);
    // Where no one else wrote, what this process knew is still so. Without it the next batch would miss the rows of this process's other intents.
    loaded = before && isEnd(before, end) ? before.loaded : loadedRowsOf(tenant.name);
    loaded.learn(wanted, found);
    const later = work.join?.();
    if (later) loaded.learn(later, await load(db, tenant, later));
    generation = end.generation;
    const at = timeOf(db, clock);
    draft = await decidedOn(
      loaded,
      () => work.draft(end.tip, at, loaded.ledger),
      (more) => {
        missed.add(more);
        return load(db, tenant, more);
      },
    );
    if (draft.entries.length === 0) await db.ask({ text: 'ROLLBACK' });
  } catch (error) {
    if (!db.isLost()) await db.ask({ text: 'ROLLBACK' }).catch(() => undefined);
    throw error;
  }
  const unknown = draft.entries.length > 0 ? await writeAndCommit(db, tenant, draft, generation) : null;
  return unknown ?? advanced(draft, generation, loaded);
}

function isEnd({ tip, generation }: KnownChain, end: End): boolean {
  return tip.size === end.tip.size && tip.last === end.tip.last && generation === end.generation;
}

async function writeAndCommit(
  db: Connection,
  tenant: Tenant,
  draft: BatchDraft,
  generation: number,
): Promise<Unknown | null> {
  const warnings = db.warnings();
  let doubt: Refusal | null;
  try {
    const [is_written, { command }] = await together([
      writeBatch(db, tenant, draft, generation),
      db.ask({ text: 'COMMIT' }),
    ]);
    if (!is_written) await requireOurs(db);
    if (!is_written || command !== 'COMMIT')
      refuse('STORE_CORRUPT', 'The end of the chain moved under its lock.');
    doubt = doubtAfter(db, warnings);
  } catch (error) {
    if (isNo(error) || error instanceof Refusal) throw error;
    return { unanswered: draft, cause: error };
  }
  return doubt && { unanswered: draft, cause: doubt };
}
