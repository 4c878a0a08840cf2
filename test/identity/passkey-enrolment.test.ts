import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keptKeys, openPublicKey } from '../../src/canonical/authenticator-key.ts';
import * as shape from '../../src/event/shape.ts';
import { assuranceOf, HUMAN_ASSURANCE_LEVEL } from '../../src/identity/assurance.ts';
import { type Passkey, verifyAssertion } from '../../src/identity/passkey.ts';
import { verifyEnrolment } from '../../src/identity/passkey-enrolment.ts';
import { expectRefusal } from '../support/refusal.ts';
import { accept, enrolled, FLAGS, signedBy, softKey, touched, url } from './authenticator.ts';
import vectors from './passkey-vectors.json' with { type: 'json' };

const KEYS = [softKey('ES256'), softKey('EdDSA'), softKey('RS256')];
const ADA = KEYS[0]!;
const ACT = 'an act';

describe('the enrolment of a passkey', () => {
  const { challenge, registration } = vectors.passkeys[0]!;
  const asked = { challenge, rp_id: vectors.rp_id, origins: [vectors.origin], label: 'Laptop' };
  const data = Buffer.from(registration.authenticator_data, 'base64url');
  const client = JSON.parse(Buffer.from(registration.client_data, 'base64url').toString());
  const withFlags = (change: (flags: number) => number) => {
    const other = Buffer.from(data);
    other[32] = change(other[32]!);
    return { authenticator_data: url(other) };
  };
  const saying = (other: object) => ({ client_data: url(JSON.stringify({ ...client, ...other })) });

  it('keeps what the authenticator said', () => {
    expect(verifyEnrolment(registration, asked)).toEqual({
      credential_id: registration.credential_id,
      public_key: registration.public_key,
      rp_id: 'localhost',
      origins: [vectors.origin],
      can_sync: false,
      aaguid: '01020304-0506-0708-0102-030405060708',
      label: 'Laptop',
    });
  });

  it.each([
    ['a signature', saying({ type: 'webauthn.get' }), 'PASSKEY_INVALID'],
    ['another challenge', saying({ challenge: 'AAAA' }), 'PASSKEY_INVALID'],
    ['another port', saying({ origin: 'http://localhost:1' }), 'PASSKEY_ORIGIN'],
    ['a frame', saying({ crossOrigin: true }), 'PASSKEY_ORIGIN'],
    ['a page above', saying({ topOrigin: vectors.origin }), 'PASSKEY_ORIGIN'],
    [
      'another host',
      { authenticator_data: url(Buffer.concat([Buffer.alloc(32), data.subarray(32)])) },
      'PASSKEY_ORIGIN',
    ],
    ['no touch', withFlags((flags) => flags & ~FLAGS.UP), 'PASSKEY_UNVERIFIED'],
    ['no verified person', withFlags((flags) => flags & ~FLAGS.UV), 'PASSKEY_UNVERIFIED'],
    ['no credential', withFlags((flags) => flags & ~FLAGS.AT), 'PASSKEY_INVALID'],
    ['a synced key that cannot be', withFlags((flags) => flags | FLAGS.BS), 'PASSKEY_INVALID'],
    ['data that ends too soon', { authenticator_data: url(data.subarray(0, 60)) }, 'PASSKEY_INVALID'],
    ['data that ends at its header', { authenticator_data: url(data.subarray(0, 37)) }, 'PASSKEY_INVALID'],
    ['data without a header', { authenticator_data: url(data.subarray(0, 36)) }, 'PASSKEY_INVALID'],
    [
      'data of 5 KiB',
      { authenticator_data: url(Buffer.concat([data, Buffer.alloc(5000)])) },
      'PASSKEY_INVALID',
    ],
    ['another id', { credential_id: vectors.passkeys[1]!.registration.credential_id }, 'PASSKEY_INVALID'],
    ['an algorithm that is not its key', { algorithm: -257 }, 'PASSKEY_INVALID'],
    ['an unknown algorithm', { algorithm: -37 }, 'PASSKEY_INVALID'],
    ['a key that is none', { public_key: 'AAAA' }, 'PASSKEY_INVALID'],
    ['client data of 1 MB', saying({ padding: 'x'.repeat(1_000_000) }), 'INPUT_TOO_LARGE'],
  ] as const)('with %s is refused', async (_, other, code) => {
    await expectRefusal(code, () => verifyEnrolment({ ...registration, ...other }, asked));
  });

  it('is refused where the service itself asked for what no passkey can have', async () => {
    const bad = { ...asked, origins: [vectors.origin, 'http://evil.example'] };
    await expectRefusal('PASSKEY_INVALID', () => verifyEnrolment(registration, bad));
  });
});

