import { Aside } from '../effect/aside.ts';
import type { Rebuild } from '../store/store.ts';

/** Which ledger in which file. */
export interface StoreFile {
  readonly path: string;
  readonly tenant: string;
}

/**
 * Folds a ledger and compares it with its rows. It is one read of the store, and takes as long as the ledger is long. A server is asked batch by
 * batch; a file is read by a process of its own where a service runs, which answers all others meanwhile.
 */
export class StoreAside {
  readonly #file: StoreFile | null;
  readonly #here: () => Promise<Rebuild>;
  #aside: Aside<StoreFile, Rebuild> | null = null;

  /** The file is null where the store is a server. */
  constructor(file: StoreFile | null, here: () => Promise<Rebuild>) {
    this.#file = file;
    this.#here = here;
  }

  /** From here on this process answers callers who do not wait for each other. */
  serve(): void {
    this.#aside ??= new Aside({
      program: [import.meta.url, 'store-process.ts', 'store-aside.js'],
      limit_ms: null,
      ended: () => new Error('The process that compares the store ended.'),
      here: this.#here,
      stays: false,
    });
  }

  compare(): Promise<Rebuild> {
    return this.#file !== null && this.#aside !== null ? this.#aside.run(this.#file) : this.#here();
  }

  close(): void {
    this.#aside?.close();
    this.#aside = null;
  }
}
