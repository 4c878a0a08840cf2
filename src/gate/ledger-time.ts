import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';

/** An act that names its own place in the ledger. A copy of it elsewhere would be an act that no human signed. */
export function requireItsPlace(event: Event, seq: number, at: string): void {
  if (event.kind === 'ledger.archived') requireRange(event.body, seq);
  if (event.kind !== 'head.accepted' && event.kind !== 'clock.accepted') return;
  if (event.body.seq !== seq)
    refuse('DECISION_STALE', `It was signed for entry ${event.body.seq}, and would be entry ${seq}.`);
  if (event.kind === 'clock.accepted' && event.body.now !== at)
    refuse('DECISION_STALE', `It was signed for ${event.body.now}, and would be of ${at}.`);
}

/** Only what was there can be archived. */
function requireRange({ from, to }: { readonly from: number; readonly to: number }, seq: number): void {
  if (from >= to || to > seq)
    refuse('TRANSITION_ILLEGAL', `Before entry ${seq} there are no entries ${from} to ${to - 1}.`);
}

/**
 * Time in the ledger goes back at one kind of entry only, which a human signed for that place and that time. Otherwise an
 * entry of an earlier time could tell of a capability or an approval that had not ended yet.
 */
export function requireInOrder(before: string | null, { kind }: { readonly kind: string }, at: string): void {
  if (before !== null && isEarlier(at, before) && kind !== 'clock.accepted')
    refuse('LEDGER_BROKEN', 'its time is before that of the entry before it');
}

/** Times that commit writes have one form, in which the order of the letters is the order of time. */
function isEarlier(one: string, other: string): boolean {
  return one.length === other.length ? one < other : Date.parse(one) < Date.parse(other);
}
