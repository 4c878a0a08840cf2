import { uptime } from 'node:os';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** What the clock said at a moment, and how long the machine had been up. The second cannot be set. */
export interface ClockMark {
  readonly at: string;
  readonly boot_id: string;
  readonly up_ms: number;
}

export interface SteadyClockOptions {
  readonly clock: () => Date;
  readonly boot_id: string;
  /** Milliseconds since boot, sleep included. */
  readonly uptime?: () => number;
  /** The mark of the last commit of any process; null when there is none. */
  readonly lastMark: () => ClockMark | null;
}

/**
 * A ledger on one machine has no second clock to compare with. But the time that passes between two commits of one boot is
 * known, whatever the clock is set to: a clock that went further than that was set ahead. What it cannot see: a clock that
 * was wrong already at the first commit after a boot.
 */
export interface SteadyClock {
  /** The time for an entry: that of the clock, or, where it was set ahead, the one that must have come. */
  stamp(): Date;
  /** CLOCK_AHEAD when the clock was set ahead since the last commit. */
  require(): void;
  /** For those that come later; null when the clock was set ahead. */
  mark(): ClockMark | null;
  /** A human says that the clock is right. Returns what takes that back, for an act that could not be written. */
  accept(): () => void;
}

export function steadyClock(options: SteadyClockOptions): SteadyClock {
  const { clock, boot_id, lastMark, uptime: up = () => uptime() * 1000 } = options;
  // To ask how long the machine is up is slow. This clock stands still while the machine sleeps, so it is the stricter one.
  const quick = options.uptime ?? (() => performance.now());
  let trusted: (ClockMark & { readonly quick_ms: number }) | null = null;

  function trust(now: Date): ClockMark {
    const mark = { at: now.toISOString(), boot_id, up_ms: Math.round(up()) };
    trusted = { ...mark, quick_ms: quick() };
    return mark;
  }

  /** How far the clock is ahead of the time that has passed; 0 when it is unknown. */
  function ahead_ms(now: Date): number {
    if (trusted && stepOf(now, trusted.at, quick() - trusted.quick_ms) === 0) return 0;
    const ahead = aheadOf(now, newer(lastMark(), trusted));
    if (ahead === 0) trust(now);
    return ahead;
  }

  /** Another process may have marked the time since, or a human accepted it there. */
  function newer(kept: ClockMark | null, own: ClockMark | null): ClockMark | null {
    if (kept?.boot_id !== boot_id) return own;
    return own && own.up_ms > kept.up_ms ? own : kept;
  }

  /** Time that ran backwards is that of another container with a count of its own: then it is unknown. */
  function aheadOf(now: Date, mark: ClockMark | null): number {
    const passed_ms = mark ? up() - mark.up_ms : -1;
    return mark && passed_ms >= 0 ? stepOf(now, mark.at, passed_ms) : 0;
  }

  return {
    stamp: () => {
      const now = clock();
      return new Date(now.getTime() - ahead_ms(now));
    },
    require: () => {
      const now = clock();
      const ahead = ahead_ms(now);
      if (ahead > 0)
        refuse(
          'CLOCK_AHEAD',
          `The clock says ${now.toISOString()}. By the time that has passed since the last entry it is ${new Date(now.getTime() - ahead).toISOString()}.`,
          { ahead_s: Math.round(ahead / 1000) },
        );
    },
    mark: () => {
      const now = clock();
      return ahead_ms(now) > 0 ? null : trust(now);
    },
    accept: () => {
      const before = trusted;
      trust(clock());
      return () => {
        trusted = before;
      };
    },
  };
}

/** What the clock went beyond the time that passed, if that is more than a clock is set by itself. */
function stepOf(now: Date, since: string, passed_ms: number): number {
  const ahead = now.getTime() - Date.parse(since) - passed_ms;
  return ahead > limits.clock_step_ms ? ahead : 0;
}
