import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { FlattenedSign } from 'jose';
import { describe, expect, it } from 'vitest';
import { type KeyLookup, openCapability } from '../../src/capability/verify.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  ann,
  control,
  forged,
  HEADER,
  keys,
  minted,
  partsOf,
  payloadIn,
  retired,
  stranger,
} from './sample.ts';

const refused = (code: ReasonCode, text: string) => expectRefusal(code, () => openCapability(text, keys));

const refusedWith = (lookup: KeyLookup) =>
  expectRefusal('CAPABILITY_KEY_UNKNOWN', () => openCapability(text, lookup));

const text = minted();
const payload = payloadIn(text);
const [header, body, signature] = partsOf(text);

const inputOf = (head: object) =>
  `${Buffer.from(JSON.stringify(head)).toString('base64url')}.${partsOf(text)[1]}`;

describe('the sample', () => {
  it('opens, also when it is put together by hand', async () => {
    openCapability(text, keys);
    openCapability(forged(HEADER, payload), keys);
  });
});

describe('another signature', () => {
  it('by a key that nobody knows is refused', async () => {
    await refused('CAPABILITY_FORGED', forged(HEADER, payload, stranger));
  });

  it('by a known key, under the name of another known key, is refused', async () => {
    await refused('CAPABILITY_FORGED', forged(HEADER, payload, retired));
    await refused('CAPABILITY_FORGED', forged({ ...HEADER, kid: retired.kid }, payload, control));
  });

  it('of another token is refused', async () => {
    const other = minted({ attempt: 2 });
    await refused('CAPABILITY_FORGED', `${header}.${body}.${partsOf(other)[2]}`);
    await refused('CAPABILITY_FORGED', `${header}.${partsOf(other)[1]}.${signature}`);
  });

  it('that is the same number written larger is refused', async () => {
    const raw = Buffer.from(signature, 'base64url');
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(raw.subarray(32)).reverse().toString('hex')}`) + order;
    const larger = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
    const second = Buffer.concat([raw.subarray(0, 32), larger]).toString('base64url');
    await refused('CAPABILITY_FORGED', `${header}.${body}.${second}`);
  });

  it('of zeros is refused', async () => {
    await refused('CAPABILITY_FORGED', `${header}.${body}.${Buffer.alloc(64).toString('base64url')}`);
  });

  it.each([
    ['empty', ''],
    ['cut', signature.slice(0, -1)],
    ['cut by a byte', Buffer.from(signature, 'base64url').subarray(0, 63).toString('base64url')],
    ['longer by a byte', Buffer.alloc(65, 7).toString('base64url')],
  ])('that is %s is refused', async (_, cut) => {
    await refused('CAPABILITY_MALFORMED', `${header}.${body}.${cut}`);
  });
});

describe('another algorithm', () => {
  it('none is refused, with and without a signature, however it is written', async () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      await refused('CAPABILITY_ALGORITHM', `${inputOf({ ...HEADER, alg })}.`);
      await refused('CAPABILITY_ALGORITHM', `${inputOf({ ...HEADER, alg })}.${signature}`);
    }
  });

  it('HS256 with the public key as the secret is refused', async () => {
    const secrets: (string | Buffer)[] = [
      control.public.export({ format: 'pem', type: 'spki' }),
      control.public.export({ format: 'der', type: 'spki' }),
      Buffer.from(control.public_key, 'base64'),
      control.public_key,
    ];
    const input = inputOf({ ...HEADER, alg: 'HS256' });
    for (const secret of secrets) {
      const mac = createHmac('sha256', secret).update(input).digest('base64url');
      await refused('CAPABILITY_ALGORITHM', `${input}.${mac}`);
    }
  });

  it.each<[string, () => { privateKey: KeyObject }]>([
    ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ])('%s with a good signature of its own is refused', async (alg, generate) => {
    const input = inputOf({ ...HEADER, alg });
    const key = { key: generate().privateKey, dsaEncoding: 'ieee-p1363' as const };
    await refused(
      'CAPABILITY_ALGORITHM',
      `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`,
    );
  });

  it('the same algorithm under another name is refused', async () => {
    for (const alg of ['Ed25519', 'eddsa', 'EdDSA ', 'Ed448', 'ML-DSA-44'])
      await refused('CAPABILITY_ALGORITHM', forged({ ...HEADER, alg }, payload));
  });

  it('an algorithm that is not a word is refused', async () => {
    for (const alg of [undefined, null, 1, ['EdDSA'], { name: 'EdDSA' }])
      await refused('CAPABILITY_MALFORMED', forged({ ...HEADER, alg }, payload));
  });
});

describe('another header', () => {
  it('that names a key nobody knows is refused', async () => {
    await refused('CAPABILITY_KEY_UNKNOWN', forged({ ...HEADER, kid: stranger.kid }, payload, stranger));
    await refused('CAPABILITY_KEY_UNKNOWN', forged({ ...HEADER, kid: ann.kid }, payload, ann));
  });

  it.each([
    '',
    '/etc/passwd',
    '../../../../dev/null',
    'https://attacker.example/key.json',
    "' OR 1=1 --",
    '__proto__',
    `${control.kid}\0`,
    `${control.kid} `,
    control.kid.slice(1),
    'k'.repeat(100_000),
  ])('with the key name %j is refused', async (kid) => {
    await refused('CAPABILITY_MALFORMED', forged({ ...HEADER, kid }, payload));
  });

  it('with a key name that is not text is refused', async () => {
    for (const kid of [undefined, null, 0, [control.kid], { kid: control.kid }])
      await refused('CAPABILITY_MALFORMED', forged({ ...HEADER, kid }, payload));
  });

  it.each<[string, object]>([
    ['jwk', { jwk: stranger.public.export({ format: 'jwk' }) }],
    ['jku', { jku: 'https://attacker.example/jwks.json' }],
    ['x5u', { x5u: 'https://attacker.example/cert.pem' }],
    ['x5c', { x5c: ['MIIB'] }],
    ['crit', { crit: ['exp'], exp: 0 }],
    ['crit, empty', { crit: [] }],
    ['b64', { b64: false, crit: ['b64'] }],
    ['cty', { cty: 'JWT' }],
    ['zip', { zip: 'DEF' }],
    ['an unknown word', { note: '' }],
  ])('with %s in it is refused, whoever signed it', async (_, extra) => {
    await refused('CAPABILITY_MALFORMED', forged({ ...HEADER, ...extra }, payload, control));
    await refused('CAPABILITY_MALFORMED', forged({ ...HEADER, ...extra }, payload, stranger));
  });

  it.each([
    'JWT',
    'jwt',
    'keyturn-proof+jwt',
    'keyturn-attenuation+jwt',
    'KEYTURN-CAPABILITY+JWT',
    7,
    undefined,
  ])('with the type %s is refused', async (typ) => {
    await refused('CAPABILITY_MALFORMED', forged({ ...HEADER, typ }, payload));
  });

  it('with a key twice is refused, in whichever order', async () => {
    const [alg, rest] = ['"alg":"EdDSA"', `"typ":"${HEADER.typ}","kid":"${HEADER.kid}"`];
    openCapability(forged(`{${alg},${rest}}`, payload), keys);
    for (const twice of [
      `{"alg":"none",${alg},${rest}}`,
      `{${alg},"alg":"none",${rest}}`,
      `{${alg},"\\u0061lg":"EdDSA",${rest}}`,
      `{${alg},${rest},"kid":"${retired.kid}"}`,
    ])
      await refused('CAPABILITY_MALFORMED', forged(twice, payload));
  });

  it.each(['null', '[]', '"EdDSA"', '1', '{', '\ufeff{}', '{}'])('that is %j is refused', async (odd) => {
    await refused('CAPABILITY_MALFORMED', forged(odd, payload));
  });
});

describe('another form', () => {
  it('nested in a token that the control plane signed is refused', async () => {
    await refused('CAPABILITY_MALFORMED', forged(HEADER, text));
    await refused('CAPABILITY_MALFORMED', forged({ ...HEADER, cty: 'JWT' }, text));
    await refused('CAPABILITY_MALFORMED', forged(HEADER, JSON.stringify(text)));
  });

  it('in the JSON serialization is refused', async () => {
    const jws = await new FlattenedSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader(HEADER)
      .sign(control.key);
    await refused('CAPABILITY_MALFORMED', JSON.stringify(jws));
    const { payload: alone, ...signatures } = jws;
    await refused('CAPABILITY_MALFORMED', JSON.stringify({ payload: alone, signatures: [signatures] }));
  });

  it.each([
    ['nothing', ''],
    ['a dot', '.'],
    ['two dots', '..'],
    ['one part', header],
    ['two parts', `${header}.${body}`],
    ['four parts', `${text}.${signature}`],
    ['five parts, as an encrypted token has', `${header}..${body}.${signature}.${signature}`],
    ['an empty payload', `${header}..${signature}`],
    ['an empty header', `.${body}.${signature}`],
    ['a line break after it', `${text}\n`],
    ['a space before it', ` ${text}`],
    ['a space in it', `${header}. ${body}.${signature}`],
    ['a line break in it', `${header}.${body.slice(0, 76)}\n${body.slice(76)}.${signature}`],
    ['padding', `${header}.${body}.${signature}==`],
    ['a NUL', `${text}\0`],
    ['a tilde after it', `${text}~`],
    ['a tilde before it', `~${text}`],
    ['a word before it', `Bearer ${text}`],
    ['quotes around it', JSON.stringify(text)],
    ['letters that are not ASCII', text.replace('e', 'е')],
  ])('with %s is refused', async (_, odd) => {
    await refused('CAPABILITY_MALFORMED', odd);
  });

  it('in the other base64 alphabet is refused', async () => {
    const odd = await Promise.all(Array.from({ length: 20 }, (_, i) => minted({ attempt: i + 1 })));
    const other = odd.map((one) => one.replaceAll('-', '+').replaceAll('_', '/'));
    const differing = other.filter((one, i) => one !== odd[i]);
    expect(differing.length).toBeGreaterThan(0);
    for (const one of differing) await refused('CAPABILITY_MALFORMED', one);
  });

  it('with bits that base64url does not use is refused', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(signature.at(-1)!);
    for (let spare = 1; spare < 16; spare++) {
      const second = `${signature.slice(0, -1)}${alphabet[last + spare]}`;
      expect(Buffer.from(second, 'base64url')).toEqual(Buffer.from(signature, 'base64url'));
      await refused('CAPABILITY_MALFORMED', `${header}.${body}.${second}`);
    }
  });

  it('too large is refused before anything is read', async () => {
    await refused('CAPABILITY_MALFORMED', `${header}.${'A'.repeat(17_000)}.${signature}`);
    await refused('CAPABILITY_MALFORMED', 'A'.repeat(10_000_000));
    await refused('CAPABILITY_MALFORMED', '~'.repeat(60_000));
    await refused('CAPABILITY_MALFORMED', forged(HEADER, { ...payload, pad: 'x'.repeat(20_000) }));
  });

  it('never opens for who knows no keys', async () => {
    await refusedWith(() => null);
    expect(() => openCapability(text, null as never)).toThrow(TypeError);
  });

  it('that is not text at all is refused', async () => {
    for (const odd of [null, undefined, 7, {}, [text], Buffer.from(text)])
      await refused('CAPABILITY_MALFORMED', odd as string);
  });
});

const isRefused = expect.objectContaining({
  name: 'Refusal',
  code: expect.stringMatching(/^CAPABILITY_/),
});

describe('every single change', () => {
  it('of one bit is refused', { timeout: 60_000 }, () => {
    const bytes = Buffer.from(minted({ holder: ann.public_key }));
    const flipped = (bit: number) => {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      return [changed.toString('utf8'), changed.toString('latin1')];
    };
    for (let at = 0; at < bytes.length; at++) {
      const texts = Array.from({ length: 8 }, (_, bit) => flipped(8 * at + bit)).flat();
      for (const one of texts) expect(() => openCapability(one, keys)).toThrow(isRefused);
    }
  });

  it('of length is refused, from either end', () => {
    for (let i = 0; i < text.length; i++) {
      for (const cut of [text.slice(0, i), text.slice(i + 1)])
        expect(() => openCapability(cut, keys)).toThrow(isRefused);
    }
  });
});
