import type { KeyOf, PublicKey } from '../canonical/ed25519.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type KeyLookup, type OpenedCapability, openChain } from './chain.ts';
import { type ExecutorFacts, unmetCondition } from './conditions.ts';
import { kidOf } from './key.ts';
import type { HeldCapability } from './proof.ts';
import { isScopeWithin, type ResourceScope } from './scope.ts';
import type { CapabilityClaims } from './token.ts';

export type { KeyLookup, OpenedCapability } from './chain.ts';

/** Verifies every signature of a capability, and that no block is wider than the one before. */
export function openCapability(text: string, keys: KeyLookup): OpenedCapability {
  // Not `keys` itself: without it openChain verifies no first block, and here that must fail.
  return openChain(text, (kid) => keys(kid));
}

/** The token in a stored object, which this control key must have signed. */
export function openIssued(bytes: Uint8Array, control_key: PublicKey, keyOf: KeyOf): CapabilityClaims {
  const text = Buffer.from(bytes).toString('utf8');
  return openCapability(text, (kid) => (kid === kidOf(control_key) ? keyOf(control_key) : null)).root;
}

/** What this run is, as the executor knows it. */
export interface Expected {
  readonly now: Date;
  readonly audience: string;
  readonly intent_id: string;
  readonly intent_hash: string;
  readonly effect_digest: string;
  readonly attempt: number;
  readonly action: string;
  /** What the run would reach; `null` when the scope itself decides what it can reach. */
  readonly needs: ResourceScope | null;
  readonly facts: ExecutorFacts;
}

/** `denied`: the policies did not let it be issued, and the order ended with that. */
export type CapabilityStatus = 'ordered' | 'issued' | 'denied' | 'spent' | 'revoked';

/** Refuses what must not run, each for its own reason and always in this order. `status` is the ledger's word. */
export function requireUsable(
  { claims }: HeldCapability,
  expected: Expected,
  status: CapabilityStatus | null,
): void {
  if (status === null || status === 'ordered' || status === 'denied') refuse('CAPABILITY_UNKNOWN');
  if (claims.audience !== expected.audience) refuse('CAPABILITY_WRONG_AUDIENCE');
  if (!isSameIntent(claims, expected)) refuse('CAPABILITY_INTENT_CHANGED');
  if (status === 'revoked') refuse('CAPABILITY_REVOKED');
  if (status === 'spent') refuse('CAPABILITY_USED');
  requireTime(claims, expected.now);
  if (claims.action !== expected.action) refuse('CAPABILITY_WRONG_ACTION');
  if (expected.needs !== null && !isScopeWithin(expected.needs, claims.scope))
    refuse('CAPABILITY_OUT_OF_SCOPE');
  const unmet = unmetCondition(claims.conditions, expected.facts);
  if (unmet !== null) refuse('CAPABILITY_CONDITION_UNMET', unmet);
}

type Bound = Pick<Expected, 'intent_id' | 'intent_hash' | 'effect_digest' | 'attempt'>;

function isSameIntent(claims: Bound, expected: Bound): boolean {
  return (
    claims.intent_id === expected.intent_id &&
    claims.intent_hash === expected.intent_hash &&
    claims.effect_digest === expected.effect_digest &&
    claims.attempt === expected.attempt
  );
}

/** Negated comparisons: a clock that gives no time at all is refused. */
function requireTime({ issued_at, conditions, expires_at }: HeldCapability['claims'], now: Date): void {
  const now_ms = now.getTime();
  // The issuer's clock may be a little fast. A condition that a human named is exact.
  if (!(now_ms + limits.clock_skew_ms >= Date.parse(issued_at)))
    refuse('CAPABILITY_NOT_YET', `It begins at ${issued_at}.`);
  const { not_before } = conditions;
  if (not_before !== undefined && !(now_ms >= Date.parse(not_before)))
    refuse('CAPABILITY_NOT_YET', `It begins at ${not_before}.`);
  if (!(now_ms < Date.parse(expires_at))) refuse('CAPABILITY_EXPIRED', `It ended at ${expires_at}.`);
}
