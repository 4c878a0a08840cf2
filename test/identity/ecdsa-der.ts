/** The DER of an ECDSA signature over P-256, taken apart and put together in good and bad ways. */

/** The order of P-256. */
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

export function integer(value: bigint | Uint8Array): Buffer {
  if (typeof value !== 'bigint') return Buffer.concat([Buffer.from([2, value.length]), value]);
  const hex = value.toString(16);
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return integer(digits[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  const inside = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x30, inside.length]), inside]);
}

export interface Pair {
  readonly r: bigint;
  readonly s: bigint;
  readonly r_bytes: Buffer;
  readonly s_bytes: Buffer;
}

export function pairOf(der: Buffer): Pair {
  const r_bytes = der.subarray(4, 4 + der[3]!);
  const s_bytes = der.subarray(6 + der[3]!);
  const [r, s] = [r_bytes, s_bytes].map((bytes) => BigInt(`0x${bytes.toString('hex')}`)) as [bigint, bigint];
  return { r, s, r_bytes, s_bytes };
}

/** The other signature of the same bytes. */
export function withHighS(der: Buffer): Buffer {
  const { r, s } = pairOf(der);
  return sequence(integer(r), integer(ORDER - s));
}

const ZERO = Buffer.of(0);

/** The same two numbers in a form that DER does not have. */
export function looseForm(der: Buffer, way: number): Buffer {
  const { r, s, r_bytes, s_bytes } = pairOf(der);
  if (way === 0) return sequence(integer(Buffer.concat([ZERO, r_bytes])), integer(s));
  if (way === 1) return sequence(integer(r), integer(Buffer.concat([ZERO, s_bytes])));
  if (way === 2) return Buffer.concat([Buffer.from([0x30, 0x81]), der.subarray(1)]);
  return sequence(integer(r), integer(s), ZERO);
}
