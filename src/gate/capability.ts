import type { Event } from '../event/event.ts';
import { isMadeLater } from '../identity/made.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Capability, IntentState } from './state.ts';

/** Issued for the attempt that may run next, and for its effect. */
export function issued(state: IntentState, { body }: Event<'capability.issued'>, at: string): IntentState {
  const {
    capability_id,
    attempt,
    effect_digest,
    action,
    token,
    holder,
    by,
    key,
    expires_at,
    glass,
    approvers,
  } = body;
  if (attempt !== state.attempt || effect_digest !== state.effect_digest) refuse('CAPABILITY_INTENT_CHANGED');
  if (!state.actions.includes(action)) refuse('ACTION_NOT_REQUESTED');
  if (Date.parse(expires_at) > Date.parse(state.expires_at)) refuse('CAPABILITY_TOO_LONG');
  if (glass && new Set(state.glass.map((one) => one.by)).size < 2)
    refuse('BREAK_GLASS_FORBIDDEN', 'Two humans have to break the glass.');
  if (state.capabilities.some((known) => known.capability_id === capability_id))
    refuse('TRANSITION_ILLEGAL', 'This capability id was used before.');
  if (outstanding(state, at).length >= limits.outstanding_capabilities) refuse('CAPABILITY_TOO_MANY');
  const capability: Capability = {
    capability_id,
    attempt,
    action,
    effect_digest,
    token,
    holder,
    by,
    key,
    delegation: body.delegation,
    issued_at: at,
    expires_at,
    glass,
    approvers,
    status: 'issued',
  };
  return { ...state, capabilities: [...state.capabilities, capability] };
}

/** One that is outstanding, or the one of the run that goes on now: that run is stopped. */
export function revoked(state: IntentState, capability_id: string): IntentState {
  const running = state.status === 'claimed' && state.runs.at(-1)?.capability_id === capability_id;
  const known = requireKnown(state, capability_id);
  if (!(running && known.status === 'spent')) requireIssued(state, capability_id);
  return marked(state, [capability_id], 'revoked');
}

/** Spent in the claim of a run: unknown, revoked, used, expired and foreign ones each have their reason. */
export function spent(state: IntentState, { body }: Event<'execution.claimed'>, at: string): IntentState {
  const capability = requireIssued(state, body.capability_id);
  if (capability.attempt !== state.attempt || capability.effect_digest !== body.effect_digest)
    refuse('CAPABILITY_INTENT_CHANGED');
  if (Date.parse(capability.expires_at) <= Date.parse(at)) refuse('CAPABILITY_EXPIRED');
  if (isMadeLater(capability.issued_at, at)) refuse('CAPABILITY_NOT_YET');
  return marked(state, [body.capability_id], 'spent');
}

function requireKnown({ capabilities }: IntentState, capability_id: string): Capability {
  return capabilities.find((known) => known.capability_id === capability_id) ?? refuse('CAPABILITY_UNKNOWN');
}

function requireIssued(state: IntentState, capability_id: string): Capability {
  const capability = requireKnown(state, capability_id);
  if (capability.status === 'revoked') refuse('CAPABILITY_REVOKED');
  if (capability.status === 'spent') refuse('CAPABILITY_USED');
  return capability;
}

/** After a violation nothing that is outstanding for the intent is good any more. */
export function revokedAll(state: IntentState, at: string): IntentState {
  return marked(state, outstanding(state, at), 'revoked');
}

/** Those that could still be used. */
export function outstanding({ capabilities }: IntentState, at: string): string[] {
  return capabilities
    .filter(({ status, expires_at }) => status === 'issued' && Date.parse(expires_at) > Date.parse(at))
    .map(({ capability_id }) => capability_id);
}

function marked(state: IntentState, ids: readonly string[], status: Capability['status']): IntentState {
  const capabilities = state.capabilities.map((known) =>
    ids.includes(known.capability_id) ? { ...known, status } : known,
  );
  return { ...state, capabilities };
}

/** The newest capability that could be used for the present attempt, or why there is none. */
export function currentCapability(state: IntentState, now: Date): Capability {
  const attempts = state.capabilities.filter(({ attempt }) => attempt === state.attempt);
  const usable = attempts.findLast(
    ({ status, expires_at }) => status === 'issued' && Date.parse(expires_at) > now.getTime(),
  );
  if (usable && isMadeLater(usable.issued_at, now.toISOString())) refuse('CAPABILITY_NOT_YET');
  if (usable) return usable;
  const newest = attempts.at(-1);
  if (!newest) refuse('CAPABILITY_MISSING');
  return refuse(newest.status === 'revoked' ? 'CAPABILITY_REVOKED' : 'CAPABILITY_EXPIRED');
}