describe('what is kept of a passkey', () => {
  const isKept = (other: Partial<Record<keyof Passkey, unknown>>) =>
    shape.passkey.safeParse({ ...enrolled(ADA), ...other }).success;
  const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).toString('base64');
  /** No key that signs: to make one of 4096 bits takes seconds, and what is judged is its form. */
  const rsa = (bits: number, exponent = 'AQAB') => {
    const modulus = randomBytes(bits / 8);
    modulus[0]! |= 0x80;
    const key = { kty: 'RSA', n: url(modulus), e: exponent };
    return spki(createPublicKey({ key, format: 'jwk' }));
  };

  it('holds a key for one of three algorithms, RSA with 2048 to 4096 bits and the usual exponent', () => {
    for (const key of KEYS) {
      expect(isKept({ public_key: key.public_key })).toBe(true);
      accept(ACT, enrolled(key), signedBy(key, touched(ACT)));
    }
    for (const public_key of [rsa(2048), rsa(3072), rsa(4096)]) {
      expect(isKept({ public_key })).toBe(true);
      expect(spki(openPublicKey(public_key).key)).toBe(public_key);
    }
    const others = [
      rsa(1024),
      rsa(2040),
      rsa(4104),
      rsa(2048, 'Aw'),
      rsa(2048, 'AQAD'),
      rsa(2048, 'AQABAQ'),
      spki(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey),
      spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey),
      spki(generateKeyPairSync('ed448').publicKey),
      spki(generateKeyPairSync('x25519').publicKey),
    ];
    for (const public_key of others) expect(isKept({ public_key })).toBe(false);
  });

  it('holds a key in its one form', () => {
    for (const { public_key } of KEYS) {
      const der = Buffer.from(public_key, 'base64');
      const others = [
        Buffer.concat([der, Buffer.of(0)]),
        der.subarray(0, -1),
        der.subarray(1),
        Buffer.alloc(0),
      ];
      for (const other of others) expect(isKept({ public_key: other.toString('base64') })).toBe(false);
      expect(isKept({ public_key: url(der) })).toBe(false);
      expect(isKept({ public_key: ` ${public_key}` })).toBe(false);
    }
  });

  it('holds no RSA key whose modulus is shorter than its bytes', () => {
    const der = Buffer.from(rsa(2048), 'base64');
    der[33]! &= 0x7f;
    expect(isKept({ public_key: der.toString('base64') })).toBe(false);
  });

  it('opens each key once in a batch, and keeps no more keys than it may', () => {
    const open = keptKeys(1);
    const first = open(ADA.public_key);
    expect(open(ADA.public_key)).toBe(first);
    open(KEYS[1]!.public_key);
    expect(open(ADA.public_key)).not.toBe(first);
  });

  it('a key that is no point of its curve verifies nothing', async () => {
    const off = Buffer.from(ADA.public_key, 'base64');
    off[60]! ^= 1;
    const public_key = off.toString('base64');
    await expectRefusal('SIGNATURE_INVALID', () =>
      accept(ACT, enrolled(ADA, { public_key }), signedBy(ADA, touched(ACT))),
    );
    await expectRefusal('SIGNATURE_INVALID', () =>
      verifyAssertion(Buffer.from(ACT), 'AAAA', signedBy(ADA, touched(ACT))),
    );
  });

  it.each([
    ['rp_id', ['localhost', 'keyturn.example', 'xn--bcher-kva.example', 'a.b-c.d1']],
    [
      'origins',
      [['https://a.example'], ['http://localhost'], ['http://localhost:4600', 'https://a.example:8443']],
    ],
    ['credential_id', ['AA', url(Buffer.alloc(1023))]],
    ['label', ['Laptop', 'Büro-Schlüssel', 'a'.repeat(64)]],
  ] as const)('takes a good %s', (member, values) => {
    for (const value of values) expect(isKept({ [member]: value }), JSON.stringify(value)).toBe(true);
  });

  it.each([
    [
      'rp_id',
      [
        '',
        '127.0.0.1',
        '[::1]',
        'Keyturn.example',
        'a..b',
        '-a.b',
        'a.b.',
        'a_b',
        `${'a'.repeat(64)}.b`,
        'https://a',
      ],
    ],
    [
      'origins',
      [
        [],
        ['http://a.example'],
        ['http://127.0.0.1:4600'],
        ['http://localhost.evil.example'],
        ['http://localhost:80'],
        ['https://a.example:443'],
        ['https://a.example/'],
        ['https://A.example'],
        ['https://user@a.example'],
        ['https://*.example'],
        ['https://10.0.0.1'],
        ['ftp://localhost'],
        ['null'],
        ['https://a.example', 'https://a.example'],
        Array.from({ length: 9 }, (_, i) => `https://a${i}.example`),
      ],
    ],
    ['credential_id', ['', 'A', 'AA==', url(Buffer.alloc(1024))]],
    ['aaguid', ['', 'AAAA', '01020304050607080102030405060708']],
    ['label', ['', 'a'.repeat(65), 'Lap\u202etop', 'a\nb', '\u001b[2J']],
    ['can_sync', [null, 'false', 1]],
  ] as const)('refuses a bad %s', (member, values) => {
    for (const value of values) expect(isKept({ [member]: value }), JSON.stringify(value)).toBe(false);
  });

  it('holds nothing else', () => {
    expect(shape.passkey.safeParse({ ...enrolled(ADA), counter: 1 }).success).toBe(false);
  });
});

describe('assurance', () => {
  it('follows from the credential: key file, synced passkey, passkey bound to a device', () => {
    const found = [null, enrolled(ADA, { can_sync: true }), enrolled(ADA)].map(assuranceOf);
    expect(found).toEqual(['key_file', 'synced_passkey', 'device_bound_passkey']);
    expect(found.map((each) => HUMAN_ASSURANCE_LEVEL[each])).toEqual([2, 3, 4]);
  });
});
