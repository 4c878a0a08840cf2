import { answerAll, type BatchAnswer, type CommitCaller } from '../batch.ts';

interface Waiting<Q, A> extends CommitCaller<A> {
  readonly request: Q;
}

export interface Group<Q, A> {
  /** Answered when the batch that it is part of is durable. */
  ask(request: Q): Promise<A>;
  /** When everything that was asked until now is answered. */
  idle(): Promise<void>;
}

/**
 * Group commit over a network: while one batch is under way, the next one gathers. A lone request waits for the end of
 * its own turn of the event loop and for nothing else. `cut` says how many of those that wait make one batch. A write that had to wait
 * for its turn itself takes in by `join` what was asked meanwhile: it has an answer for each that it was given, in their order.
 */
export function groupCommit<Q, A>(
  write: (batch: readonly Q[], join: () => readonly Q[]) => Promise<readonly BatchAnswer<A>[]>,
  cut: (waiting: readonly Q[]) => number,
): Group<Q, A> {
  const waiting: Waiting<Q, A>[] = [];
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await new Promise((turn) => setImmediate(turn));
    while (waiting.length > 0) {
      const batch: Waiting<Q, A>[] = [];
      grow(batch);
      answerAll(batch, await written(batch));
      // Callers that waited for these answers can ask again before the next batch is cut.
      await new Promise((turn) => setImmediate(turn));
    }
    running = null;
  }

  /** Takes as many of those that wait as fit, and says which. */
  function grow(batch: Waiting<Q, A>[]): readonly Q[] {
    const fit = cut(requestsOf([...batch, ...waiting]));
    const joined = waiting.splice(0, Math.max(0, fit - batch.length));
    batch.push(...joined);
    return requestsOf(joined);
  }

  const requestsOf = (some: readonly Waiting<Q, A>[]) => some.map(({ request }) => request);

  async function written(batch: Waiting<Q, A>[]): Promise<readonly BatchAnswer<A>[]> {
    try {
      return await write(requestsOf(batch), () => grow(batch));
    } catch (error) {
      return batch.map(() => ({ error }));
    }
  }

  function ask(request: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      running ??= run();
    });
  }

  return {
    ask,
    idle: async () => {
      while (running) await running;
    },
  };
}
