import { type Entry, openEntry } from '../ledger/entry.ts';
import type { Context } from './context.ts';
import { bellOf } from './follower.ts';

export interface FollowRequest {
  /** The first entry to tell. */
  readonly from: number;
  readonly signal: AbortSignal;
}

/** How often it looks without any news. */
const FLOOR_MS = 60_000;

/** The entries of the ledger as they come, whoever writes them, until the signal ends it. Rejects where the store is gone. */
export async function* follow(
  { store, follower }: Pick<Context, 'store' | 'follower'>,
  { from, signal }: FollowRequest,
): AsyncGenerator<Entry> {
  let seq = from;
  let failed: { readonly error: unknown } | null = null;
  const bell = bellOf(signal);
  const fail = (error: unknown) => {
    failed = { error };
    bell.ring();
  };
  const end = await follower.listen({ tell: bell.ring, fail });
  try {
    while (!signal.aborted) {
      for await (const batch of store.entries(seq)) {
        for (const { bytes } of batch) {
          if (signal.aborted) return;
          const entry = openEntry(bytes);
          seq = entry.seq + 1;
          yield entry;
        }
      }
      await bell.wait(FLOOR_MS);
      if (failed) throw (failed as { error: unknown }).error;
    }
  } finally {
    end();
  }
}
