import type { Digest } from '../canonical/digest.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import { journeyLimits } from '../limits.ts';
import type { Store } from '../store/store.ts';

export interface News {
  /** Settles when an entry about it has come since; rejects when the ledger can no longer be followed. */
  readonly came: Promise<void>;
  end(): void;
}

/** What is told of new entries. Neither may throw. */
export interface Listener {
  tell(entry: Entry): void;
  /** The ledger can no longer be followed, and nothing more is told. */
  fail(error: unknown): void;
}

/** Looks for new entries once for all listeners of this process, and only while there is one. */
export class Follower {
  readonly #store: Store;
  readonly #known: (hash: Digest) => Entry | undefined;
  readonly #listeners = new Set<Listener>();
  #following: Promise<number> | null = null;
  #wake = () => {};

  /** `known` has the entries that this process wrote, which need not be parsed. */
  constructor(store: Store, known: (hash: Digest) => Entry | undefined = () => undefined) {
    this.#store = store;
    this.#known = known;
  }

  /** This process wrote something: no waiter has to wait for the next look. */
  grew(): void {
    this.#wake();
  }

  /** From now on: whatever is written after this resolves is news. */
  async about(subject: string): Promise<News> {
    let wake = () => {};
    let fail = (_: unknown) => {};
    const came = new Promise<void>((resolve, reject) => {
      wake = resolve;
      fail = reject;
    });
    came.catch(() => {}); // the caller may have found what it waits for
    const end = await this.listen({ tell: (entry) => entry.subject === subject && wake(), fail });
    return { came, end };
  }

  /** Tells every entry that is written after this resolves, until the returned function is called. */
  async listen(listener: Listener): Promise<() => void> {
    this.#listeners.add(listener);
    try {
      this.#following ??= this.#begin();
      await this.#following;
    } catch (error) {
      this.#following = null;
      this.#listeners.delete(listener);
      throw error;
    }
    return () => this.#listeners.delete(listener);
  }

  async #begin(): Promise<number> {
    const { size } = await this.#store.tip();
    void this.#follow(size);
    return size;
  }

  async #follow(from: number): Promise<void> {
    let size = from;
    const waker = wakerOf();
    this.#wake = waker.wake;
    let stop: (() => Promise<void>) | undefined;
    try {
      stop = await this.#store.changes?.(waker.wake);
      while (this.#listeners.size > 0) {
        const tip = await this.#store.tip();
        if (tip.size > size) size = await this.#tell(size);
        else await waker.wait(stop ? journeyLimits.ledger_look_told_ms : journeyLimits.ledger_look_ms);
      }
    } catch (error) {
      for (const listener of this.#listeners) listener.fail(error);
      this.#listeners.clear();
    } finally {
      this.#following = null;
      await stop?.().catch(() => {});
    }
  }

  async #tell(from: number): Promise<number> {
    let size = from;
    for await (const batch of this.#store.entries(from)) {
      for (const { bytes, hash } of batch) {
        const entry = this.#known(hash) ?? openEntry(bytes);
        for (const listener of this.#listeners) listener.tell(entry);
      }
      size = batch.at(-1)!.seq + 1;
    }
    return size;
  }
}

interface Waker {
  wake(): void;
  /** Until it is woken, the signal ends, or this much time has passed. Woken before it waits, it does not wait. */
  wait(most_ms: number): Promise<void>;
}

export function wakerOf(signal?: AbortSignal): Waker {
  let is_woken = false;
  let goOn = () => {};
  const wake = () => {
    is_woken = true;
    goOn();
  };
  signal?.addEventListener('abort', wake, { once: true });
  return {
    wake,
    wait: async (most_ms) => {
      if (!is_woken)
        await new Promise<void>((done) => {
          const timer = setTimeout(done, most_ms);
          goOn = () => {
            clearTimeout(timer);
            done();
          };
        });
      is_woken = false;
    },
  };
}
