import { verifiedBefore } from '../identity/verified.ts';
import { type CheckedCommit, checkCommit } from './decide.ts';
import { draftBatch, overlayOf } from './draft.ts';
import type { BatchAnswer } from './group.ts';
import { decidedOn, type LoadedRows, loadedRowsOf, wantedOf } from './loaded-rows.ts';
import type { Commit, Receipt, Store, Tip } from './store.ts';

/** What the commits leave behind, as long as the ledger ends where it did. */
interface Decided {
  readonly begun_at: Tip;
  readonly loaded: LoadedRows;
  readonly ledger: ReturnType<typeof overlayOf>;
  tip: Tip;
}

/**
 * Commits that are decided one behind the other, each once, as the store decides those that it writes; and not written. Where another process
 * wrote meanwhile, all of them are decided again, and one that is refused by then is no reason to refuse those behind it.
 */
export class Rehearsal {
  readonly #commits: CheckedCommit[] = [];
  #decided: Decided | null = null;

  /** Nothing was signed: what a signature has to prove, its place holds. One that is refused leaves nothing. */
  async add(store: Store, { as_of: _, ...commit }: Commit, at: string): Promise<void> {
    const checked = checkCommit(commit, verifiedBefore);
    const begun_at = await store.tip();
    let decided = this.#decided?.begun_at.last === begun_at.last ? this.#decided : null;
    if (decided === null) {
      decided = beginningAt(store.tenant, begun_at);
      for (const one of this.#commits) await decide(store, decided, one, at);
    }
    this.#decided = decided;
    const outcome = await decide(store, decided, checked, at);
    if ('error' in outcome) throw outcome.error;
    this.#commits.push(checked);
  }
}

function beginningAt(tenant: string, tip: Tip): Decided {
  const loaded = loadedRowsOf(tenant);
  return { begun_at: tip, loaded, ledger: overlayOf(loaded.ledger), tip };
}

async function decide(
  store: Store,
  decided: Decided,
  commit: CheckedCommit,
  at: string,
): Promise<BatchAnswer<Receipt>> {
  const { loaded, ledger } = decided;
  const wanted = wantedOf([commit]);
  loaded.learn(wanted, await store.look(wanted));
  const draft = await decidedOn(
    loaded,
    () => draftBatch(store.tenant, [commit], decided.tip, at, ledger),
    store.look,
  );
  for (const { row } of draft.rows) ledger.put(row);
  for (const [claim, seq] of draft.claims) ledger.taken.set(claim, seq);
  decided.tip = draft.after;
  return draft.outcomes[0]!;
}
