import type { Event } from '../event/event.ts';
import { isMadeLater } from '../identity/made.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import type { Capability, IntentState } from './state.ts';

/** Ordered for the attempt that may run next, and for its effect. It takes the place of the order that is open. */
export function orderGiven(before: IntentState, { body }: Event<'order.given'>, at: string): IntentState {
  const { order_id: capability_id, attempt, effect_digest, action, expires_at, lapses_at } = body;
  const state = withoutOpenOrder(before, body.signed_at, at);
  if (attempt !== state.attempt || effect_digest !== state.effect_digest) refuse('CAPABILITY_INTENT_CHANGED');
  if (!state.actions.includes(action)) refuse('ACTION_NOT_REQUESTED');
  if (Date.parse(expires_at) > Date.parse(state.expires_at)) refuse('CAPABILITY_TOO_LONG');
  if (capabilityOf(state, capability_id)) refuse('TRANSITION_ILLEGAL', 'This capability id was used before.');
  if (outstanding(state, at).length >= limits.outstanding_capabilities) refuse('CAPABILITY_TOO_MANY');
  const { bounds, audience, holder, by, key, delegation, approvers } = body;
  const capability: Capability = {
    capability_id,
    attempt,
    action,
    effect_digest,
    bounds,
    audience,
    holder,
    by,
    key,
    delegation,
    ordered_at: at,
    approvers,
    lapses_at,
    expires_at,
    issued: null,
    status: 'ordered',
  };
  return { ...state, capabilities: [...state.capabilities, capability] };
}

/**
 * An attempt has one open order, so that the one that runs is the one that was given last. Who signs when that is in the ledger gives
 * another one in its place: the executor may have refused it, or the key that gave it is revoked. Who signed before did not know of it.
 */
function withoutOpenOrder(state: IntentState, signed_at: string, at: string): IntentState {
  const open = state.capabilities.find(
    (one) => one.status === 'ordered' && one.attempt === state.attempt && isOpen(one, Date.parse(at)),
  );
  if (!open) return state;
  if (Date.parse(signed_at) < Date.parse(open.ordered_at))
    refuse('ORDER_OPEN', `${open.by} ordered it at ${open.ordered_at}.`, { order_id: open.capability_id });
  return changed(state, { ...open, status: 'revoked' });
}

/** Issued under an open order, exactly for what that says. */
export function issued(state: IntentState, { body }: Event<'capability.issued'>, at: string): IntentState {
  const {
    capability_id,
    attempt,
    effect_digest,
    action,
    expires_at,
    token,
    break_glass,
    approvers,
    control_key,
  } = body;
  const order = requireOpen(state, capability_id, at);
  const is_same =
    attempt === state.attempt &&
    attempt === order.attempt &&
    effect_digest === order.effect_digest &&
    action === order.action &&
    expires_at === order.expires_at;
  if (!is_same) refuse('CAPABILITY_INTENT_CHANGED', 'It is not what was ordered.');
  if (break_glass && new Set(state.break_glass.map((one) => one.by)).size < 2)
    refuse('BREAK_GLASS_FORBIDDEN', 'Two humans have to confirm a break-glass.');
  return changed(state, {
    ...order,
    issued: { at, token, control_key, break_glass, approvers },
    status: 'issued',
  });
}

/** The policies did not let it be issued: it can be ordered again. */
export function orderDenied(state: IntentState, { body }: Event<'order.denied'>, at: string): IntentState {
  return changed(state, { ...requireOpen(state, body.order_id, at), status: 'denied' });
}

/** One that is outstanding, or the one of the run that goes on now: that run is stopped. */
export function revoked(state: IntentState, capability_id: string): IntentState {
  const running = state.status === 'claimed' && state.runs.at(-1)?.capability_id === capability_id;
  const known = requireKnown(state, capability_id);
  if (!(running && known.status === 'spent')) requireUnspent(known);
  return changed(state, { ...known, status: 'revoked' });
}

