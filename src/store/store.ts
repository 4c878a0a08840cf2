import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { HashedEntry } from '../fold/ledger.ts';
import { type ListedRow, type Paged, type PagedBy, PROJECTIONS } from '../fold/projection.ts';
import type { Row, RowName, States } from '../fold/row.ts';
import type { System } from '../gate/system.ts';
import type { QuotaLimit } from '../identity/quota.ts';
import type { SealedEntry } from '../ledger/entry.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Turns } from '../turns.ts';
import type { AgentCurrentRow, AgentLedgerRow } from './agent-tables.ts';

/** A stored object without its bytes. */
export interface HeldObject {
  readonly digest: Digest;
  /** How many there are. */
  readonly bytes: number;
}

/** What one commit asks for: all of it, or none. */
export interface Commit {
  /**
   * Unique keys, such as `principal:<name>`, beside those that the events take by themselves (`gate/claims.ts`). One that
   * is taken refuses the whole commit.
   */
  readonly claims?: readonly string[];
  readonly events: readonly Event[];
  /** Contents that the events name by digest. Copied at once; the caller may use its buffers again. */
  readonly objects?: readonly Uint8Array[];
  /** How many proposals one source may have. Looked at inside the transaction, so that two at once do not pass it together. */
  readonly quota?: QuotaLimit;
  /** Digests of objects to remove: exactly the subjects of the `object.erased` and `object.expired` events beside them. */
  readonly erase?: readonly Digest[];
  /** How many entries the ledger had when this was decided. DECISION_STALE when it has others by now. */
  readonly as_of?: number;
}

export interface Receipt {
  readonly entries: readonly WrittenEntry[];
}

/** An entry that was written, with what it was sealed from. */
export interface WrittenEntry extends SealedEntry, HashedEntry {}

/** Where the chain ends. `size` is also the `seq` of the next entry, `at` is the time of the newest entry, `frontier` the Merkle peaks from left to right. */
export interface Tip {
  readonly size: number;
  readonly last: Digest;
  readonly at: string | null;
  readonly frontier: readonly Digest[];
}

/** Rows of one kind in the order of the entries that brought them into being. */
export interface Page {
  /** Those that have one of these values; all of them unless told. There is an index for each column, so a page costs the same among any number of rows. */
  readonly by?: readonly [column: 'status' | keyof PagedBy, values: readonly string[]];
  readonly limit: number;
  /** Oldest first unless told. */
  readonly newest_first?: boolean;
  /** Only what came after this entry, or before it with the newest first. */
  readonly beyond?: number;
}

/** Entries, newest first. */
export interface EntryPage {
  /** All of them unless told. There is an index for each, so a page costs the same in a ledger of any length. */
  readonly by?: readonly ['subject' | 'kind' | 'signer', string];
  readonly limit: number;
  /** Only what is older than this entry. */
  readonly beyond?: number;
}

/** A row with the entry that brought it into being. */
export interface PagedRow<N extends Paged> {
  readonly seq: number;
  readonly state: States[N];
}

/** Rows of `agent_execution_ledger`, oldest first. */
export interface AgentPage {
  readonly correlation_id?: string;
  readonly plan_id?: string;
  /** At this time or later. */
  readonly since?: string;
  readonly newest_first?: boolean;
  readonly limit: number;
  /** Continue after this row, in the same order. */
  readonly after?: Pick<AgentLedgerRow, 'created_at' | 'seq' | 'part'>;
}

/** The contents of another store. */
export interface Moved {
  readonly entries?: readonly SealedEntry[];
  readonly objects?: readonly Uint8Array[];
}

/** The outcome of folding the ledger again and comparing it with what is stored. */
export interface Rebuild {
  readonly entries: number;
  readonly rows: number;
  /** The first few rows that differ, as `name key`. */
  readonly differences: readonly string[];
}

/** What an executor said of itself last. It is not signed, and nothing is decided by it. */
export interface Beat {
  /** Its public key. */
  readonly executor: string;
  /** Since when the process runs that said it. */
  readonly since: string;
  readonly at: string;
  /** It said so a moment ago, and has not stopped since. */
  readonly is_running: boolean;
}

/** Where executors say that they run: beside the ledger, of which it is no part. */
export interface Beats {
  /** `instance` tells one process from the next one with the same key. */
  beat(said: {
    readonly executor: string;
    readonly instance: string;
    readonly is_running: boolean;
  }): Promise<void>;
  heard(): Promise<readonly Beat[]>;
}

