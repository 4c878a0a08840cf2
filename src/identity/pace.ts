/**
 * How fast capabilities were issued for one proposer, so that a policy can limit the rate. Counted by the minute and by the
 * hour of the ledger's time. A window is rounded up to whole buckets: a limit is met a little early, never late.
 */
export interface Pace {
  readonly total: number;
  /** `[minute, count]` of the last hour and `[hour, count]` of the last day, oldest first. */
  readonly minutes: readonly Bucket[];
  readonly hours: readonly Bucket[];
}

type Bucket = readonly [since: number, count: number];

export const IDLE: Pace = { total: 0, minutes: [], hours: [] };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function nextPace(pace: Pace, at: string): Pace {
  const now_ms = Date.parse(at);
  return {
    total: pace.total + 1,
    minutes: counted(pace.minutes, Math.floor(now_ms / MINUTE_MS), 60),
    hours: counted(pace.hours, Math.floor(now_ms / HOUR_MS), 24),
  };
}

function counted(buckets: readonly Bucket[], now: number, kept: number): Bucket[] {
  const others = buckets.filter(([since]) => since >= now - kept && since !== now);
  const [, count] = buckets.find(([since]) => since === now) ?? [now, 0];
  return [...others, [now, count + 1]];
}

export interface Rate {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
}

export function rateOf(pace: Pace, now: Date): Rate {
  const minute = Math.floor(now.getTime() / MINUTE_MS);
  return {
    minute: within(pace.minutes, minute, 1),
    hour: within(pace.minutes, minute, 60),
    day: within(pace.hours, Math.floor(now.getTime() / HOUR_MS), 24),
  };
}

/** Buckets that seem to lie in the future count, too: a clock that went back must not set a limit free. */
function within(buckets: readonly Bucket[], now: number, back: number): number {
  return buckets.reduce((sum, [since, count]) => (since >= now - back ? sum + count : sum), 0);
}
