import { sha256 } from '../canonical/digest.ts';
import type { PublicKey } from '../canonical/ed25519.ts';
import { capabilityLimits } from '../limits.ts';
import { attenuationSchema, narrowed, openChain } from './chain.ts';
import { type Conditions, joinedConditions } from './conditions.ts';
import { malformed, signJws } from './jws.ts';
import { cnfOf, kidOf } from './key.ts';
import { type Holder, unproven } from './proof.ts';
import { canonicalScope, type ResourceScope } from './scope.ts';
import {
  authorizationFor,
  type CapabilityClaims,
  requirePlain,
  secondOf,
  secondsOf,
  shaped,
} from './token.ts';

/** What shall be less. What is not named stays as it is. */
export interface Narrower {
  readonly expires_at?: string | undefined;
  readonly scope?: ResourceScope | undefined;
  /** Added to the conditions that are there. */
  readonly conditions?: Conditions | undefined;
  /** Who shall present it. Without one it stays with its holder. */
  readonly holder?: PublicKey | undefined;
}

/**
 * The same capability, narrower, for another holder: signed by its holder, without the control plane. It is checked here
 * so that a mistake is found early, and again when it is opened, because a holder may sign without asking us.
 */
export function attenuate(text: string, holder: Holder, narrower: Narrower, now: Date): string {
  const { claims, depth } = openChain(text, null);
  if (claims.holder === null) unproven('it is bound to no key, so it cannot be made narrower');
  if (claims.holder !== holder.public_key) unproven('this is not the key that it is bound to');
  if (depth + 1 >= capabilityLimits.blocks)
    malformed(`it would have more than ${capabilityLimits.blocks} blocks`);
  const block = { prev: sha256(text), ...blockFor(claims, narrower, now) };
  requirePlain(block);
  narrowed(claims, shaped(attenuationSchema, block));
  const jws = signJws('keyturn-attenuation+jwt', kidOf(holder.public_key), block, holder.key);
  if (
    jws.length > capabilityLimits.block_chars ||
    text.length + 1 + jws.length > capabilityLimits.chain_chars
  )
    malformed(`it would have more than ${capabilityLimits.chain_chars} characters`);
  return `${text}~${jws}`;
}

function blockFor(claims: CapabilityClaims, narrower: Narrower, now: Date) {
  const { action, tool_category } = claims;
  const scope = narrower.scope ? canonicalScope(narrower.scope) : claims.scope;
  const conditions = joinedConditions(claims.conditions, narrower.conditions ?? {});
  return {
    jti: claims.jti,
    iat: secondsOf(secondOf(now)),
    exp: secondsOf(narrower.expires_at ?? claims.expires_at),
    authorization_details: authorizationFor({ action, tool_category, scope, conditions }),
    ...(narrower.holder === undefined ? {} : { cnf: cnfOf(narrower.holder) }),
  };
}
