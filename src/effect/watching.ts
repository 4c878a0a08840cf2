import { limits } from '../limits.ts';

/** Something that is looked at again and again while an action runs. */
interface Watched<T> {
  /** What stops the action, or `null`. */
  readonly look: () => Promise<T | null>;
  /** What it means that a look failed: an action that cannot be stopped does not go on. */
  readonly failed: (error: unknown) => T;
  /** What it means that a look did not come back in time. */
  readonly late: () => T;
  readonly abort?: AbortSignal | undefined;
}

export interface Watching<T> {
  /** Aborts when a look found something, and when the caller does: then with the reason of the caller. */
  readonly signal: AbortSignal;
  readonly found: () => T | null;
  /** The next look comes sooner than by the clock: `limits.watch_told_ms` after the last one, or after the beginning. */
  readonly lookSoon: () => void;
  stop(): void;
}

/** How many ticks a look may take. They are counted, so a process that was held up does not blame the store. */
const LATE_ticks = Math.ceil(limits.watch_late_ms / limits.watch_ms);

/** Looks every `limits.watch_ms` until it finds something or is stopped. No look begins before the last one ended. */
export function watchWhile<T>({ look, failed, late, abort }: Watched<T>): Watching<T> {
  const stopped = new AbortController();
  let found: T | null = null;
  let ticks: number | null = null;
  let looked_ms = performance.now();
  let soon: NodeJS.Timeout | null = null;
  const stopFor = (reason: T) => {
    if (stopped.signal.aborted) return;
    found = reason;
    stopped.abort();
  };
  const lookNow = async () => {
    if (ticks !== null) return;
    ticks = 0;
    looked_ms = performance.now();
    const reason = await look().catch(failed);
    ticks = null;
    if (reason !== null) stopFor(reason);
  };
  const tick = () => {
    if (ticks === null) void lookNow();
    else if (++ticks >= LATE_ticks) stopFor(late());
  };
  const timer = setInterval(tick, limits.watch_ms);
  // A busy ledger tells of each of its commits, and a look costs more than most of them.
  const lookSoon = () => {
    soon ??= setTimeout(
      () => {
        soon = null;
        void lookNow();
      },
      Math.max(0, looked_ms + limits.watch_told_ms - performance.now()),
    );
  };
  const onAbort = () => stopped.abort(abort?.reason);
  abort?.addEventListener('abort', onAbort, { once: true });
  if (abort?.aborted) onAbort();
  return {
    signal: stopped.signal,
    found: () => found,
    lookSoon,
    stop() {
      clearInterval(timer);
      if (soon) clearTimeout(soon);
      abort?.removeEventListener('abort', onAbort);
    },
  };
}
