import type { CapabilityStatus } from '../capability/verify.ts';
import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import { capabilityOf } from './capability.ts';
import type { IntentState } from './state.ts';

/** An order or the capability that was issued for it, with what they are listed by. Everything else about it is part of its intent. */
export interface Order {
  /** That of its order. */
  readonly capability_id: string;
  readonly intent_id: string;
  readonly tool: string;
  readonly proposer: string;
  /** Who ordered it. */
  readonly by: string;
  readonly ordered_at: string;
  readonly lapses_at: string;
  readonly expires_at: string;
  readonly status: CapabilityStatus;
}

export const ORDER_STATUSES = [
  'ordered',
  'issued',
  'denied',
  'spent',
  'revoked',
] as const satisfies readonly CapabilityStatus[];

export const ORDER_KINDS = [
  'order.given',
  'order.denied',
  'capability.issued',
  'capability.revoked',
  'execution.claimed',
  'execution.stopped',
  'violation.detected',
  'intent.withdrawn',
] as const;

export type OrderEvent = Event<(typeof ORDER_KINDS)[number]>;

/**
 * Which orders the event moves. An order takes the place of an open one; a stop, a violation and a withdrawal revoke what is outstanding.
 * Only the states of the intent tell which these are.
 */
export function movedOrders(
  event: OrderEvent,
  intent: { readonly before: IntentState; readonly now: IntentState } | null,
): readonly string[] {
  switch (event.kind) {
    case 'order.given':
      return intent ? changedIn(intent.before, intent.now) : [event.body.order_id];
    case 'order.denied':
      return [event.body.order_id];
    case 'execution.stopped':
    case 'violation.detected':
    case 'intent.withdrawn':
      return intent ? changedIn(intent.before, intent.now) : [];
    default:
      return [event.body.capability_id];
  }
}

function changedIn(before: IntentState, now: IntentState): string[] {
  const known = new Map(before.capabilities.map((one) => [one.capability_id, one.status]));
  return now.capabilities
    .filter(({ capability_id, status }) => known.get(capability_id) !== status)
    .map(({ capability_id }) => capability_id);
}

/** Pure: the order after the event, where `intent` is what the event made of its intent. */
export function nextOrder(before: Order | null, event: OrderEvent, intent: IntentState, at: string): Order {
  if (event.kind === 'order.given' && (!before || before.capability_id === event.body.order_id)) {
    if (before) refuse('TRANSITION_ILLEGAL', 'This capability id was used before.');
    const { order_id: capability_id, by, lapses_at, expires_at } = event.body;
    const { intent_id, tool, proposer } = intent;
    const order = { capability_id, intent_id, tool, proposer, by, ordered_at: at, lapses_at, expires_at };
    return { status: 'ordered', ...order };
  }
  if (!before) refuse('CAPABILITY_UNKNOWN');
  const { status } = capabilityOf(intent, before.capability_id) ?? refuse('CAPABILITY_UNKNOWN');
  return { ...before, status };
}
