import type { EntryReader, VerifiedEntries } from '../fold/ledger.ts';
import { type LedgerState, type LedgerStateWith, ReadEntries, type Tellable } from '../fold/read.ts';
import type { States } from '../fold/row.ts';
import type { SealedEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import type { Store, Tip } from '../store/store.ts';
import { turnsOf } from '../turns.ts';

/**
 * The ledger of a store as this process has read it, all of it once and then what follows. The attacker can write to the database and
 * has no key. What is asked here is found by no index and in no row of the database, and an entry that was read cannot become another
 * one, nor go, without a refusal.
 */
export class ReadLedger {
  readonly #store: Store;
  readonly #read: ReadEntries;
  #refused: unknown = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, origin: string, verified: VerifiedEntries, reader?: EntryReader) {
    this.#store = store;
    this.#read = new ReadEntries(store.tenant, origin, verified, reader);
  }

  /** What holds for every intent. */
  async state(): Promise<LedgerState> {
    await this.#upToDate();
    return this.#read.state();
  }

  /** Null where no entry is about it. */
  async told<N extends Tellable>(name: N, key: string): Promise<LedgerStateWith<States[N] | null> | null> {
    await this.#upToDate();
    const brought = new Map<number, SealedEntry>();
    for (;;) {
      const missing = this.#read.missing(name, key, brought);
      if (missing.length === 0) return this.#read.tell(name, key, brought);
      for (const sealed of await Promise.all(missing.map((seq) => this.#entry(seq))))
        brought.set(sealed.seq, sealed);
    }
  }

  async #entry(seq: number): Promise<SealedEntry> {
    return (await this.#store.entry(seq)) ?? refuse('LEDGER_BROKEN', `Entry ${seq}: it is missing.`, { seq });
  }

  async #upToDate(): Promise<void> {
    const known = this.#read.size;
    const tip = await this.#store.tip();
    if (tip.size < known)
      refuse('LEDGER_TRUNCATED', `The ledger has ${tip.size} entries, and this process has read ${known}.`);
    // One after another: what one caller reads, the next one need not.
    const mine = this.#turn.then(() => this.#follow(tip));
    this.#turn = mine.catch(() => undefined);
    await mine;
    if (this.#read.hash(tip.size - 1) !== tip.last)
      refuse('LEDGER_FORKED', `The first ${tip.size} entries are not those that this process has read.`);
  }

  async #follow({ size }: Tip): Promise<void> {
    if (this.#refused !== null) throw this.#refused;
    if (this.#read.size >= size) return;
    const turns = turnsOf();
    for await (const batch of this.#store.entries(this.#read.size)) {
      for (const sealed of batch) {
        // What is stored past the end is no part of the ledger.
        if (this.#read.size === size) return;
        const others = turns();
        if (others) await others;
        this.#append(sealed);
      }
    }
    if (this.#read.size < size)
      refuse('LEDGER_BROKEN', `Entry ${this.#read.size}: it is missing.`, { seq: this.#read.size });
  }

  /** A ledger that went another way once is refused for as long as this process has it open. */
  #append(sealed: SealedEntry): void {
    try {
      this.#read.append(sealed);
    } catch (error) {
      this.#refused = error;
      throw error;
    }
  }
}
