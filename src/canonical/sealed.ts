import { refuse } from '../refusal.ts';
import { type Digest, sha256 } from './digest.ts';

/**
 * Bytes behind a line with a random nonce. Two runs that print the same have two objects, so erasing one leaves the other;
 * and a short text cannot be guessed from its digest once it was erased.
 */
const HEADER = /^keyturn-sealed\/1 [A-Za-z0-9+/]{22}==\n$/;
const HEADER_BYTES: number = 'keyturn-sealed/1 \n'.length + 24;

export interface SealedBytes {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/** `nonce` is 16 random bytes as base64. */
export function sealBytes(content: Uint8Array, nonce: string): SealedBytes {
  const bytes = Buffer.concat([Buffer.from(`keyturn-sealed/1 ${nonce}\n`), content]);
  return { bytes, digest: sha256(bytes) };
}

export function openSealed(bytes: Uint8Array): Uint8Array {
  const header = Buffer.from(bytes.subarray(0, HEADER_BYTES)).toString('latin1');
  if (!HEADER.test(header)) refuse('SHAPE_INVALID', 'The object is not sealed.');
  return bytes.subarray(HEADER_BYTES);
}
