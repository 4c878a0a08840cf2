export { sha256 } from './primitive.ts';

/** A SHA-256 digest as 64 lower-case hexadecimal characters. */
export type Digest = string;

const DIGEST = /^[0-9a-f]{64}$/;

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text);
}
