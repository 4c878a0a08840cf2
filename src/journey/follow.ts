import { type Entry, openEntry } from '../ledger/entry.ts';
import { journeyLimits } from '../limits.ts';
import type { Context } from './context.ts';
import { wakerOf } from './follower.ts';

export interface FollowRequest {
  /** The first entry to tell. */
  readonly from: number;
  readonly signal: AbortSignal;
}

/** The entries of the ledger as they come, from any process, until the signal ends it. Rejects where the store is gone. */
export async function* follow(
  { store, follower }: Pick<Context, 'store' | 'follower'>,
  { from, signal }: FollowRequest,
): AsyncGenerator<Entry> {
  let seq = from;
  let is_behind = true;
  let told: Entry[] = [];
  let failed: { readonly error: unknown } | null = null;
  const waker = wakerOf(signal);
  const tell = (entry: Entry) => {
    is_behind ||= told.length >= journeyLimits.follow_entries;
    if (!is_behind) told.push(entry);
    waker.wake();
  };
  const fail = (error: unknown) => {
    failed = { error };
    waker.wake();
  };
  const end = await follower.listen({ tell, fail });
  try {
    while (!signal.aborted) {
      // One look of the follower serves all who follow: only one that is behind reads the store by itself.
      while (is_behind) {
        [told, is_behind] = [[], false];
        for await (const batch of store.entries(seq)) {
          for (const { bytes } of batch) {
            if (signal.aborted) return;
            const entry = openEntry(bytes);
            seq = entry.seq + 1;
            yield entry;
          }
        }
      }
      const news = told;
      told = [];
      for (const entry of news) {
        if (signal.aborted) return;
        // It was told while the store was read.
        if (entry.seq < seq) continue;
        seq = entry.seq + 1;
        yield entry;
      }
      if (news.length > 0 || is_behind) continue;
      const waits_from = performance.now();
      await waker.wait(journeyLimits.follow_look_ms);
      is_behind ||= performance.now() - waits_from >= journeyLimits.follow_look_ms;
      if (failed) throw (failed as { error: unknown }).error;
    }
  } finally {
    end();
  }
}
