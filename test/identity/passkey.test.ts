import { describe, expect, it } from 'vitest';
import * as shape from '../../src/event/shape.ts';
import { challengeOf, type Passkey, verifyAssertion } from '../../src/identity/passkey.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  accept,
  digestOf,
  enrolled,
  FLAGS,
  ORIGIN,
  signedBy,
  softKey,
  touched,
  url,
  type Wish,
} from './authenticator.ts';
import { integer, ORDER, pairOf, sequence, withHighS } from './ecdsa-der.ts';

const KEYS = { ES256: softKey('ES256'), EdDSA: softKey('EdDSA'), RS256: softKey('RS256') };
const ADA = KEYS.ES256;
const BOB = softKey('ES256');
const ACT = 'an act in one project';
const OTHER = 'an act in another project';

const acceptAda = (wish: Wish, passkey = enrolled(ADA)) =>
  accept(ACT, passkey, signedBy(ADA, touched(ACT, wish)));

const refused = (code: ReasonCode, wish: Wish, passkey?: Passkey) =>
  expectRefusal(code, () => acceptAda(wish, passkey));

const isShaped = (answer: unknown) => shape.assertion.safeParse(answer).success;

describe('an assertion', () => {
  it.each(Object.values(KEYS))('by $algorithm is accepted, and says where it was made', (key) => {
    const facts = accept(ACT, enrolled(key), signedBy(key, touched(ACT, { counter: 4_294_967_295 })));
    expect(facts).toEqual({
      origin: ORIGIN,
      rp_id_hash: digestOf('keyturn.example'),
      backup_eligible: false,
      backup_state: false,
      counter: 4_294_967_295,
    });
  });

  it('is accepted with a counter that fell: it is told, not judged', () => {
    expect([9, 3, 0].map((counter) => acceptAda({ counter }).counter)).toEqual([9, 3, 0]);
  });

  it('is accepted without crossOrigin, with unknown members, and with spaces as it was signed', () => {
    acceptAda({ client: { crossOrigin: undefined, other_keys_can_be_added_here: { a: [1] } } });
    const touch = touched(ACT);
    const spaced = Buffer.from(JSON.stringify(JSON.parse(touch.client_data.toString()), null, 2));
    accept(ACT, enrolled(ADA), signedBy(ADA, { ...touch, client_data: spaced }));
  });

  it('written again, in other bytes with the same meaning, does not verify', async () => {
    const touch = touched(ACT);
    const spaced = Buffer.from(JSON.stringify(JSON.parse(touch.client_data.toString()), null, 1));
    const answer = { ...signedBy(ADA, touch), client_data: url(spaced) };
    await expectRefusal('SIGNATURE_INVALID', () => accept(ACT, enrolled(ADA), answer));
  });

  it('swapped between acts and people is refused', async () => {
    const of = (key: typeof ADA, statement: string) => signedBy(key, touched(statement));
    await expectRefusal('SIGNATURE_INVALID', () => accept(OTHER, enrolled(ADA), of(ADA, ACT)));
    await expectRefusal('SIGNATURE_INVALID', () => accept(ACT, enrolled(ADA), of(BOB, ACT)));
    for (const field of ['authenticator_data', 'client_data', 'signature'] as const) {
      const mixed = { ...of(ADA, ACT), [field]: signedBy(ADA, touched(OTHER, { counter: 8 }))[field] };
      await expectRefusal('SIGNATURE_INVALID', () => accept(ACT, enrolled(ADA), mixed));
    }
  });

  it.each([
    ['another port', { origins: ['https://keyturn.example:8444'] }],
    ['no port', { origins: ['https://keyturn.example'] }],
    ['another host name', { rp_id: 'example.com' }],
    ['a host name above', { rp_id: 'example' }],
  ])('for a passkey enrolled with %s is refused', async (_, other) => {
    await refused('PASSKEY_ORIGIN', {}, enrolled(ADA, other));
  });

  it.each([
    ['a frame of another page', { crossOrigin: true }],
    ['a frame, said by the page above alone', { topOrigin: ORIGIN }],
    ['a page above that is null', { topOrigin: null }],
    ['something that is not a plain no', { crossOrigin: 'false' }],
    ['nothing where a plain no belongs', { crossOrigin: null }],
    ['an origin in other letters', { origin: ORIGIN.toUpperCase() }],
    ['an origin with a slash', { origin: `${ORIGIN}/` }],
    ['http in place of https', { origin: ORIGIN.replace('https', 'http') }],
  ])('made in %s is refused', async (_, client) => {
    await refused('PASSKEY_ORIGIN', { client });
  });

  it.each([
    ['neither present nor verified', 0],
    ['present', FLAGS.UP],
    ['verified and not present', FLAGS.UV],
  ])('by a person who was %s is refused', async (_, flags) => {
    await refused('PASSKEY_UNVERIFIED', { flags });
  });

  it.each([
    ['a synced passkey where a bound one was enrolled', FLAGS.BE, false],
    ['a bound passkey where a synced one was enrolled', 0, true],
    ['one that is synced and cannot be', FLAGS.BS, false],
    ['one that holds a credential', FLAGS.AT, false],
    ['one that announces extensions and has none', FLAGS.ED, false],
  ])('by %s is refused', async (_, flags, can_sync) => {
    await refused('PASSKEY_INVALID', { flags: FLAGS.UP | FLAGS.UV | flags }, enrolled(ADA, { can_sync }));
  });

  it('is judged in one order: signature, type, challenge, frame, person, length; then as it was enrolled', async () => {
    const elsewhere = 'https://elsewhere.example';
    const wrong: Wish = {
      ...{ flags: 0, extensions: Buffer.of(1), rp_id: 'elsewhere.example' },
      client: { type: 'webauthn.create', challenge: 'another', crossOrigin: true, origin: elsewhere },
    };
    const { client } = wrong;
    const framed = { crossOrigin: true, origin: elsewhere };
    const own = { client: { origin: elsewhere } };
    const there = { rp_id: 'elsewhere.example' };
    const person = FLAGS.UP | FLAGS.UV;
    const order: (readonly [ReasonCode, string, Wish])[] = [
      ['PASSKEY_INVALID', 'answer to a signing request', wrong],
      ['SIGNATURE_INVALID', 'another act', { ...wrong, client: { ...client, type: 'webauthn.get' } }],
      ['PASSKEY_ORIGIN', 'frame', { ...wrong, client: framed }],
      ['PASSKEY_UNVERIFIED', '', { ...wrong, ...own }],
      ['PASSKEY_INVALID', 'longer or shorter', { ...wrong, ...own, flags: person | FLAGS.BE }],
      ['PASSKEY_ORIGIN', 'on a page', { ...there, ...own, flags: person | FLAGS.BE }],
      ['PASSKEY_ORIGIN', 'was not used for', { ...there, flags: person | FLAGS.BE }],
      ['PASSKEY_INVALID', 'synced', { flags: person | FLAGS.BE }],
    ];
    const foreign = signedBy(BOB, touched(ACT, wrong));
    await expectRefusal('SIGNATURE_INVALID', () => accept(ACT, enrolled(ADA), foreign));
    for (const [code, words, wish] of order) expect((await refused(code, wish)).message).toContain(words);
  });

  it('with the data of extensions is accepted where its flags announce it, and only there', async () => {
    const extensions = Buffer.from('a16a6372656450726f7465637402', 'hex');
    acceptAda({ flags: FLAGS.UP | FLAGS.UV | FLAGS.ED, extensions });
    await refused('PASSKEY_INVALID', { extensions });
    const flags = FLAGS.UP | FLAGS.UV | FLAGS.ED;
    acceptAda({ flags, extensions: Buffer.alloc(1024 - 37) });
    expect(isShaped(signedBy(ADA, touched(ACT, { flags, extensions: Buffer.alloc(1025 - 37) })))).toBe(false);
  });

  it.each([
    ['an enrolment', { type: 'webauthn.create' }, 'PASSKEY_INVALID'],
    ['a payment', { type: 'payment.get' }, 'PASSKEY_INVALID'],
    ['no type', { type: undefined }, 'PASSKEY_INVALID'],
    ['a type that is a list', { type: ['webauthn.get'] }, 'PASSKEY_INVALID'],
    ['no challenge', { challenge: undefined }, 'PASSKEY_INVALID'],
    ['no origin', { origin: undefined }, 'PASSKEY_INVALID'],
    ['a challenge with padding', { challenge: `${challengeOf(digestOf(ACT), null)}=` }, 'SIGNATURE_INVALID'],
    ['a challenge in hexadecimal', { challenge: digestOf(ACT) }, 'SIGNATURE_INVALID'],
    ['an empty challenge', { challenge: '' }, 'SIGNATURE_INVALID'],
  ] as const)('that answers %s is refused', async (_, client, code) => {
    await refused(code, { client });
  });

  const plain = () => touched(ACT).client_data.toString();
  const doubled = plain().replace('{', `{"origin":"https://evil.example",`);
  it.each([
    ['a member twice', doubled, 'JSON_DUPLICATE_KEY'],
    ['a member twice, once escaped', doubled.replace('"origin"', '"\\u006frigin"'), 'JSON_DUPLICATE_KEY'],
    ['a byte order mark', `\ufeff${plain()}`, 'JSON_MALFORMED'],
    ['bytes that are not UTF-8', Buffer.concat([Buffer.from(plain()), Buffer.of(0xff)]), 'INPUT_NOT_UTF8'],
    ['something behind it', `${plain()}{}`, 'JSON_MALFORMED'],
    ['a list', `[${plain()}]`, 'PASSKEY_INVALID'],
    ['null', 'null', 'PASSKEY_INVALID'],
    ['a text', '"webauthn.get"', 'PASSKEY_INVALID'],
    ['a prototype', plain().replace('{', '{"__proto__":{},'), 'JSON_NOT_PLAIN'],
    ['brackets without end', '['.repeat(4000), 'JSON_TOO_DEEP'],
  ] as const)('whose client data holds %s is refused', async (_, text, code) => {
    const answer = signedBy(ADA, { ...touched(ACT), client_data: Buffer.from(text as string) });
    await expectRefusal(code, () => accept(ACT, enrolled(ADA), answer));
  });

  it('whose client data is over 4 KiB has no shape, and is not read', async () => {
    const long = (bytes: number) => {
      const filled = { ...touched(ACT), client_data: Buffer.from(plain().padEnd(bytes)) };
      return signedBy(ADA, filled);
    };
    accept(ACT, enrolled(ADA), long(4096));
    for (const bytes of [4097, 1_000_000]) {
      expect(isShaped(long(bytes))).toBe(false);
      await expectRefusal('INPUT_TOO_LARGE', () =>
        verifyAssertion(Buffer.from(ACT), ADA.public_key, long(bytes)),
      );
    }
  });

  it('of too few bytes is refused', async () => {
    const short = { ...touched(ACT), authenticator_data: touched(ACT).authenticator_data.subarray(0, 36) };
    expect(isShaped(signedBy(ADA, short))).toBe(false);
    await expectRefusal('PASSKEY_INVALID', () =>
      verifyAssertion(Buffer.from(ACT), ADA.public_key, signedBy(ADA, short)),
    );
  });

  it('has one text: no padding, no other alphabet, no spare bits, nothing beside', () => {
    const answer = signedBy(ADA, touched(ACT));
    expect(isShaped(answer)).toBe(true);
    for (const field of ['authenticator_data', 'client_data', 'signature'] as const) {
      const text = answer[field];
      for (const other of [`${text}=`, `${text} `, text.replace(/^./, '+'), `${text.slice(0, -1)}`, '', null])
        if (other !== text && url(Buffer.from(String(other), 'base64url')) !== other)
          expect(isShaped({ ...answer, [field]: other }), `${field}: ${other}`).toBe(false);
      expect(isShaped({ ...answer, [field]: undefined })).toBe(false);
    }
    expect(isShaped({ ...answer, touch: undefined })).toBe(false);
    expect(isShaped({ ...answer, user_handle: '' })).toBe(false);
  });
});

