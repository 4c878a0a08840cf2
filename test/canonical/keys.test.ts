import { describe, expect, it } from 'vitest';
import { isDigest, sha256 } from '../../src/canonical/digest.ts';
import {
  generateKeyPair,
  keyPairFromSeed,
  privateKeyOf,
  publicKeyOf,
  sign,
  verifyEd25519,
} from '../../src/canonical/ed25519.ts';
import { isUuid } from '../../src/canonical/uuid.ts';
import { expectRefusal } from '../support/refusal.ts';

// RFC 8032 section 7.1, test 1: the empty message.
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const PUBLIC = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
const SIGNATURE = Buffer.from(
  'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  'hex',
);

describe('Ed25519', () => {
  it('derives the key and the signature of RFC 8032', () => {
    expect(keyPairFromSeed(SEED).public_key).toBe(PUBLIC.toString('base64'));
    expect(sign(Buffer.alloc(0), privateKeyOf(SEED))).toBe(SIGNATURE.toString('base64'));
  });

  it('verifies what it signed, and nothing else', () => {
    const { seed, public_key } = generateKeyPair();
    const key = publicKeyOf(public_key);
    const signature = sign(Buffer.from('yes'), privateKeyOf(seed));
    expect(verifyEd25519(Buffer.from('yes'), signature, key)).toBe(true);
    expect(verifyEd25519(Buffer.from('no'), signature, key)).toBe(false);
    expect(verifyEd25519(Buffer.from('yes'), signature, publicKeyOf(generateKeyPair().public_key))).toBe(
      false,
    );
  });

  it('finds every flipped bit of a signature', () => {
    const key = publicKeyOf(PUBLIC.toString('base64'));
    for (let bit = 0; bit < 512; bit++) {
      const bad = Buffer.from(SIGNATURE);
      bad[bit >> 3]! ^= 1 << (bit & 7);
      expect(verifyEd25519(Buffer.alloc(0), bad.toString('base64'), key)).toBe(false);
    }
  });

  it('refuses a second written form of a good signature', () => {
    const key = publicKeyOf(PUBLIC.toString('base64'));
    const good = SIGNATURE.toString('base64');
    expect(verifyEd25519(Buffer.alloc(0), good, key)).toBe(true);
    for (const other of [
      good.replace(/=+$/, ''),
      `${good}\n`,
      ` ${good}`,
      SIGNATURE.toString('base64url'),
      good.replace(/.==$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}==`),
    ])
      expect(verifyEd25519(Buffer.alloc(0), other, key)).toBe(false);
  });

  it('refuses a public key that is short, long, or written in a second form', async () => {
    const good = PUBLIC.toString('base64');
    for (const bad of [
      '',
      good.slice(0, -1),
      `${good} `,
      Buffer.alloc(33).toString('base64'),
      'x'.repeat(44),
    ])
      await expectRefusal('SIGNATURE_INVALID', () => publicKeyOf(bad));
  });

  it('refuses a private key that is not 32 bytes', async () => {
    await expectRefusal('KEY_FILE_INVALID', () => keyPairFromSeed(Buffer.alloc(31)));
    await expectRefusal('KEY_FILE_INVALID', () => privateKeyOf(Buffer.alloc(33)));
  });
});

describe('digests', () => {
  it('are SHA-256 in lower-case hexadecimal', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256(Buffer.from('abc'))).toBe(sha256('abc'));
  });

  it('have one form', () => {
    expect(isDigest(sha256(''))).toBe(true);
    for (const bad of [
      sha256('').toUpperCase(),
      sha256('').slice(1),
      `${sha256('')}\n`,
      `0x${sha256('')}`,
      '',
    ])
      expect(isDigest(bad)).toBe(false);
  });
});

describe('ids', () => {
  it('are lower-case UUIDs and are never normalised', () => {
    const id = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';
    expect(isUuid(id)).toBe(true);
    for (const bad of [
      id.toUpperCase(),
      ` ${id}`,
      `${id}\n`,
      `{${id}}`,
      id.replaceAll('-', ''),
      id.slice(1),
      '',
    ])
      expect(isUuid(bad)).toBe(false);
  });
});
