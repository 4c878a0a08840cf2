import type { IntentStatus } from '../gate/state.ts';
import { journeyLimits, limits } from '../limits.ts';
import { type Context, requireIntent } from './context.ts';
import { isAtWork, lifeOf, type OpenWork, openWork } from './life.ts';
import { type IntentResult, resultOf } from './result.ts';

export interface WaitRequest {
  /**
   * `decided`: it no longer waits for a human to approve it. `ended`, unless told: it is over, or no process works on it any more and a
   * human must settle what became of it.
   */
  readonly until?: 'decided' | 'ended';
  readonly signal?: AbortSignal;
}

const UNSETTLED: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['partial', 'stuck']);

function isReached({ status_word, status, is_over }: IntentResult, until: 'decided' | 'ended'): boolean {
  return until === 'decided' ? status_word !== 'waiting' : is_over || UNSETTLED.has(status);
}

/** Until the intent has come that far, in this process or another. Rejects with the reason of the signal, or where the store is gone. */
export async function waitFor(
  context: Context,
  intent_id: string,
  { until = 'ended', signal }: WaitRequest = {},
): Promise<IntentResult> {
  for (;;) {
    signal?.throwIfAborted();
    const news = await context.follower.about(intent_id);
    try {
      const state = await requireIntent(context, intent_id);
      const found = await resultOf(context, intent_id);
      if (isReached(found, until)) return found;
      const work = openWork(state);
      if (work !== null && !(await isAtWork(context, work))) {
        // A process records the end and is gone a moment later, so the record is read again after it was found gone.
        const left = await resultOf(context, intent_id);
        if (left.status === state.status && left.status_word !== 'running') return left;
      }
      // No entry says that something expired, or that the process of a run or a rollback died.
      if (work) await newsOrGone(context, work, news.came, signal);
      else await soonest(news.came, Date.parse(state.expires_at) - context.clock().getTime(), signal);
    } finally {
      news.end();
    }
  }
}

/** Until there is news of it, or its process is gone. As long as a process of this host works on it, nothing is read from the store. */
async function newsOrGone(
  context: Context,
  work: OpenWork,
  came: Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  let has_come = false;
  const note = () => {
    has_come = true;
  };
  came.then(note, note);
  const is_here = lifeOf(context, work.execution_id, work.executor) !== 'other-host';
  // Another host says it only so often.
  const look_ms = is_here ? journeyLimits.run_look_ms : limits.beat_ms;
  do await soonest(came, look_ms, signal);
  while (!has_come && (await isAtWork(context, work)));
}

/** Until one of them comes. */
export async function soonest(came: Promise<void>, expires_ms: number, signal?: AbortSignal): Promise<void> {
  let stop = () => {};
  const other = new Promise<void>((resolve, reject) => {
    const timer = expires_ms > 0 ? setTimeout(resolve, Math.min(expires_ms + 1, limits.timer_ms)) : null;
    const aborted = () => reject(signal!.reason);
    if (signal?.aborted) aborted();
    signal?.addEventListener('abort', aborted, { once: true });
    stop = () => {
      if (timer) clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
    };
  });
  await Promise.race([came, other]).finally(stop);
}
