import { type RestsOn, requireSays } from '../audit/decided.ts';
import type { Decisions } from '../audit/ledger.ts';
import type { NeededDecision } from '../fold/decided.ts';
import { Refusal } from '../refusal.ts';
import { removalOf } from '../store/objects.ts';
import type { Store } from '../store/store.ts';

/** Deep verification of a store: the decisions that entries rest on are stored, and say what they must. */
export class StoredDecisions implements Decisions {
  readonly #store: Store;
  #waiting: RestsOn[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  needs(needed: NeededDecision, seq: number): void {
    this.#waiting.push({ needed, seq });
  }

  async look(): Promise<void> {
    for (const rests of this.#waiting.splice(0)) await this.#require(rests);
  }

  async #require(rests: RestsOn): Promise<void> {
    const { digest } = rests.needed;
    const bytes = await this.#store.object(digest).catch(async (error) => {
      if (!(error instanceof Refusal) || error.code !== 'OBJECT_MISSING') throw error;
      if ((await removalOf(this.#store, digest)) !== null) return null;
      throw error;
    });
    if (bytes !== null) requireSays(rests, bytes);
  }
}
