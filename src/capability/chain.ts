import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { publicKeyOf } from '../canonical/ed25519.ts';
import { DIGEST_FORM } from '../canonical/form.ts';
import { deepFrozen } from '../canonical/frozen.ts';
import { Recent } from '../canonical/recent.ts';
import { capabilityLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { narrowerConditions } from './conditions.ts';
import { malformed, payloadOf, readJws, verifyJws } from './jws.ts';
import { cnfSchema, holderOf, kidOf } from './key.ts';
import { isScopeWithin } from './scope.ts';
import {
  authorizationSchema,
  type CapabilityClaims,
  isoOf,
  rootClaims,
  rootSchema,
  shaped,
} from './token.ts';

/**
 * A chain is `jws~jws~…`. The control plane signs the first block. Each further one is signed by the holder of the
 * block before it, covers all text before it, and says the same or less. The attacker is such a holder: it signs what
 * it likes, so nothing in a further block is believed that is not within the block before.
 */

/** The public key of this name, imported once by the caller, or `null`. */
export type KeyLookup = (kid: string) => KeyObject | null;

/** A capability whose signatures verify. That it is genuine says nothing yet about who presents it, here and now. */
export interface OpenedCapability {
  readonly root: CapabilityClaims;
  /** What all blocks together allow. */
  readonly claims: CapabilityClaims;
  /** How many times it was made narrower. */
  readonly depth: number;
  /** Of the whole text: what was presented. */
  readonly digest: Digest;
}

const { jti, iat, exp } = rootSchema.shape;

export const attenuationSchema = z.strictObject({
  jti,
  /** The SHA-256 of the chain before this block. */
  prev: z.string().regex(DIGEST_FORM, 'is not a digest'),
  iat,
  exp,
  authorization_details: authorizationSchema,
  /** Without it the holder stays who it was. It never becomes null: that would be wider. */
  cnf: cnfSchema.optional(),
});

/** `keys` is `null` on the side of a holder, who need not know the control plane to make a capability narrower. */
export function openChain(text: string, keys: KeyLookup | null): OpenedCapability {
  const [first, ...further] = blocksOf(text);
  const root = openRoot(first!, keys);
  let claims = root;
  let end = first!.length;
  for (const block of further) {
    claims = openAttenuation(block, claims, text.slice(0, end));
    end += 1 + block.length;
  }
  return { root, claims, depth: further.length, digest: sha256(text) };
}

function blocksOf(text: string): string[] {
  if (typeof text !== 'string') malformed('it is no text');
  if (text.length > capabilityLimits.chain_chars)
    malformed(`it has more than ${capabilityLimits.chain_chars} characters`);
  const blocks = text.split('~', capabilityLimits.blocks + 1);
  if (blocks.length > capabilityLimits.blocks)
    malformed(`it has more than ${capabilityLimits.blocks} blocks`);
  return blocks;
}

/** A token is presented, and soon after it is part of the commit that claims it: the same text under the same key says the same. */
const verified = new Recent<
  string,
  { readonly kid: string; readonly key: KeyObject; readonly claims: CapabilityClaims }
>(capabilityLimits.remembered_tokens);

function openRoot(text: string, keys: KeyLookup | null): CapabilityClaims {
  const known = verified.get(text);
  const found = known && keys?.(known.kid);
  if (known && found?.equals(known.key)) return known.claims;
  const jws = readJws(text, 'keyturn-capability+jwt');
  if (keys === null) return rootClaims(payloadOf(jws));
  const key = keys(jws.kid) ?? refuse('CAPABILITY_KEY_UNKNOWN');
  verifyJws(jws, key);
  const claims = deepFrozen(rootClaims(payloadOf(jws)));
  verified.set(text, { kid: jws.kid, key, claims });
  return claims;
}

function openAttenuation(text: string, outer: CapabilityClaims, before: string): CapabilityClaims {
  const jws = readJws(text, 'keyturn-attenuation+jwt');
  if (outer.holder === null) refuse('CAPABILITY_FORGED', 'It has no holder who could have made it narrower.');
  if (jws.kid !== kidOf(outer.holder))
    refuse('CAPABILITY_FORGED', 'A block is not signed by the holder of the block before it.');
  verifyJws(jws, publicKeyOf(outer.holder));
  const block = shaped(attenuationSchema, payloadOf(jws));
  if (block.prev !== sha256(before)) refuse('CAPABILITY_FORGED', 'A block was signed for another chain.');
  return narrowed(outer, block);
}

/** What is left of `outer` under this block. Whatever it would add is refused, not ignored. */
export function narrowed(
  outer: CapabilityClaims,
  block: Omit<z.infer<typeof attenuationSchema>, 'prev'>,
): CapabilityClaims {
  const [{ action, tool_category, scope, conditions }] = block.authorization_details;
  const wider = (what: string) => refuse('CAPABILITY_WIDENED', `A block would change ${what}.`);
  if (block.jti !== outer.jti) wider('which capability it is');
  if (action !== outer.action || tool_category !== outer.tool_category) wider('the action');
  if (block.exp > Date.parse(outer.expires_at) / 1000) wider('the end to a later one');
  if (!isScopeWithin(scope, outer.scope)) wider('the scope to a wider one');
  if (!narrowerConditions(conditions, outer.conditions)) wider('or drop a condition');
  return {
    ...outer,
    scope,
    conditions,
    // A holder's clock may be behind. Its block does not begin before the one that it narrows.
    issued_at: isoOf(Math.max(block.iat, Date.parse(outer.issued_at) / 1000)),
    expires_at: isoOf(block.exp),
    holder: block.cnf ? holderOf(block.cnf) : outer.holder,
  };
}
