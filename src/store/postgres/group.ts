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
 * its own turn of the event loop and for nothing else. `cut` says how many of those that wait make one batch.
 */
export function groupCommit<Q, A>(
  write: (batch: readonly Q[]) => Promise<readonly BatchAnswer<A>[]>,
  cut: (waiting: readonly Q[]) => number,
): Group<Q, A> {
  const waiting: Waiting<Q, A>[] = [];
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await new Promise((turn) => setImmediate(turn));
    while (waiting.length > 0) {
      const batch = waiting.splice(0, cut(waiting.map(({ request }) => request)));
      answerAll(batch, await written(batch.map(({ request }) => request)));
      // Callers that waited for these answers can ask again before the next batch is cut.
      await new Promise((turn) => setImmediate(turn));
    }
    running = null;
  }

  async function written(batch: readonly Q[]): Promise<readonly BatchAnswer<A>[]> {
    try {
      return await write(batch);
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