/** What was used once, and must not be again for as long as it would be taken. No part of the ledger. */
export interface Nonces {
  /** False where it was used before. `until` is when it is refused for its age. */
  take(nonce: Digest, until: Date, now: Date): Promise<boolean>;
}

/**
 * What the services of one ledger remember together, until its time is over. No part of the ledger, and not signed: no human act rests on it.
 * `kind` parts one use from another.
 */
export interface ServiceState {
  /** Null where there is none, and where its time is over. */
  get(kind: string, key: string): Promise<string | null>;
  /** Replaces what is there. Of more than `most` of a kind the oldest go. */
  put(kind: string, row: StateRow, most: number): Promise<void>;
  /** Replaces this value, for the time that it has left. False where it is another one by now, or none. */
  swap(kind: string, key: string, values: { readonly from: string; readonly to: string }): Promise<boolean>;
  /** Removes it, and answers what it was: of several callers, one gets it. */
  take(kind: string, key: string): Promise<string | null>;
  /** The oldest first; those whose key begins so, all of a kind unless told. */
  list(kind: string, beginning?: string): Promise<readonly Omit<StateRow, 'ttl_ms'>[]>;
  /** For this holder, for so long from now on. False while another one has it. */
  lease(kind: string, key: string, holder: string, ttl_ms: number): Promise<boolean>;
}

export interface StateRow {
  readonly key: string;
  readonly value: string;
  readonly ttl_ms: number;
}

export type RowRef<N extends RowName = RowName> = readonly [name: N, key: string];

/** What a decision wants to look at, besides what is always loaded. */
export interface Wanted {
  readonly rows: ReadonlyMap<string, RowRef>;
  readonly claims: readonly string[];
  readonly objects: readonly Digest[];
}

/** What was found of it. */
export interface FoundRows {
  readonly rows: readonly Row[];
  readonly claims: ReadonlySet<string>;
  readonly objects: ReadonlySet<Digest>;
}

/** What is told of a ledger that grew. */
export interface Grown {
  /** False where what was written ends no run (`mayEndRuns` in `gate/execution.ts`). */
  readonly may_end_runs: boolean;
}

/**
 * What survives a crash. One verb writes, and it returns only when everything is durable.
 *
 * `commit` runs in one transaction: it takes every claim or refuses with CLAIM_TAKEN, folds each event through the
 * pure state machines (`next`, `nextPrincipal`, …) or refuses with their code, verifies every signature and that its
 * key may sign, looks again at what a grant and a claim rest on (grounds.ts), asks for the decision that an event names
 * among its objects (decided.ts), appends the entries, and updates the
 * projections. Only the first key of a ledger signs for itself, and the last human cannot be revoked (LAST_HUMAN).
 *
 * Commits that are asked for in one turn of the event loop share one sync; a refused one does not touch the others. A
 * commit that fails for any other reason than a refusal of its own is not acknowledged, but what it wrote may be found
 * after a restart. After that the store refuses to write (WRITE_FAILED) until it is opened again.
 */
export interface Store {
  readonly tenant: string;

  /** The ledger that signatures are verified for, from the first commit on. */
  origin(): string | null;

  commit(commit: Commit): Promise<Receipt>;

  /** One row of a projection; null where there is none. */
  find<N extends RowName>(name: N, key: string): Promise<States[N] | null>;
  /** All rows of a projection that has few, oldest first. */
  all<N extends ListedRow>(name: N): Promise<States[N][]>;
  /** The keys of a projection that begin with this text, in their order, at most `limit` of them. */
  keys(name: RowName, beginning: string, limit: number): Promise<string[]>;
  page<N extends Paged>(name: N, page: Page): Promise<PagedRow<N>[]>;
  agentLedger(page: AgentPage): Promise<AgentLedgerRow[]>;
  /** The plans and steps of a correlation, or one plan with its steps. */
  agentCurrent(
    of: { readonly correlation_id: string } | { readonly plan_id: string },
  ): Promise<AgentCurrentRow[]>;
  /** STORE_CORRUPT when the ledger has not begun. */
  system(): Promise<System>;
  /** The bytes, checked against their digest; OBJECT_MISSING when removed or lost, OBJECT_CORRUPT when not the same. */
  object(digest: Digest): Promise<Uint8Array>;
  /** The stored objects whose digest begins with this text, in their order, at most `limit` of them. */
  objectsLike(beginning: string, limit: number): Promise<HeldObject[]>;
  /** All stored objects, in the order of their digests, in batches. */
  objects(): AsyncIterable<readonly HeldObject[]>;