describe('every byte of an assertion', () => {
  it.each(Object.values(KEYS))('by $algorithm counts: none can change, be cut or be added', async (key) => {
    const good = signedBy(key, touched(ACT));
    for (const field of ['authenticator_data', 'client_data', 'signature'] as const) {
      const bytes = Buffer.from(good[field], 'base64url');
      const others = [...bytes.keys()].flatMap((at) => {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= 1 << (at % 8);
        return [flipped, bytes.subarray(0, at)];
      });
      for (const other of [...others, Buffer.concat([bytes, Buffer.of(0)])])
        await expectRefusal('SIGNATURE_INVALID', () =>
          verifyAssertion(Buffer.from(ACT), key.public_key, { ...good, [field]: url(other) }),
        );
    }
  });
});

describe('an ECDSA signature', () => {
  const good = signedBy(ADA, touched(ACT));
  const der = Buffer.from(good.signature, 'base64url');
  const { r, s, r_bytes, s_bytes } = pairOf(der);
  const verified = (signature: Uint8Array) =>
    accept(ACT, enrolled(ADA), { ...good, signature: url(signature) });

  it('is accepted with either s: authenticators do not choose the low one', () => {
    expect(sequence(integer(r), integer(s))).toEqual(der);
    verified(withHighS(der));
  });

  const zero = Buffer.of(0);
  it.each([
    ['bytes behind it', Buffer.concat([der, zero])],
    ['bytes inside, behind s', sequence(integer(r), integer(s), zero)],
    ['a third number', sequence(integer(r), integer(s), integer(1n))],
    ['r alone', sequence(integer(r))],
    ['a zero before r', sequence(integer(Buffer.concat([zero, r_bytes])), integer(s))],
    ['a zero before s', sequence(integer(r), integer(Buffer.concat([zero, s_bytes])))],
    ['an empty r', sequence(integer(Buffer.alloc(0)), integer(s))],
    ['r that is zero', sequence(integer(0n), integer(s))],
    ['s that is zero', sequence(integer(r), integer(0n))],
    ['both zero', sequence(integer(0n), integer(0n))],
    ['r of the order', sequence(integer(ORDER), integer(s))],
    ['s of the order', sequence(integer(r), integer(ORDER))],
    ['s beyond the order', sequence(integer(r), integer(s + ORDER))],
    ['a negative s', sequence(integer(r), integer(Buffer.concat([Buffer.of(0x80), s_bytes.subarray(-31)])))],
    [
      'a long form of its length',
      Buffer.concat([Buffer.from([0x30, 0x81, der.length - 2]), der.subarray(2)]),
    ],
    [
      'an endless form of its length',
      Buffer.concat([Buffer.from([0x30, 0x80]), der.subarray(2), zero, zero]),
    ],
    ['another tag', Buffer.concat([Buffer.of(0x31), der.subarray(1)])],
    [
      'the form of r and s side by side',
      Buffer.from((r * 2n ** 256n + s).toString(16).padStart(128, '0'), 'hex'),
    ],
  ])('with %s is refused', async (_, signature) => {
    await expectRefusal('SIGNATURE_INVALID', () => verified(signature));
  });
});

