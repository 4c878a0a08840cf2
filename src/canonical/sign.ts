import { createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { limits } from '../limits.ts';
import { Recent } from './recent.ts';

/**
 * What this process signed last, by bytes and signature, with the public key. To verify such a signature takes twice as long as to make
 * it, and a commit mostly brings signatures that were made a moment ago in the same process. Other bytes, another signature and another
 * key are not found here, and are verified.
 */
const made = /* @__PURE__ */ new Recent<string, KeyObject>(limits.remembered_signatures);
const public_keys = /* @__PURE__ */ new WeakMap<KeyObject, KeyObject>();

/** An Ed25519 signature. */
export function signEd25519(bytes: Uint8Array, key: KeyObject): Buffer {
  const signature = sign(null, bytes, key);
  const public_key = public_keys.get(key) ?? createPublicKey(key);
  public_keys.set(key, public_key);
  made.set(nameOf(bytes, signature), public_key);
  return signature;
}

/** Whether this very signature of these bytes was made here with the private part of this key. False says nothing about it. */
export function isMadeHere(bytes: Uint8Array, signature: Uint8Array, key: KeyObject): boolean {
  return made.get(nameOf(bytes, signature))?.equals(key) ?? false;
}

function nameOf(bytes: Uint8Array, signature: Uint8Array): string {
  return `${hash('sha256', bytes, 'base64')} ${Buffer.from(signature).toString('base64')}`;
}
