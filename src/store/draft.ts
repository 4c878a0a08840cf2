import { LedgerOverlay } from '../fold/ledger.ts';
import type { AgentRow } from './agent-tables.ts';
import {
  type CheckedCommit,
  type Claim,
  decideCommit,
  type EntryToWrite,
  type RowToWrite,
  refuseTaken,
  type StoredLedger,
} from './decide.ts';
import type { BatchAnswer } from './group.ts';
import { NotLoaded } from './loaded-rows.ts';
import type { Receipt, Tip } from './store.ts';

/** All that one batch writes, decided and not yet written. */
export interface BatchDraft {
  readonly outcomes: readonly BatchAnswer<Receipt>[];
  readonly before: Tip;
  readonly after: Tip;
  readonly entries: readonly EntryToWrite[];
  readonly claims: readonly Claim[];
  /** Each row once, as it is after the batch. */
  readonly rows: readonly RowToWrite[];
  readonly agent_rows: readonly AgentRow[];
  readonly commits: readonly CheckedCommit[];
}

/** A ledger with commits laid over it that are decided and not written. */
export function overlayOf(base: StoredLedger): LedgerOverlay & StoredLedger {
  return Object.assign(new LedgerOverlay(base), { holdsObject: base.holdsObject });
}

/**
 * Decides the commits of a batch one after the other, each on what the ones before it leave behind. A refused one
 * leaves nothing. Pure: it may be done again on other grounds.
 */
export function draftBatch(
  tenant: string,
  batch: readonly CheckedCommit[],
  before: Tip,
  at: string,
  base: StoredLedger,
): BatchDraft {
  const ledger = overlayOf(base);
  const rows = new Map<string, RowToWrite>();
  const entries: EntryToWrite[] = [];
  const agent_rows: AgentRow[] = [];
  const commits: CheckedCommit[] = [];
  let after = before;
  const outcomes = batch.map((commit): BatchAnswer<Receipt> => {
    const decision = attempt(() => {
      const decided = decideCommit(tenant, commit, after, at, ledger);
      refuseTaken(commit, ledger);
      return decided;
    });
    if ('error' in decision) return decision;
    for (const [claim, seq] of decision.claims) ledger.taken.set(claim, seq);
    for (const row of decision.rows) {
      ledger.put(row.row);
      rows.set(`${row.row.name} ${row.row.key}`, row);
    }
    entries.push(...decision.entries);
    agent_rows.push(...decision.agent_rows);
    commits.push(commit);
    after = decision.tip;
    return { answer: decision.receipt };
  });
  return {
    outcomes,
    before,
    after,
    entries,
    claims: [...ledger.taken],
    rows: [...rows.values()],
    agent_rows,
    commits,
  };
}

/** A refusal ends this one commit. NotLoaded concerns the whole batch, which is then drafted again. */
function attempt<T>(act: () => T): T | { readonly error: unknown } {
  try {
    return act();
  } catch (error) {
    if (error instanceof NotLoaded) throw error;
    return { error };
  }
}
