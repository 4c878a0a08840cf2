import type { ServiceLimits } from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** How much each caller asks for, in this process. */
export interface CallerQuota {
  /** Counts one request of this caller. CALLER_LIMITED where it asks faster than one may. */
  take(who: string): void;
  /** The same for what is answered at this moment; what is returned ends it. */
  begin(who: string, what: 'request' | 'stream'): () => void;
  /** Streams of all callers that are open. */
  readonly streams: () => number;
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
  const most_open = { request: limits.at_once, stream: limits.streams };
  const filled = ({ left, at_ms }: Bucket, at: number) => Math.min(most, left + (at - at_ms) * each_ms);
  const forgetFull = (at: number) => {
    for (const [who, bucket] of buckets) if (filled(bucket, at) >= most) buckets.delete(who);
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
    begin: (who, what) => {
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
        const left = open[what].get(who)! - 1;
        if (left === 0) open[what].delete(who);
        else open[what].set(who, left);
      };
    },
    streams: () => [...open.stream.values()].reduce((sum, count) => sum + count, 0),
  };
}