/** Spent in the claim of a run: unknown, revoked, used, expired and foreign ones each have their reason. */
export function spent(state: IntentState, { body }: Event<'execution.claimed'>, at: string): IntentState {
  const capability = requireUnspent(requireKnown(state, body.capability_id));
  if (capability.attempt !== state.attempt || capability.effect_digest !== body.effect_digest)
    refuse('CAPABILITY_INTENT_CHANGED');
  if (capability.issued === null) refuse('TRANSITION_ILLEGAL', 'It was ordered, and not issued.');
  if (Date.parse(capability.expires_at) <= Date.parse(at)) refuse('CAPABILITY_EXPIRED');
  if (Date.parse(usableUntil(capability)) <= Date.parse(at)) refuse('ORDER_LAPSED');
  if (isMadeLater(capability.issued.at, at)) refuse('CAPABILITY_NOT_YET');
  return changed(state, { ...capability, status: 'spent' });
}

/** The capability of an intent with this id, whatever became of it; null where there is none. */
export function capabilityOf(
  { capabilities }: Pick<IntentState, 'capabilities'>,
  capability_id: string,
): Capability | null {
  return capabilities.find((known) => known.capability_id === capability_id) ?? null;
}

function requireKnown(state: IntentState, capability_id: string): Capability {
  return capabilityOf(state, capability_id) ?? refuse('CAPABILITY_UNKNOWN');
}

function requireUnspent(capability: Capability): Capability {
  if (capability.status === 'revoked') refuse('CAPABILITY_REVOKED');
  if (capability.status === 'spent') refuse('CAPABILITY_USED');
  if (capability.status === 'denied') refuse('ORDER_MISSING', 'The order ended when it was denied.');
  return capability;
}

function requireOpen(state: IntentState, capability_id: string, at: string): Capability {
  const order = requireUnspent(requireKnown(state, capability_id));
  if (order.status !== 'ordered') refuse('TRANSITION_ILLEGAL', 'This capability was issued before.');
  if (Date.parse(order.lapses_at) <= Date.parse(at)) refuse('ORDER_LAPSED');
  return order;
}

/** After a violation nothing that is outstanding for the intent is good any more. */
export function revokedAll(state: IntentState, at: string): IntentState {
  const ids = outstanding(state, at);
  return ids.reduce((now, id) => changed(now, { ...requireKnown(now, id), status: 'revoked' }), state);
}

/** Those that could still be used. */
export function outstanding({ capabilities }: IntentState, at: string): string[] {
  return capabilities.filter((one) => isOpen(one, Date.parse(at))).map(({ capability_id }) => capability_id);
}

/** Issued and not over, or ordered and not lapsed. */
function isOpen(capability: Capability, now_ms: number): boolean {
  const { status, expires_at } = capability;
  if (Date.parse(expires_at) <= now_ms || Date.parse(usableUntil(capability)) <= now_ms) return false;
  return status === 'issued' || status === 'ordered';
}

/**
 * One that is issued in the commit of its order can be used until it expires. All others are issued in the commit of their claim. The
 * attacker has an executor key and the store, writes what was issued alone and claims later: that ends with the order, too.
 */
export function usableUntil({ issued, ordered_at, lapses_at, expires_at }: Capability): string {
  return issued?.at === ordered_at ? expires_at : lapses_at;
}

function changed(state: IntentState, capability: Capability): IntentState {
  const capabilities = state.capabilities.map((known) =>
    known.capability_id === capability.capability_id ? capability : known,
  );
  return { ...state, capabilities };
}

/** The newest capability that could be used for the present attempt, issued or only ordered, or why there is none. */
export function capabilityNow(state: IntentState, now: Date): Capability | ReasonCode {
  const attempts = state.capabilities.filter(({ attempt }) => attempt === state.attempt);
  const usable = attempts.findLast((one) => isOpen(one, now.getTime()));
  if (usable) {
    const is_early = isMadeLater(usable.issued?.at ?? usable.ordered_at, now.toISOString());
    return is_early ? 'CAPABILITY_NOT_YET' : usable;
  }
  const newest = attempts.at(-1);
  if (!newest || newest.status === 'denied') return 'ORDER_MISSING';
  if (newest.status === 'revoked') return 'CAPABILITY_REVOKED';
  const has_expired = newest.issued !== null && Date.parse(newest.expires_at) <= now.getTime();
  return has_expired || newest.status === 'spent' ? 'CAPABILITY_EXPIRED' : 'ORDER_LAPSED';
}

export function currentCapability(state: IntentState, now: Date): Capability {
  const found = capabilityNow(state, now);
  return typeof found === 'string' ? refuse(found) : found;
}
