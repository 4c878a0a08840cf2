import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSignedBy } from '../../src/canonical/primitive.ts';
import { isMadeHere, signEd25519 } from '../../src/canonical/sign.ts';
import { limits } from '../../src/limits.ts';

const ours = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const bytes = Buffer.from('what is signed');

function changed(from: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(from);
  copy[at]! ^= 1;
  return copy;
}

describe('a signature that this process made', () => {
  const signature = signEd25519(bytes, ours.privateKey);

  it('is the one of Ed25519, and is known to be made here', () => {
    expect(signature).toEqual(sign(null, bytes, ours.privateKey));
    expect(isMadeHere(bytes, signature, ours.publicKey)).toBe(true);
    expect(isSignedBy('EdDSA', ours.publicKey, bytes, signature)).toBe(true);
  });

  it.each([
    ['other bytes', changed(bytes, 0), signature, ours.publicKey],
    ['bytes that go on', Buffer.concat([bytes, Buffer.of(0)]), signature, ours.publicKey],
    ['a changed signature', bytes, changed(signature, 0), ours.publicKey],
    ['a changed end of the signature', bytes, changed(signature, 63), ours.publicKey],
    ['a cut signature', bytes, signature.subarray(0, 63), ours.publicKey],
    ['another key', bytes, signature, other.publicKey],
  ])('says nothing for %s, which is verified and refused', (_, signed, shown, key) => {
    expect(isMadeHere(signed, shown, key)).toBe(false);
    expect(isSignedBy('EdDSA', key, signed, shown)).toBe(false);
  });

  it('is verified like any other once it is forgotten, and one from elsewhere always is', () => {
    const first = signEd25519(bytes, other.privateKey);
    for (let n = 0; n <= limits.remembered_signatures; n++) signEd25519(Buffer.from(`${n}`), ours.privateKey);
    const elsewhere = Buffer.from('signed by another process');
    const theirs = sign(null, elsewhere, other.privateKey);
    for (const [signed, shown] of [
      [bytes, first],
      [elsewhere, theirs],
    ] as const) {
      expect(isMadeHere(signed, shown, other.publicKey)).toBe(false);
      expect(isSignedBy('EdDSA', other.publicKey, signed, shown)).toBe(true);
    }
  });
});
