import type { Digest } from './digest.ts';

/** Crockford's alphabet: no I, L, O and U, which are read as others. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BITS = 80;

/** The first 80 bits of a digest, for a person to read and compare: such as `7ZZC-0V4N-8HQK-2M1D`. */
export function codeOf(digest: Digest): string {
  const bits = BigInt(`0x${digest.slice(0, BITS / 4)}`);
  const letters = Array.from(
    { length: BITS / 5 },
    (_, i) => LETTERS[Number((bits >> BigInt(BITS - 5 * (i + 1))) & 31n)],
  );
  return letters.join('').replace(/.{4}(?!$)/g, '$&-');
}

/** How many characters of a code a person types: enough to show that they read it. */
export const CODE_TYPED = 6;

/** Whether this is the beginning of the code, as a person types it: case, hyphens, spaces and letters that look alike do not count. */
export function beginsCode(typed: string, digest: Digest): boolean {
  const plain = typed
    .toUpperCase()
    .replace(/[\s-]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
    .replaceAll('U', 'V');
  return plain.length >= CODE_TYPED && codeOf(digest).replaceAll('-', '').startsWith(plain);
}
