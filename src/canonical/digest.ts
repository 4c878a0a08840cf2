import { hash } from 'node:crypto';

/** A SHA-256 digest as 64 lower-case hexadecimal characters. */
export type Digest = string;

const DIGEST = /^[0-9a-f]{64}$/;

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text);
}

export function sha256(bytes: Uint8Array | string): Digest {
  return hash('sha256', bytes, 'hex');
}
