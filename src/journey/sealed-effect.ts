import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytesOfParsed, parseJson } from '../canonical/json.ts';
import type { Effect } from './derived.ts';

/**
 * The bytes of an effect and their digest. The nonce of the envelope is part of them: a guessable argument cannot be
 * guessed back from the digest in the ledger once the bytes are erased.
 */
export function sealEffect(effect: Effect, nonce: string): { bytes: Uint8Array; digest: Digest } {
  const bytes = canonicalBytesOfParsed({ effect, nonce });
  return { bytes, digest: sha256(bytes) };
}

/** Reads an effect back. The store has checked the bytes against their digest, so they are what was sealed. */
export function openEffect(bytes: Uint8Array): Effect {
  return (parseJson(bytes, bytes.length) as unknown as { effect: Effect }).effect;
}
