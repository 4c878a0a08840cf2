import { describe, expect, it } from 'vitest';
import { keptKeys } from '../../src/canonical/authenticator-key.ts';
import * as shape from '../../src/event/shape.ts';
import { verifyAssertion } from '../../src/identity/passkey.ts';
import { verifyEnrolment } from '../../src/identity/passkey-enrolment.ts';
import { expectRefusal } from '../support/refusal.ts';
import { accept, digestOf, enrolled, softKey } from './authenticator.ts';
import vectors from './passkey-vectors.json' with { type: 'json' };

/** `scripts/passkey-vectors.mjs` made the vectors, with Chromium and its virtual authenticator. */

const BOB = softKey('ES256');
const OTHER = 'another act';

describe('what a real browser signed', () => {
  const enrolments = new Map(
    vectors.passkeys
      .filter(({ name }) => name !== 'not verified')
      .map(({ name, challenge, registration }) => {
        const asked = { challenge, rp_id: vectors.rp_id, origins: [vectors.origin], label: name };
        return [name, shape.passkey.parse(verifyEnrolment(registration, asked))];
      }),
  );
  const each = vectors.assertions.map((one) => [`${one.passkey}, ${one.name}`, one] as const);
  const good = each.filter(([, { name }]) => /act/.test(name));
  const named = (text: string) => each.filter(([, { name }]) => name === text);

  it('covers three algorithms, synced and bound to a device', () => {
    expect([...enrolments].map(([name, { can_sync }]) => [name, can_sync])).toEqual([
      ['ES256 device-bound', false],
      ['ES256 synced', true],
      ['EdDSA device-bound', false],
      ['EdDSA synced', true],
      ['RS256 device-bound', false],
      ['RS256 synced', true],
    ]);
    expect(good).toHaveLength(6 * 5);
  });

  it.each(good)('%s: is accepted, alone and with a kept key', (_, { passkey, statement, assertion }) => {
    const kept = enrolments.get(passkey)!;
    const facts = accept(statement, kept, assertion);
    expect(facts).toMatchObject({ origin: vectors.origin, backup_eligible: kept.can_sync });
    const open = keptKeys(1);
    for (const _round of [1, 2])
      expect(verifyAssertion(Buffer.from(statement), kept.public_key, assertion, open)).toEqual(facts);
  });

  it.each(good)(
    '%s: says nothing about another act, key or list',
    async (_, { passkey, statement, assertion }) => {
      const kept = enrolments.get(passkey)!;
      await expectRefusal('SIGNATURE_INVALID', () => accept(`${statement} `, kept, assertion));
      await expectRefusal('SIGNATURE_INVALID', () => accept(statement, enrolled(BOB), assertion));
      const touch = assertion.touch ? assertion.touch.toReversed() : [digestOf(statement), digestOf(OTHER)];
      await expectRefusal('SIGNATURE_INVALID', () => accept(statement, kept, { ...assertion, touch }));
    },
  );

  it.each([
    ['not verified', 'PASSKEY_UNVERIFIED'],
    ['in a frame', 'PASSKEY_ORIGIN'],
    ['on another port', 'PASSKEY_ORIGIN'],
  ] as const)('%s: is refused with %s', async (name, code) => {
    expect(named(name)).toHaveLength(6);
    for (const [, { passkey, statement, assertion }] of named(name))
      await expectRefusal(code, () => accept(statement, enrolments.get(passkey)!, assertion));
  });

  it('a passkey that was made without verifying its person is not enrolled', async () => {
    const { challenge, registration } = vectors.passkeys.find(({ name }) => name === 'not verified')!;
    const asked = { challenge, rp_id: vectors.rp_id, origins: [vectors.origin], label: 'Phone' };
    await expectRefusal('PASSKEY_UNVERIFIED', () => verifyEnrolment(registration, asked));
  });
});
