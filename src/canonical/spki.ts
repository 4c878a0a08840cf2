/**
 * Public keys of authenticators: SPKI in DER, as base64. Only P-256, Ed25519 and RSA of 2048 to 4096 bits with the exponent
 * 65537 are taken, each in the one form that its bytes can have. So no ASN.1 is parsed, and one key has one text.
 */
export type SpkiAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

const P256 = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex');
const ED25519 = Buffer.from('302a300506032b6570032100', 'hex');
const RSA_OID = Buffer.from('300d06092a864886f70d0101010500', 'hex');
const RSA_EXPONENT = Buffer.from('0203010001', 'hex');
/** What stands before the modulus of an RSA key. Every length in it takes two bytes. */
const RSA_PREFIX_BYTES = 33;
const RSA_MODULUS_BYTES = { least: 256, most: 512 };

/** Which algorithm a key is for; null for any other key, and for a second form of the same. */
export function spkiAlgorithm(public_key: string): SpkiAlgorithm | null {
  const der = Buffer.from(public_key, 'base64');
  if (der.toString('base64') !== public_key) return null;
  if (der.length === P256.length + 64 && startsWith(der, P256)) return 'ES256';
  if (der.length === ED25519.length + 32 && startsWith(der, ED25519)) return 'EdDSA';
  return isRsa(der) ? 'RS256' : null;
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.subarray(0, prefix.length).equals(prefix);
}

/** A modulus has its highest bit set, so DER writes a zero byte before it, which counts to its length. */
function isRsa(der: Buffer): boolean {
  const modulus_bytes = der.length - RSA_PREFIX_BYTES - RSA_EXPONENT.length;
  if (modulus_bytes < RSA_MODULUS_BYTES.least || modulus_bytes > RSA_MODULUS_BYTES.most) return false;
  const prefix = rsaPrefix(modulus_bytes + 1);
  return (
    startsWith(der, prefix) &&
    der[prefix.length]! >= 0x80 &&
    der.subarray(-RSA_EXPONENT.length).equals(RSA_EXPONENT)
  );
}

function rsaPrefix(integer_bytes: number): Buffer {
  const header = (tag: number, bytes: number) => Buffer.from([tag, 0x82, bytes >> 8, bytes & 0xff]);
  const pair = integer_bytes + 4 + RSA_EXPONENT.length;
  const outer = header(0x30, RSA_OID.length + 4 + 1 + 4 + pair);
  const bits = header(0x03, 1 + 4 + pair);
  const zero = Buffer.of(0);
  return Buffer.concat([outer, RSA_OID, bits, zero, header(0x30, pair), header(0x02, integer_bytes), zero]);
}

/** One text for one key: an Ed25519 key has its raw form, also where its SPKI is meant. */
export function rawKeyOf(public_key: string): string {
  const is_ed25519 = spkiAlgorithm(public_key) === 'EdDSA';
  return is_ed25519 ? Buffer.from(public_key, 'base64').toString('base64', ED25519.length) : public_key;
}

/** The same key as a JWK, for node:crypto and for WebCrypto. `public_key` was recognised before. */
export function spkiJwk(algorithm: SpkiAlgorithm, public_key: string): Record<string, string> {
  const der = Buffer.from(public_key, 'base64');
  const text = (from: number, to = der.length) => der.toString('base64url', from, to);
  if (algorithm === 'EdDSA') return { kty: 'OKP', crv: 'Ed25519', x: text(ED25519.length) };
  if (algorithm === 'RS256')
    return { kty: 'RSA', n: text(RSA_PREFIX_BYTES, der.length - RSA_EXPONENT.length), e: 'AQAB' };
  const middle = P256.length + 32;
  return { kty: 'EC', crv: 'P-256', x: text(P256.length, middle), y: text(middle) };
}

/**
 * r and s, 32 bytes each, from `SEQUENCE { INTEGER r, INTEGER s }` in strict DER; null for any other bytes. A high s is
 * good: authenticators do not choose the low one, and a signature identifies nothing here.
 */
export function ecdsaPair(der: Uint8Array): Uint8Array | null {
  const pair = new Uint8Array(64);
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  let at = 2;
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0;
    const integer = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== 0x02 || !isPositive(integer)) return null;
    const digits = integer[0] === 0 ? integer.subarray(1) : integer;
    if (digits.length > 32) return null;
    pair.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? pair : null;
}

/** DER writes a leading zero byte where the number would be negative without it, and nowhere else. */
function isPositive(integer: Uint8Array): boolean {
  const [first, second] = integer;
  if (first === undefined || first >= 0x80) return false;
  return first !== 0 || (second !== undefined && second >= 0x80);
}
