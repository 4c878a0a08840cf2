import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
} from 'node:crypto';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { importKey, isSignedBy, type PlatformKey } from './primitive.ts';
import { Recent } from './recent.ts';

/** Ed25519 keys as their raw 32 bytes in base64: short to print, easy to compare, one form only. */
export type PublicKey = string;
export type Seed = Uint8Array;

export interface KeyPair {
  readonly public_key: PublicKey;
  readonly seed: Seed;
}

// The fixed DER prefixes of RFC 8410 turn raw keys into what node:crypto reads.
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

export function generateKeyPair(): KeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return keyPairFromSeed(der.subarray(PKCS8.length));
}

export function keyPairFromSeed(seed: Seed): KeyPair {
  return { public_key: publicPartOf(privateKeyOf(seed)), seed };
}

export function publicPartOf(key: KeyObject): PublicKey {
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return der.subarray(SPKI.length).toString('base64');
}

export function privateKeyOf(seed: Seed): KeyObject {
  if (seed.length !== 32) refuse('KEY_FILE_INVALID', 'A private key has 32 bytes.');
  const der = Buffer.concat([PKCS8, seed]);
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    der.fill(0); // a second copy of the secret, which the caller could not clear
  }
}

export function publicKeyOf(key: PublicKey): PlatformKey {
  const raw = Buffer.from(key, 'base64');
  if (raw.length !== 32 || raw.toString('base64') !== key)
    refuse('SIGNATURE_INVALID', 'The public key is malformed.');
  return importKey('EdDSA', { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') });
}

/** `publicKeyOf`, or one that remembers. */
export interface KeyOf {
  (key: PublicKey): PlatformKey;
  /** Signatures that stand in several entries, and were verified in one of them. */
  readonly verified?: Recent<string, true>;
}

/** Imports each key once: to import it takes nearly as long as to verify a signature with it. */
export function rememberedKeys(): KeyOf {
  const known = new Recent<PublicKey, PlatformKey>(limits.remembered_keys);
  const imported = (key: PublicKey) => {
    const found = known.get(key) ?? publicKeyOf(key);
    known.set(key, found);
    return found;
  };
  return Object.assign(imported, { verified: new Recent<string, true>(limits.remembered_keys) });
}

/** Signs bytes; the signature is base64. */
export function sign(bytes: Uint8Array, key: KeyObject): string {
  return signBytes(null, bytes, key).toString('base64');
}

/** False for a signature that is wrong, malformed, or written in a second base64 form. */
export function verifyEd25519(bytes: Uint8Array, signature: string, key: PlatformKey): boolean {
  const raw = Buffer.from(signature, 'base64');
  if (raw.length !== 64 || raw.toString('base64') !== signature) return false;
  return isSignedBy('EdDSA', key, bytes, raw);
}