describe('one touch for several acts', () => {
  const acts = ['one', 'two', 'three'];
  const touch = acts.map(digestOf);

  it('signs the list of their digests, and each act verifies alone with it', async () => {
    const answer = signedBy(ADA, touched('one', { touch }));
    for (const act of acts) accept(act, enrolled(ADA), answer);
    await expectRefusal('SIGNATURE_INVALID', () => accept('four', enrolled(ADA), answer));
  });

  it('is refused with a list that differs in anything', async () => {
    const answer = signedBy(ADA, touched('one', { touch }));
    const others = [
      touch.toReversed(),
      touch.slice(0, 2),
      touch.with(2, digestOf('four')),
      [...touch, digestOf('four')],
      null,
    ];
    for (const other of others)
      await expectRefusal('SIGNATURE_INVALID', () =>
        accept('one', enrolled(ADA), { ...answer, touch: other }),
      );
  });

  it('does not sign its members one by one', async () => {
    const alone = signedBy(ADA, touched('one'));
    await expectRefusal('SIGNATURE_INVALID', () => accept('one', enrolled(ADA), { ...alone, touch }));
  });

  it('has 2 to 100 acts, each once', () => {
    const of = (count: number) => Array.from({ length: count }, (_, i) => digestOf(`act ${i}`));
    const shaped = (list: unknown) => isShaped({ ...signedBy(ADA, touched('act 0')), touch: list });
    expect([null, of(2), of(100)].map(shaped)).toEqual([true, true, true]);
    const bad = [[], of(1), of(101), of(10_000), [...of(2), of(1)[0]], ['a', 'b'], 'both', {}];
    expect(bad.map(shaped)).toEqual(bad.map(() => false));
    const last = of(100);
    accept('act 99', enrolled(ADA), signedBy(ADA, touched('act 99', { touch: last })));
  });
});
