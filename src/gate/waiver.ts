import type { Body, Event } from '../event/event.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

export type SloFigure = Body<'slo.waived'>['figures'][number];

/** A human who waives has this role: 003 section 14.2 says "builder-approved". */
export const BUILDER = 'builder';

const DAY_MS = 86_400_000;

/** A waiver ends, and soon. */
export function requireWaiver({ body }: Event<'slo.waived'>, at: string): void {
  const life_ms = Date.parse(body.until) - Date.parse(at);
  if (life_ms <= 0 || life_ms > limits.waiver_days * DAY_MS)
    refuse('TIME_MALFORMED', `A waiver ends in the future, after ${limits.waiver_days} days at most.`);
}
