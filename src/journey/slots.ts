import { refuse } from '../refusal.ts';

/** How many runs of an executor go on at once. What only waits for another plan takes none. */
export class Slots {
  readonly #signal: AbortSignal;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** From the signal on none is given any more. */
  constructor(most: number, signal: AbortSignal) {
    this.#free = most;
    this.#signal = signal;
    const endAll = () => {
      for (const end of this.#waiting.splice(0)) end();
    };
    signal.addEventListener('abort', endAll, { once: true });
  }

  get is_over(): boolean {
    return this.#signal.aborted;
  }

  /** Taken once, in the order in which they were asked for, and given back if it was taken. */
  one(): { readonly take: () => Promise<void>; readonly give: () => void } {
    let is_taken = false;
    const take = async () => {
      if (this.#free > 0) this.#free -= 1;
      else await new Promise<void>((handOver) => this.#waiting.push(handOver));
      is_taken = true;
      if (this.is_over) refuse('CONFIRMATION_DECLINED', 'The executor ends.');
    };
    const give = () => {
      if (!is_taken) return;
      is_taken = false;
      const handOver = this.#waiting.shift();
      if (handOver) handOver();
      else this.#free += 1;
    };
    return { take, give };
  }
}
