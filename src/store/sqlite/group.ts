/** What became of one request of a batch. */
export type Outcome<A> = { readonly answer: A } | { readonly error: unknown };

interface Waiting<Q, A> {
  readonly request: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

export interface Group<Q, A> {
  /** Answered when the batch that it is part of is durable. */
  ask(request: Q): Promise<A>;
  /** Writes what waits, now. */
  flush(): void;
}

/** So that one batch never holds the write lock for long. */
const BATCH = 512;

/**
 * Group commit: whatever is asked in one turn of the event loop is written in one transaction with one sync. A lone
 * request waits for the end of its own turn and for nothing else.
 */
export function groupCommit<Q, A>(write: (batch: readonly Q[]) => readonly Outcome<A>[]): Group<Q, A> {
  const waiting: Waiting<Q, A>[] = [];

  function flush(): void {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      const outcomes = written(batch.map(({ request }) => request));
      for (const [i, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[i]!;
        if ('answer' in outcome) resolve(outcome.answer);
        else reject(outcome.error);
      }
    }
  }

  function written(batch: readonly Q[]): readonly Outcome<A>[] {
    try {
      return write(batch);
    } catch (error) {
      return batch.map(() => ({ error }));
    }
  }

  function ask(request: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      if (waiting.length === 1) setImmediate(flush);
    });
  }

  return { ask, flush };
}
