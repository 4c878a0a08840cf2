import { refuse } from '../refusal.ts';
import { importKey, isSignedBy, type PlatformKey } from './primitive.ts';
import { ecdsaPair, type SpkiAlgorithm, spkiAlgorithm, spkiJwk } from './spki.ts';

/** The key of an authenticator. */
export interface VerifyingKey {
  readonly algorithm: SpkiAlgorithm;
  readonly key: PlatformKey;
}

export function openPublicKey(public_key: string): VerifyingKey {
  const algorithm = spkiAlgorithm(public_key);
  if (algorithm === null) refuse('SIGNATURE_INVALID', 'The public key is malformed.');
  try {
    return { algorithm, key: importKey(algorithm, spkiJwk(algorithm, public_key)) };
  } catch {
    refuse('SIGNATURE_INVALID', 'The public key is no point of its curve.');
  }
}

/** Opens each key once: opening P-256 takes as long as a verification. For one batch; at most `most` keys are kept. */
export function keptKeys(most = 1000): (public_key: string) => VerifyingKey {
  const kept = new Map<string, VerifyingKey>();
  return (public_key) => {
    const found = kept.get(public_key);
    if (found !== undefined) return found;
    const opened = openPublicKey(public_key);
    if (kept.size >= most) kept.clear();
    kept.set(public_key, opened);
    return opened;
  };
}

/** Authenticators write ECDSA signatures in DER. */
export function verifySignature(
  { algorithm, key }: VerifyingKey,
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  const raw = algorithm === 'ES256' ? ecdsaPair(signature) : signature;
  return raw !== null && isSignedBy(algorithm, key, bytes, raw);
}
