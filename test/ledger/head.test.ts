import { describe, expect, it } from 'vitest';
import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import { keyFingerprint, openHead, requireKey, signHead } from '../../src/ledger/head.ts';
import { EMPTY_ROOT } from '../../src/ledger/merkle.ts';
import { formatVerifierKey, signNote } from '../../src/ledger/note.ts';
import { expectRefusal } from '../support/refusal.ts';
import { FINGERPRINT, headOf, KEY, ORIGIN, OTHER_SEED, SEED, sampleLedger } from './sample.ts';

const HEAD = headOf(sampleLedger(3));

describe('a head', () => {
  it('comes back from its signed text', () => {
    for (const head of [HEAD, { ...HEAD, size: 0, root: EMPTY_ROOT }, { ...HEAD, size: 2 ** 53 - 1 }])
      expect(openHead(signHead(head, SEED), KEY)).toEqual(head);
  });

  it('is a checkpoint of three lines', () => {
    const root = Buffer.from(HEAD.root, 'hex').toString('base64');
    expect(signHead(HEAD, SEED).startsWith(`${ORIGIN}\n3\n${root}\n\n— ${ORIGIN} `)).toBe(true);
  });

  it('by another key is refused', async () => {
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => openHead(signHead(HEAD, OTHER_SEED), KEY));
  });

  it('of another ledger with the same key is refused', async () => {
    const other = signHead({ ...HEAD, origin: 'other.example' }, SEED);
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => openHead(other, KEY));
    const posing = signNote(`other.example\n0\n${Buffer.alloc(32).toString('base64')}\n`, ORIGIN, SEED);
    await expectRefusal('HEAD_MALFORMED', () => openHead(posing, KEY));
  });

  const root = Buffer.from(HEAD.root, 'hex').toString('base64');
  it.each([
    ['a leading zero', `${ORIGIN}\n03\n${root}\n`],
    ['a sign', `${ORIGIN}\n+3\n${root}\n`],
    ['an exponent', `${ORIGIN}\n3e2\n${root}\n`],
    ['a size that is not exact', `${ORIGIN}\n9007199254740993\n${root}\n`],
    ['a size that is too long', `${ORIGIN}\n10000000000000000\n${root}\n`],
    ['an extension line', `${ORIGIN}\n3\n${root}\nmore\n`],
    ['no root', `${ORIGIN}\n3\n`],
    ['a short root', `${ORIGIN}\n3\n${Buffer.alloc(31).toString('base64')}\n`],
    ['spare bits in the root', `${ORIGIN}\n3\n${root.slice(0, -2)}${root.at(-2) === 'B' ? 'C' : 'B'}=\n`],
    ['an empty origin', `\n3\n${root}\n`],
  ])('with %s is refused although its key signed it', async (_name, text) => {
    await expectRefusal('HEAD_MALFORMED', () => openHead(signNote(text, ORIGIN, SEED), KEY));
  });

  it('is not signed when it cannot be read back', async () => {
    for (const bad of [{ size: -1 }, { size: 0.5 }, { size: 2 ** 53 }, { root: 'ab' }, { origin: 'a b' }])
      await expectRefusal('HEAD_MALFORMED', () => signHead({ ...HEAD, ...bad }, SEED));
  });
});

describe('the key that the auditor names', () => {
  it('fits by fingerprint and by verifier key', () => {
    expect(FINGERPRINT).toMatch(/^sha256:[0-9a-f]{64}$/);
    requireKey(KEY, FINGERPRINT);
    requireKey(KEY, formatVerifierKey(KEY));
  });

  it('refuses every other text', async () => {
    const other = keyFingerprint(keyPairFromSeed(OTHER_SEED).public_key);
    for (const text of ['', other, FINGERPRINT.toUpperCase(), FINGERPRINT.slice(7), KEY.public_key, ORIGIN])
      await expectRefusal('HEAD_SIGNATURE_INVALID', () => requireKey(KEY, text));
  });
});
