import type { CapabilityClaims } from '../capability/token.ts';
import type { Body, Event } from '../event/event.ts';
import type { Capability } from '../gate/state.ts';
import { refuse } from '../refusal.ts';
import type { Rows } from './row.ts';

/** What the token that an entry names must be: the entry, and the order under which it was issued. */
export interface IssuedToken {
  readonly intent_id: string;
  /** The name of the ledger. */
  readonly issuer: string;
  readonly body: Body<'capability.issued'>;
  readonly order: Capability;
}

/** Pure: null for an event that issues nothing, or that the fold refuses. `rows` are those before it. */
export function issuedToken(rows: Rows, { kind, subject, body }: Event): IssuedToken | null {
  if (kind !== 'capability.issued') return null;
  const known = rows.row('intent', subject)?.state.capabilities ?? [];
  const order = known.find(({ capability_id }) => capability_id === body.capability_id);
  const issuer = rows.row('system', 'system')?.state.origin;
  return order && issuer !== undefined ? { intent_id: subject, issuer, body, order } : null;
}

/**
 * The attacker has the control key: the entry says what was ordered, and the token that it names says more. What the scope and the
 * conditions are compared with are objects, so who has these compares them besides.
 */
export function requireAsIssued(
  { intent_id, issuer, body, order }: IssuedToken,
  claims: CapabilityClaims,
): void {
  const is_same =
    claims.jti === body.capability_id &&
    claims.issuer === issuer &&
    claims.intent_id === intent_id &&
    claims.intent_hash === body.hash &&
    claims.effect_digest === body.effect_digest &&
    claims.attempt === body.attempt &&
    claims.action === body.action &&
    claims.policy === body.policy &&
    claims.expires_at === body.expires_at &&
    claims.audience === order.audience &&
    claims.holder === order.holder;
  if (!is_same) refuse('CAPABILITY_WIDENED', 'The token is not the one that the entry describes.');
}
