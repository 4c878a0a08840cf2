import { type Entry, openEntry } from '../ledger/entry.ts';
import type { Context } from './context.ts';

/** How often the ledger is looked at: where nobody says that it grew, and where somebody does. */
const LOOK_ms = 250;
const FLOOR_ms = 2_000;

export interface FollowRequest {
  /** The first entry to tell. */
  readonly from: number;
  readonly signal: AbortSignal;
}

/** The entries of the ledger as they come, whoever writes them, until the signal ends it. */
export async function* follow({ store }: Context, { from, signal }: FollowRequest): AsyncGenerator<Entry> {
  let seq = from;
  const bell = bellOf(signal);
  const stop = await store.changes?.(bell.ring);
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
      await bell.wait(stop ? FLOOR_ms : LOOK_ms);
    }
  } finally {
    await stop?.();
  }
}

interface Bell {
  ring(): void;
  /** Until it rings, the signal ends, or this much time has passed. A ring that nobody waited for counts. */
  wait(most_ms: number): Promise<void>;
}

function bellOf(signal: AbortSignal): Bell {
  let rung = false;
  let wake = () => {};
  const ring = () => {
    rung = true;
    wake();
  };
  signal.addEventListener('abort', ring, { once: true });
  return {
    ring,
    wait: async (most_ms) => {
      if (!rung)
        await new Promise<void>((done) => {
          const timer = setTimeout(done, most_ms);
          wake = () => {
            clearTimeout(timer);
            done();
          };
        });
      rung = false;
    },
  };
}
