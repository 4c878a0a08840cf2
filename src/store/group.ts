import { limits } from '../limits.ts';
import type { CheckedCommit } from './decide.ts';

/** What became of one request of a batch. */
export type BatchAnswer<A> = { readonly answer: A } | { readonly error: unknown };

interface Waiting<Q, A> {
  readonly request: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

export interface Group<Q, A> {
  /** Answered when the batch that it is part of is durable. */
  ask(request: Q): Promise<A>;
  /** When everything that was asked until now is answered. */
  answered(): Promise<void>;
}

/**
 * Group commit: whatever is asked in one turn of the event loop, and while the batch before is under way, is written in one transaction with
 * one sync. A lone request waits for the end of its own turn and for nothing else. `cut` says how many of those that wait make one batch. A
 * write that had to wait for its turn itself takes in by `join` what was asked meanwhile: it has an answer for each that it was given, in
 * their order.
 */
export function groupCommit<Q, A>(
  write: (batch: readonly Q[], join: () => readonly Q[]) => Promise<readonly BatchAnswer<A>[]>,
  cut: (waiting: readonly Q[]) => number,
): Group<Q, A> {
  const waiting: Waiting<Q, A>[] = [];
  let is_running = false;
  let last: Promise<unknown> = Promise.resolve();

  async function run(): Promise<void> {
    is_running = true;
    await nextTurn();
    while (waiting.length > 0) {
      const batch: Waiting<Q, A>[] = [];
      grow(batch);
      await answerAll(batch, await written(batch));
    }
    is_running = false;
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
    const answer = new Promise<A>((resolve, reject) => waiting.push({ request, resolve, reject }));
    last = answer;
    if (!is_running) void run();
    return answer;
  }

  return {
    ask,
    // They are answered in the order in which they asked. Who goes on asking is not waited for: that might never end.
    answered: () =>
      last.then(
        () => {},
        () => {},
      ),
  };
}

/**
 * Everything that callers do next is done in the turn in which they are answered, before anything else of the process goes on. So a turn answers only so
 * many. Ends when all of them can have asked again.
 */
async function answerAll<A>(
  callers: readonly Waiting<unknown, A>[],
  answers: readonly BatchAnswer<A>[],
): Promise<void> {
  for (const [i, { resolve, reject }] of callers.entries()) {
    if (i > 0 && i % limits.answers_turn === 0) await nextTurn();
    const one = answers[i]!;
    if ('answer' in one) resolve(one.answer);
    else reject(one.error);
  }
  await nextTurn();
}

function nextTurn(): Promise<void> {
  return new Promise((turn) => setImmediate(turn));
}

/** How many commits make one batch. An erasure is one of its own: what one statement of PostgreSQL adds, the same one cannot remove. */
export function cutCommits(waiting: readonly CheckedCommit[]): number {
  let bytes = 0;
  const end = waiting.slice(0, limits.commit_batch).findIndex(({ objects, erase }, i) => {
    for (const object of objects) bytes += object.bytes.length;
    return i > 0 && (bytes > limits.commit_batch_bytes || erase.length > 0);
  });
  if (waiting[0]!.erase.length > 0) return 1;
  return end === -1 ? Math.min(waiting.length, limits.commit_batch) : end;
}
