export { sha256 } from './primitive.ts';

/** A SHA-256 digest as 64 lower-case hexadecimal characters. */
export type Digest = string;

const DIGEST = /^[0-9a-f]{64}$/;

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text);
}

/** A digest, or at least its first 4 characters: fewer are typed by mistake. */
export function isDigestBeginning(text: string): boolean {
  return /^[0-9a-f]{4,64}$/.test(text);
}
