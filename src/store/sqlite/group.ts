import { limits } from '../../limits.ts';
import { answerAll, type BatchAnswer, type CommitCaller } from '../batch.ts';
import { isBusy } from './failure.ts';

interface Waiting<Q, A> extends CommitCaller<A> {
  readonly request: Q;
  /** When it is no longer worth waiting for another writer. */
  readonly until_ms: number;
}

export interface Group<Q, A> {
  /** Answered when the batch that it is part of is durable. */
  ask(request: Q): Promise<A>;
  /** Writes what waits, now, and waits for another writer if need be. */
  flush(): void;
}

/**
 * Between two attempts while another process writes: about as long as a commit takes. Random, so that two that lost together do not
 * meet again.
 */
const PAUSE_ms = 2;

/**
 * Group commit: whatever is asked in one turn of the event loop is written in one transaction with one sync. A lone
 * request waits for the end of its own turn and for nothing else. While another process writes, this one goes on: what is asked
 * meanwhile joins the batch.
 */
export function groupCommit<Q, A>(
  write: (batch: readonly Q[], patient: boolean) => readonly BatchAnswer<A>[],
  busy_ms: number,
): Group<Q, A> {
  const waiting: Waiting<Q, A>[] = [];
  let due = false;

  function flush(): void {
    while (waiting.length > 0) settle(waiting.splice(0, limits.commit_batch), true);
  }

  function turn(): void {
    due = false;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limits.commit_batch);
      try {
        settle(batch, false);
      } catch (error) {
        putBack(batch, error);
        return;
      }
    }
  }

  /** Answers the batch. Throws only when another process holds the write lock, and only where `patient` is false. */
  function settle(batch: readonly Waiting<Q, A>[], patient: boolean): void {
    answerAll(batch, written(batch, patient));
  }

  function written(batch: readonly Waiting<Q, A>[], patient: boolean): readonly BatchAnswer<A>[] {
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
