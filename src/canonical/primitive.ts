import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import type { SpkiAlgorithm } from './spki.ts';

export { isUtf8 } from 'node:buffer';
export { isProxy } from 'node:util/types';

/**
 * All that verification asks of the platform. In a browser `audit/browser/primitive.ts` stands in place of this file; one table of
 * tests holds both to the same answers.
 */
export type PlatformKey = KeyObject;

export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex');
}

/** By JWK: OpenSSL takes longer to read DER than to verify a signature. Throws for a point that is not on its curve. */
export function importKey(_algorithm: SpkiAlgorithm, jwk: Readonly<Record<string, string>>): PlatformKey {
  return createPublicKey({ key: jwk, format: 'jwk' });
}

/** The bare verification, the only place where a signature of a human or of a passkey is verified. ES256 takes r and s, 32 bytes each. */
export function isSignedBy(
  algorithm: SpkiAlgorithm,
  key: PlatformKey,
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (algorithm === 'EdDSA') return verify(null, bytes, key, signature);
  if (algorithm === 'RS256') return verify('sha256', bytes, key, signature);
  return verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature);
}
