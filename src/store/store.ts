import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { Listed } from '../fold/projection.ts';
import type { RowName, States } from '../fold/row.ts';
import type { IntentState, IntentStatus } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { QuotaLimit } from '../identity/quota.ts';
import type { SealedEntry } from '../ledger/entry.ts';
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
  readonly entries: readonly SealedEntry[];
}

/** Where the chain ends. `size` is also the `seq` of the next entry, `at` is the time of the newest entry, `frontier` the Merkle peaks from left to right. */
export interface Tip {
  readonly size: number;
  readonly last: Digest;
  readonly at: string | null;
  readonly frontier: readonly Digest[];
}

export interface Page {
  readonly status?: IntentStatus;
  readonly limit: number;
  /** Continue after this intent id. */
  readonly after?: string;
}

/** Rows of `agent_execution_ledger`, oldest first. */
export interface AgentPage {
  readonly correlation_id?: string;
  readonly plan_id?: string;
  /** At this time or later. */
  readonly since?: string;
  readonly limit: number;
  /** Continue after this row. */
  readonly after?: Pick<AgentLedgerRow, 'created_at' | 'seq' | 'part'>;
}

/** What another store hands over. */
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

/**
 * What survives a crash. One verb writes, and it returns only when everything is durable.
 *
 * `commit` runs in one transaction: it takes every claim or refuses with CLAIM_TAKEN, folds each event through the
 * pure state machines (`next`, `nextPrincipal`, …) or refuses with their code, verifies every signature and that its
 * key may sign, looks again at what a grant and a claim rest on (grounds.ts), appends the entries, and updates the
 * projections. Only the first key of a ledger signs for itself, and the last human cannot be revoked (LAST_HUMAN).
 *
 * Commits that are asked for in one turn of the event loop share one sync; a refused one does not touch the others. A
 * commit that fails for any other reason than a refusal of its own is not acknowledged, but what it wrote may be found
 * after a restart. After that the store refuses to write (WRITE_FAILED) until it is opened again.
 */
export interface Store {
  readonly tenant: string;

  commit(commit: Commit): Promise<Receipt>;

  /** One row of a projection; null where there is none. */
  find<N extends RowName>(name: N, key: string): Promise<States[N] | null>;
  /** All rows of a projection that has few, oldest first. */
  all<N extends Listed>(name: N): Promise<States[N][]>;
  /** In the order of their proposal. */
  intents(page: Page): Promise<IntentState[]>;
  agentLedger(page: AgentPage): Promise<AgentLedgerRow[]>;
  /** The plans and steps of a correlation, or one plan with its steps. */
  agentCurrent(
    of: { readonly correlation_id: string } | { readonly plan_id: string },
  ): Promise<AgentCurrentRow[]>;
  /** STORE_CORRUPT when the ledger has not begun. */
  system(): Promise<System>;
  /** The bytes, checked against their digest; OBJECT_MISSING when removed or lost, OBJECT_CORRUPT when not the same. */
  object(digest: Digest): Promise<Uint8Array>;
  /** All stored objects, in the order of their digests, in batches. */
  objects(): AsyncIterable<readonly HeldObject[]>;

  tip(): Promise<Tip>;
  /** One entry; null where there is none. */
  entry(seq: number): Promise<SealedEntry | null>;
  /** All entries from `from` on, in order, in batches: constant memory over any length. */
  entries(from?: number): AsyncIterable<readonly SealedEntry[]>;
  entriesOf(subject: string): Promise<SealedEntry[]>;

  /**
   * Takes over what another store holds, for a ledger that moves house: entries behind the ones that are here, with their
   * own times and claims, and objects. All of it or nothing. Every entry is checked and folded as `commit` would, an
   * erasure erases and an expiry removes; LEDGER_FORKED when the entries do not follow those that are here, LEDGER_BROKEN when one is wrong.
   */
  adopt(moved: Moved): Promise<void>;

  /**
   * Folds the ledger from its start and compares projections and claims byte for byte; with `write`, replaces them.
   * LEDGER_BROKEN when an entry is not one that `commit` could have written.
   */
  rebuild(options: { write: boolean }): Promise<Rebuild>;
  /**
   * Calls the listener soon after the ledger grew, whoever wrote. A hint that can be late or missing: look now and then
   * all the same. Resolves to what stops it. Absent where a store has no such word from others.
   */
  changes?(listener: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** All objects, read batch by batch, each behind the one before it. */
export async function* walkObjects(
  read: (after: Digest) => Promise<readonly HeldObject[]>,
): AsyncGenerator<readonly HeldObject[]> {
  for (let after = ''; ; ) {
    const batch = await read(after);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    after = last.digest;
  }
}
