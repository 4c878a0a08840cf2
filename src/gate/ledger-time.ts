import type { Event, EventKind } from '../event/event.ts';
import { isMadeLater } from '../identity/made.ts';
import { limits } from '../limits.ts';
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

/**
 * The time of what is written now: that of the newest entry where the clock is behind it. Only a human who signed which time it is sets
 * time back, and only if it is that time now.
 */
export function entryTime(first: Event | undefined, newest: string | null, at: string): string {
  if (first?.kind === 'clock.accepted') {
    const { now } = first.body;
    if (Math.abs(Date.parse(now) - Date.parse(at)) > limits.clock_skew_ms)
      refuse('DECISION_STALE', `It was signed for ${now}, and it is ${at} now.`);
    return now;
  }
  return newest !== null && Date.parse(at) < Date.parse(newest) ? newest : at;
}

/** Times that commit writes have one form, in which the order of the letters is the order of time. */
function isEarlier(one: string, other: string): boolean {
  return one.length === other.length ? one < other : Date.parse(one) < Date.parse(other);
}

/**
 * Stopping something and recording what happened never waits for a clock; nor does the act that sets it right. Their entries
 * have the time that must have come.
 */
const ANY_TIME: ReadonlySet<EventKind> = new Set<EventKind>([
  'clock.accepted',
  'head.accepted',
  'system.frozen',
  'key.revoked',
  'credential.revoked',
  'token.revoked',
  'capability.revoked',
  'execution.stopped',
  'delegation.revoked',
  'approval.denied',
  'intent.withdrawn',
  'violation.detected',
  'execution.finished',
  'mcp.shadow_ended',
  'execution.refused',
  'rollback.finished',
]);

export function isOfAnyTime(kind: EventKind): boolean {
  return ANY_TIME.has(kind);
}

/**
 * Refuses an act that says it was signed at a time that has not come: its deadline would bound nothing, and what was signed today could be
 * committed next year. What only stops something may come from a host whose clock is ahead.
 */
export function requireSignedByNow(kind: EventKind, signed_at: string, at: string): void {
  if (!ANY_TIME.has(kind) && isMadeLater(signed_at, at)) refuse('MADE_IN_FUTURE');
}
