import { sha256 } from '../canonical/digest.ts';
import { boundsBytes } from '../capability/bounds.ts';
import type { CapabilityClaims } from '../capability/token.ts';
import type { Body, Event } from '../event/event.ts';
import { capabilityOf } from '../gate/capability.ts';
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
  const intent = rows.row('intent', subject)?.state;
  const order = intent && capabilityOf(intent, body.capability_id);
  const issuer = rows.row('system', 'system')?.state.origin;
  return order && issuer !== undefined ? { intent_id: subject, issuer, body, order } : null;
}

/**
 * The attacker has the control key: the entry says what was ordered, and the token that it names says more. Where the order is for just
 * what the effect needs, only who has the effect can compare the scope.
 */
export function requireAsIssued(
  { intent_id, issuer, body, order }: IssuedToken,
  claims: CapabilityClaims | null,
): void {
  if (claims === null) refuse('OBJECT_MISSING', 'The token that is issued is not there.');
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
    claims.holder === order.holder &&
    isWithin(order, claims);
  if (!is_same) refuse('CAPABILITY_WIDENED', 'The token is not the one that the entry describes.');
}

/** The bounds of the order are those of the token, which their digest tells. */
function isWithin({ capability_id, bounds }: Capability, claims: CapabilityClaims): boolean {
  const { tool_category, conditions } = claims;
  if (bounds !== null) return sha256(boundsBytes(capability_id, claims)) === bounds;
  return tool_category === null && Object.keys(conditions).length === 0;
}
