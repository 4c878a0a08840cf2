import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';

/** An act that names its own place in the ledger. A copy of it elsewhere would be an act that no human signed. */
export function requireItsPlace(event: Event, seq: number): void {
  if (event.kind === 'head.accepted' && event.body.seq !== seq)
    refuse('DECISION_STALE', `It was signed for entry ${event.body.seq}, and would be entry ${seq}.`);
}
