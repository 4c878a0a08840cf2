import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import { sha256 } from '../canonical/digest.ts';
import { type PublicKey, publicKeyOf } from '../canonical/ed25519.ts';
import { DIGEST_FORM } from '../canonical/form.ts';
import { capabilityLimits, limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { OpenedCapability } from './chain.ts';
import { payloadOf, readJws, signJws, verifyJws } from './jws.ts';
import { kidOf } from './key.ts';
import { rootSchema, shaped } from './token.ts';

/** The key that a capability is bound to. */
export interface Holder {
  readonly key: KeyObject;
  readonly public_key: PublicKey;
}

/** Where and when a capability is presented. */
export interface Presentation {
  readonly audience: string;
  readonly now: Date;
}

/**
 * A capability that its holder presents. The bearer of a chain can cut it back to the wider block before, which opens:
 * only the proof tells a sub-agent from the holder of that block. So nothing is usable before this was asked.
 */
export interface HeldCapability extends OpenedCapability {
  readonly presented_by_holder: true;
}

const { aud, iat } = rootSchema.shape;
const proofSchema = z.strictObject({
  aud,
  iat,
  chain: z.string().regex(DIGEST_FORM, 'is not a digest'),
});

/** The holder's word that it presents exactly this text to this audience now. */
export function proveHolder(text: string, holder: Holder, { audience, now }: Presentation): string {
  const claims = { aud: audience, iat: Math.floor(now.getTime() / 1000), chain: sha256(text) };
  return signJws('keyturn-proof+jwt', kidOf(holder.public_key), claims, holder.key);
}

export function requireHolder(
  opened: OpenedCapability,
  proof: string | null,
  presentation: Presentation,
): HeldCapability {
  const { holder } = opened.claims;
  if (holder !== null) requireProof(opened, holder, proof ?? unproven('no proof was given'), presentation);
  return { presented_by_holder: true, ...opened };
}

function requireProof(
  { digest }: OpenedCapability,
  holder: PublicKey,
  proof: string,
  { audience, now }: Presentation,
): void {
  const claims = openProof(proof, holder);
  if (claims.chain !== digest) unproven('the proof is for another capability');
  if (claims.aud !== audience) unproven('the proof is for another executor');
  const age_ms = now.getTime() - claims.iat * 1000;
  if (!(age_ms <= capabilityLimits.proof_age_ms)) unproven('the proof is too old');
  if (!(age_ms >= -limits.clock_skew_ms)) unproven('the proof is from the future');
}

/** Whatever is wrong with a proof, the capability is not proven; it is not the capability that is wrong. */
function openProof(proof: string, holder: PublicKey): z.infer<typeof proofSchema> {
  try {
    const jws = readJws(proof, 'keyturn-proof+jwt');
    if (jws.kid !== kidOf(holder)) unproven('the proof is by another key');
    verifyJws(jws, publicKeyOf(holder));
    return shaped(proofSchema, payloadOf(jws));
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'CAPABILITY_HOLDER_UNPROVEN') throw error;
    return unproven(`the proof does not hold (${error.code})`);
  }
}

export function unproven(what: string): never {
  return refuse('CAPABILITY_HOLDER_UNPROVEN', `Its holder is not proven: ${what}.`);
}
