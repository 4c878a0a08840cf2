import { DIGEST_FORM } from './form.ts';

export { sha256 } from './primitive.ts';

/** A SHA-256 digest as 64 lower-case hexadecimal characters. */
export type Digest = string;

export function isDigest(text: string): text is Digest {
  return DIGEST_FORM.test(text);
}

/** A digest, or at least its first 4 characters: fewer are typed by mistake. */
export function isDigestBeginning(text: string): boolean {
  return /^[0-9a-f]{4,64}$/.test(text);
}
