import { isBusy } from './failure.ts';

/** What became of one request of a batch. */
export type Outcome<A> = { readonly answer: A } | { readonly error: unknown };

interface Waiting<Q, A> {
  readonly request: Q;
  /** When it is no longer worth waiting for another writer. */
  readonly until_ms: number;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

export interface Group<Q, A> {
  /** Answered when the batch that it is part of is durable. */
  ask(request: Q): Promise<A>;
  /** Writes what waits, now, and waits for another writer if need be. */
  flush(): void;
}

/** So that one batch never holds the write lock for long. */
const BATCH = 512;

/** Between two attempts while another process writes. Random, so that two that lost together do not meet again. */
const PAUSE_ms = 10;

/**
 * Group commit: whatever is asked in one turn of the event loop is written in one transaction with one sync. A lone
 * request waits for the end of its own turn and for nothing else. While another process writes, this one goes on: what is asked
 * meanwhile joins the batch.
 */
export function groupCommit<Q, A>(
  write: (batch: readonly Q[], patient: boolean) => readonly Outcome<A>[],
  busy_ms: number,
): Group<Q, A> {
  const waiting: Waiting<Q, A>[] = [];
  let due = false;

  function flush(): void {
    while (waiting.length > 0) settle(waiting.splice(0, BATCH), true);
  }

  function turn(): void {
    due = false;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      try {
        settle(batch, false);
      } catch (error) {
        putBack(batch, error);
        return;
      }
    }
  }

  /** Answers the batch. Only that another writer is at work is thrown, and only to a caller that is not `patient`. */
  function settle(batch: readonly Waiting<Q, A>[], patient: boolean): void {
    const outcomes = written(batch, patient);
    for (const [i, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[i]!;
      if ('answer' in outcome) resolve(outcome.answer);
      else reject(outcome.error);
    }
  }

  function written(batch: readonly Waiting<Q, A>[], patient: boolean): readonly Outcome<A>[] {
    const requests = batch.map(({ request }) => request);
    try {
      return write(requests, patient);
    } catch (error) {
      if (!patient && isBusy(error)) throw error;
      return batch.map(() => ({ error }));
    }
  }

  function putBack(batch: readonly Waiting<Q, A>[], error: unknown): void {
    const now_ms = performance.now();
    for (const { until_ms, reject } of batch) if (until_ms <= now_ms) reject(error);
    waiting.unshift(...batch.filter(({ until_ms }) => until_ms > now_ms));
    if (waiting.length === 0) return;
    due = true;
    setTimeout(turn, 1 + Math.random() * PAUSE_ms);
  }

  function ask(request: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      waiting.push({ request, until_ms: performance.now() + busy_ms, resolve, reject });
      if (due) return;
      due = true;
      setImmediate(turn);
    });
  }

  return { ask, flush };
}
