import { asEntry, type RestsOn, requireSays } from '../audit/decided.ts';
import type { Decisions } from '../audit/ledger.ts';
import type { NeededDecision } from '../fold/decided.ts';
import type { IssuedToken } from '../fold/issued.ts';
import type { Store } from '../store/store.ts';
import { objectUnlessRemoved, requireIssuedToken } from './issued-token.ts';

/** Deep verification of a store: the decisions and tokens that entries name are stored, and say what they must. */
export class StoredDecisions implements Decisions {
  readonly #store: Store;
  #waiting: RestsOn[] = [];
  #issued: { readonly token: IssuedToken; readonly seq: number }[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  needs(needed: NeededDecision, seq: number): void {
    this.#waiting.push({ needed, seq });
  }

  issues(token: IssuedToken, seq: number): void {
    this.#issued.push({ token, seq });
  }

  async look(): Promise<void> {
    for (const rests of this.#waiting.splice(0)) {
      const bytes = await objectUnlessRemoved(this.#store, rests.needed.digest);
      if (bytes !== null) requireSays(rests, bytes);
    }
    for (const { token, seq } of this.#issued.splice(0))
      await asEntry(seq, () => requireIssuedToken(this.#store, token));
  }
}
