import type { Body, Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';

export type SloFigure = Body<'slo.waived'>['figures'][number];

const DAY_MS = 86_400_000;
/** A breach that is accepted for longer is not a breach but another target. */
const WAIVER_DAYS = 30;

/** A waiver ends, and soon. */
export function requireWaiver({ body }: Event<'slo.waived'>, at: string): void {
  const life_ms = Date.parse(body.until) - Date.parse(at);
  if (life_ms <= 0 || life_ms > WAIVER_DAYS * DAY_MS)
    refuse('TIME_MALFORMED', `A waiver ends in the future, after ${WAIVER_DAYS} days at most.`);
}
