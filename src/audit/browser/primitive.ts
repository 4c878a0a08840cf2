import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { bytesToNumberBE, bytesToNumberLE } from '@noble/curves/utils.js';
import { sha256 as hash256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { SpkiAlgorithm } from '../../canonical/spki.ts';
import { Buffer } from './buffer.ts';

/**
 * What `canonical/primitive.ts` is in Node, for a browser. Synchronous, because the fold is: WebCrypto only answers later. Every answer
 * is that of OpenSSL, also for keys and signatures that no honest signer makes; `test/audit/primitive.test.ts` holds both.
 */
type Jwk = Readonly<Record<string, string>>;

export type PlatformKey =
  | { readonly raw: Uint8Array }
  | { readonly point: Uint8Array }
  | { readonly modulus: bigint; readonly bytes: number };

export function sha256(bytes: Uint8Array | string): string {
  return bytesToHex(hash256(typeof bytes === 'string' ? utf8ToBytes(bytes) : bytes));
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** A page cannot ask. Here all values come from JSON.parse, which makes none. */
export function isProxy(_value: unknown): boolean {
  return false;
}

export function importKey(algorithm: SpkiAlgorithm, jwk: Jwk): PlatformKey {
  const part = (name: string): Uint8Array => Buffer.from(jwk[name] ?? '', 'base64url');
  if (algorithm === 'EdDSA') return { raw: part('x') };
  if (algorithm === 'RS256') return { modulus: bytesToNumberBE(part('n')), bytes: part('n').length };
  const point = concatBytes(Uint8Array.of(4), part('x'), part('y'));
  p256.Point.fromBytes(point).assertValidity();
  return { point };
}

export function isSignedBy(
  algorithm: SpkiAlgorithm,
  key: PlatformKey,
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    if ('raw' in key) return isEd25519(key.raw, bytes, signature);
    if ('point' in key) return p256.verify(signature, bytes, key.point, { lowS: false, format: 'compact' });
    return algorithm === 'RS256' && isRsa(key, bytes, signature);
  } catch {
    return false;
  }
}

/**
 * RFC 8032 without the cofactor, comparing bytes, as OpenSSL and BoringSSL do it. The library's own verification multiplies by the
 * cofactor, so it takes signatures of an adversary that a commit refuses.
 */
function isEd25519(key: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  const { Point } = ed25519;
  if (signature.length !== 64) return false;
  const r = signature.subarray(0, 32);
  const s = bytesToNumberLE(signature.subarray(32));
  if (s >= Point.Fn.ORDER) return false;
  const k = bytesToNumberLE(sha512(concatBytes(r, key, bytes))) % Point.Fn.ORDER;
  const minus_a = Point.fromBytes(key, true).negate();
  const expected = Point.BASE.multiplyUnsafe(s).add(minus_a.multiplyUnsafe(k)).toBytes();
  return expected.every((byte, i) => byte === r[i]);
}

const SHA256_INFO: Uint8Array = hexToBytes('3031300d060960864801650304020105000420');
const EXPONENT_SQUARES = 16;

/** RSASSA-PKCS1-v1_5 with the exponent 65537: the padded digest is written out and compared as a whole. */
function isRsa(
  { modulus, bytes: length }: { modulus: bigint; bytes: number },
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  const s = bytesToNumberBE(signature);
  // OpenSSL calculates with odd moduli only.
  if (signature.length !== length || s >= modulus || (modulus & 1n) === 0n) return false;
  let power = s;
  for (let i = 0; i < EXPONENT_SQUARES; i++) power = (power * power) % modulus;
  const digest = concatBytes(SHA256_INFO, hash256(bytes));
  const padding = new Uint8Array(length - digest.length - 3).fill(0xff);
  const padded = concatBytes(Uint8Array.of(0, 1), padding, Uint8Array.of(0), digest);
  return (power * s) % modulus === bytesToNumberBE(padded);
}
