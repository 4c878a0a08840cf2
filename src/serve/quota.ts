import type { ServiceLimits } from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** How much each caller asks for, in this process. */
export interface CallerQuota {
  /** Counts one request of this caller. CALLER_LIMITED where it asks faster than one may. */
  take(who: string): void;
  /** The same for a stream that is open; what is returned ends it. */
  begin(who: string, what: 'stream'): () => void;
  /** The same for a request that is being answered, until its answer was read. */
  answering(who: string): Answering;
  /** Streams of all callers that are open. */
  readonly streams: () => number;
}

/** A request that is being answered. */
export interface Answering {
  /** CALLER_LIMITED where so much of what this caller was answered before is not read that this would be too much. */
  hold(bytes: number): void;
  end(): void;
}

interface Bucket {
  left: number;
  at_ms: number;
}

/** A minute's worth can come at once; from then on, as much as flows in. */
export function callerQuotaOf(
  limits: ServiceLimits,
  now: () => number = () => performance.now(),
): CallerQuota {
  const { requests_minute: most } = limits;
  const each_ms = most / 60_000;
  const buckets = new Map<string, Bucket>();
  const open = { request: new Map<string, number>(), stream: new Map<string, number>() };
  const unread = new Map<string, number>();
  const most_open = { request: limits.at_once, stream: limits.streams };
  const filled = ({ left, at_ms }: Bucket, at: number) => Math.min(most, left + (at - at_ms) * each_ms);
  const forgetFull = (at: number) => {
    for (const [who, bucket] of buckets) if (filled(bucket, at) >= most) buckets.delete(who);
  };
  const begin = (who: string, what: 'request' | 'stream') => {
    const count = open[what].get(who) ?? 0;
    if (count >= most_open[what])
      refuse('CALLER_LIMITED', `It has ${count} ${what}s open, as many as one caller may have.`, {
        limit: most_open[what],
        retry_after_s: 1,
      });
    open[what].set(who, count + 1);
    let is_over = false;
    return () => {
      if (is_over) return;
      is_over = true;
      add(open[what], who, -1);
    };
  };
  return {
    take: (who) => {
      const at = now();
      if (buckets.size >= webLimits.callers) forgetFull(at);
      const known = buckets.get(who);
      const left = known ? filled(known, at) : most;
      if (left < 1) {
        const retry_after_s = Math.max(1, Math.ceil((1 - left) / each_ms / 1000));
        const words = `It asks more than ${most} times a minute.`;
        refuse('CALLER_LIMITED', words, { limit: most, retry_after_s });
      }
      buckets.set(who, { left: left - 1, at_ms: at });
    },
    begin,
    answering: (who) => {
      const over = begin(who, 'request');
      let held = 0;
      return {
        hold: (bytes) => {
          const waiting = unread.get(who) ?? 0;
          if (waiting > 0 && waiting + bytes > webLimits.unread_bytes)
            refuse('CALLER_LIMITED', `It has not read ${waiting} bytes of what it was answered.`, {
              limit: webLimits.unread_bytes,
              retry_after_s: 1,
            });
          held += bytes;
          add(unread, who, bytes);
        },
        end: () => {
          over();
          add(unread, who, -held);
          held = 0;
        },
      };
    },
    streams: () => [...open.stream.values()].reduce((sum, count) => sum + count, 0),
  };
}

function add(counts: Map<string, number>, who: string, more: number): void {
  const sum = (counts.get(who) ?? 0) + more;
  if (sum === 0) counts.delete(who);
  else counts.set(who, sum);
}
