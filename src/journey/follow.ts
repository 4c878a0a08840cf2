import { type Entry, openEntry } from '../ledger/entry.ts';
import type { Context } from './context.ts';
import { wakerOf } from './follower.ts';

export interface FollowRequest {
  /** The first entry to tell. */
  readonly from: number;
  readonly signal: AbortSignal;
}

/** How often it looks without any news. */
const FLOOR_MS = 60_000;

/** Kept for one that takes them more slowly than they come. One that is slower still reads them from the store. */
const KEPT = 1_000;

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
    is_behind ||= told.length >= KEPT;
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
      await waker.wait(FLOOR_MS);
      is_behind ||= performance.now() - waits_from >= FLOOR_MS;
      if (failed) throw (failed as { error: unknown }).error;
    }
  } finally {
    end();
  }
}
