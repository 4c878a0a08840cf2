import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import { correlationOf } from './agent.ts';
import { type Claiming, needsDispatch } from './agent-core.ts';
import { isDispatch, isEnd } from './agent-move.ts';

/** An intent that the agent core dispatched, and whether that dispatch is over. */
export interface DispatchedIntent {
  readonly intent_id: string;
  readonly correlation_id: string;
  readonly plan_id: Digest;
  readonly step_id: Digest;
  readonly is_over: boolean;
}

/** Pure: what is known of an intent after this move; null when the move neither dispatches one nor ends it. */
export function nextDispatched(
  before: DispatchedIntent | null,
  { subject, body }: Event<'agent.moved'>,
): DispatchedIntent | null {
  const { plan_id, step_id, intent_id } = body;
  if (intent_id === null || step_id === null) return null;
  if (isDispatch(body)) {
    if (before !== null) refuse('IDEMPOTENCY_VIOLATION', 'The intent was dispatched before.');
    return { intent_id, correlation_id: correlationOf(subject), plan_id, step_id, is_over: false };
  }
  if (!isEnd(body)) return null;
  if (before === null) refuse('AGENT_TRANSITION_ILLEGAL', 'The intent was not dispatched.');
  return { ...before, is_over: true };
}

/** The attacker holds a capability for what the conversation has not dispatched, or has given up. */
export function requireDispatched(intent: Claiming, dispatched: () => DispatchedIntent | null): void {
  if (lacksDispatch(intent, dispatched)) refuse('AGENT_TRANSITION_ILLEGAL', NOT_DISPATCHED);
}

/** Whether only a dispatch may run it, and none stands. */
export function lacksDispatch(intent: Claiming, dispatched: () => DispatchedIntent | null): boolean {
  return needsDispatch(intent) && (dispatched()?.is_over ?? true);
}

export const NOT_DISPATCHED =
  'The agent core does not run this now. `keyturn agent resume` goes on with the conversation that it belongs to.';