  tip(): Promise<Tip>;
  /** What a decision would look at now, beside the rows that it always looks at: they are in the answer, too. */
  look(wanted: Wanted): Promise<FoundRows>;
  /** One entry; null where there is none. */
  entry(seq: number): Promise<SealedEntry | null>;
  /** All entries from `from` on, in order, in batches: constant memory over any length. */
  entries(from?: number): AsyncIterable<readonly SealedEntry[]>;
  entriesOf(subject: string): Promise<SealedEntry[]>;
  entryPage(page: EntryPage): Promise<SealedEntry[]>;

  /**
   * Takes over what another store holds, for a ledger that moves to another store: entries behind the ones that are here, with their
   * own times and claims, and objects. All of it or nothing. Every entry is checked and folded as `commit` would, an
   * erasure erases and an expiry removes; LEDGER_FORKED when the entries do not follow those that are here, LEDGER_BROKEN when one is wrong.
   * Objects beside entries hold every decision and token that these rest on; entries without objects are held against theirs by a rebuild.
   */
  adopt(moved: Moved): Promise<void>;

  /**
   * Folds the ledger from its start and compares projections and claims byte for byte; with `write`, replaces them.
   * LEDGER_BROKEN when an entry is not one that `commit` could have written, with the decision or the token that it names as it is stored.
   */
  rebuild(options: { write: boolean }): Promise<Rebuild>;
  /**
   * Calls the listener soon after the ledger grew, in this or another process. A hint that can be late or missing: look now and then
   * all the same. Resolves to what stops it. Absent where a store has no such word from others.
   */
  changes?(listener: (grown: Grown) => void): Promise<() => Promise<void>>;
  /** Absent where all executors of a store are on its host. */
  readonly beats?: Beats;
  /** Absent where all services of a store are one. */
  readonly nonces?: Nonces;
  /** Another number whenever a process wrote something since. Absent where that is known only by a question over the network. */
  readonly written?: () => number;
  /** Absent where all services of a store are one. */
  readonly service_state?: ServiceState;
  close(): Promise<void>;
}

/** All entries from `from` on, read batch by batch, and given a few at a time: others have their turn between. */
export async function* walkEntries(
  read: (from: number) => Promise<readonly SealedEntry[]>,
  turns: Turns,
  from = 0,
): AsyncGenerator<readonly SealedEntry[]> {
  // Below zero lie the entries of another tenant.
  if (!Number.isSafeInteger(from) || from < 0) refuse('SHAPE_INVALID', 'Entries are counted from 0.');
  for (let seq = from; ; ) {
    const batch = await read(seq);
    for (let at = 0; at < batch.length; at += limits.walked_together) {
      yield batch.slice(at, at + limits.walked_together);
      const others = turns();
      if (others) await others;
    }
    // One that is not full ends with the last entry. Most readers ask for the few that are new.
    if (batch.length < limits.read_batch) return;
    seq = batch.at(-1)!.seq + 1;
  }
}

/** All objects, read batch by batch, each behind the one before it. */
export async function* walkObjects(
  read: (after: Digest) => Promise<readonly HeldObject[]>,
  turns: Turns,
): AsyncGenerator<readonly HeldObject[]> {
  for (let after = ''; ; ) {
    const batch = await read(after);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    const others = turns();
    if (others) await others;
    after = last.digest;
  }
}

/** Where keys end that begin with this text. */
export function endOf(beginning: string): string {
  return `${beginning}\u{10ffff}`;
}

/** A page as a store reads it: rows of which column, with which values. Every row has a status, so all of them are those with any. */
export interface ReadPage extends Page {
  readonly column: 'status' | keyof PagedBy;
  readonly values: readonly string[];
}

export function requireEntryPage<P extends Page | EntryPage>(page: P): P {
  const { limit, beyond } = page;
  // SQLite takes a negative limit for none.
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('SHAPE_INVALID', 'The limit of a page is 1 or more.');
  if (beyond !== undefined && !Number.isSafeInteger(beyond))
    refuse('SHAPE_INVALID', 'A page goes on beyond the number of an entry.');
  return page;
}

export function requirePage(name: Paged, page: Page): ReadPage {
  requireEntryPage(page);
  const [column, values] = page.by ?? ['status', PROJECTIONS[name].statuses!];
  // Each value is a part of the statement that reads them.
  if (values.length > limits.page_values)
    refuse('SHAPE_INVALID', `A page is of ${limits.page_values} values at most.`);
  return { ...page, column, values };
}
