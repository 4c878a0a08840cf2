import { limits } from '../limits.ts';

/**
 * Whether something was made at a time that has not come yet. The clock was fast when it was made, and a human set the time
 * right since: its end is as far in the future, so it would be good for longer than its life.
 */
export function isMadeLater(made_at: string, at: string): boolean {
  return Date.parse(made_at) > Date.parse(at) + limits.clock_skew_ms;
}
