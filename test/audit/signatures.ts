import { constants, createHash, generateKeyPairSync, privateEncrypt, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { ecdsaPair, type SpkiAlgorithm, spkiAlgorithm, spkiJwk } from '../../src/canonical/spki.ts';
import { signedBytes } from '../../src/identity/passkey.ts';
import vectors from '../identity/passkey-vectors.json' with { type: 'json' };

/** One question to a platform: did this key sign these bytes? All that is binary stands as base64. */
export interface Case {
  readonly name: string;
  readonly algorithm: SpkiAlgorithm;
  readonly jwk: Readonly<Record<string, string>>;
  readonly bytes: string;
  readonly signature: string;
}

const BYTES = Buffer.from('an act of a human');
const { Point } = ed25519;
const L = Point.Fn.ORDER;

function made(name: string, algorithm: SpkiAlgorithm, jwk: Case['jwk'], signature: Uint8Array): Case {
  const text = Buffer.from(signature).toString('base64');
  return { name: `${algorithm}: ${name}`, algorithm, jwk, bytes: BYTES.toString('base64'), signature: text };
}

const little = (n: bigint): Buffer => Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse();
const big = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const okp = (raw: Uint8Array) => ({ kty: 'OKP', crv: 'Ed25519', x: Buffer.from(raw).toString('base64url') });

function challenge(r: Uint8Array, key: Uint8Array): bigint {
  const hash = createHash('sha512').update(r).update(key).update(BYTES).digest();
  return big(hash.reverse()) % L;
}

/** Keys and signatures of a signer who wants two verifiers to differ. */
function ed25519Cases(): Case[] {
  const seed = Buffer.alloc(32, 7);
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(seed);
  const good = ed25519.sign(BYTES, seed);
  const [r, s] = [good.slice(0, 32), big(good.slice(32).reverse())];
  const torsion = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05');
  const nonce = 12345n;
  const withTorsion = Point.BASE.multiply(nonce).add(torsion).toBytes();
  const s_torsion = (nonce + challenge(withTorsion, pointBytes) * scalar) % L;
  const identity = little(1n);
  const p = 2n ** 255n - 19n;
  const r_five = Point.BASE.multiply(5n).toBytes();
  const five = Buffer.concat([r_five, little(5n)]);
  const odd_identity = little(p + 1n);
  const s_identity = (challenge(odd_identity, pointBytes) * scalar) % L;
  const ed = (name: string, key: Uint8Array, signature: Uint8Array) =>
    made(name, 'EdDSA', okp(key), signature);
  return [
    ed('a good signature', pointBytes, good),
    ed('another key', Buffer.from(Point.BASE.multiply(3n).toBytes()), good),
    ed('s plus the order of the group', pointBytes, Buffer.concat([r, little(s + L)])),
    ed('s of zero', pointBytes, Buffer.concat([r, little(0n)])),
    ed('an r with a part of small order', pointBytes, Buffer.concat([withTorsion, little(s_torsion)])),
    ed(
      'an r that is written in a second form',
      pointBytes,
      Buffer.concat([odd_identity, little(s_identity)]),
    ),
    ed('a key of small order', identity, five),
    ed('a key of small order in a second form', odd_identity, five),
    ed(
      'a key of small order with the sign of zero',
      Buffer.concat([identity.subarray(0, 31), Buffer.of(0x80)]),
      five,
    ),
    ed('a key of order eight', torsion.toBytes(), five),
    ed('a key that is no point', little(2n), five),
    ed('all zero', Buffer.alloc(32), Buffer.alloc(64)),
    ed('63 bytes', pointBytes, good.slice(0, 63)),
    ed('65 bytes', pointBytes, Buffer.concat([good, Buffer.of(0)])),
    ed('nothing', pointBytes, Buffer.alloc(0)),
  ];
}

const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const word = (n: bigint): Buffer => Buffer.from(n.toString(16).padStart(64, '0'), 'hex');

function es256Cases(): Case[] {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
  const good = sign('sha256', BYTES, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const [r, s] = [big(good.subarray(0, 32)), big(good.subarray(32))];
  const es = (name: string, signature: Uint8Array, over = {}) =>
    made(name, 'ES256', { ...jwk, ...over } as Case['jwk'], signature);
  return [
    es('a good signature', good),
    es('the other s', Buffer.concat([word(r), word(N - s)])),
    es('r of zero', Buffer.concat([word(0n), word(s)])),
    es('s of zero', Buffer.concat([word(r), word(0n)])),
    es('r of the order', Buffer.concat([word(N), word(s)])),
    es('s plus the order', Buffer.concat([word(r), word((s + N) % 2n ** 256n)])),
    es('all ones', Buffer.alloc(64, 0xff)),
    es('63 bytes', good.subarray(0, 63)),
    es('65 bytes', Buffer.concat([good, Buffer.of(0)])),
    es('nothing', Buffer.alloc(0)),
    es('a key that is no point', good, { y: word(7n).toString('base64url') }),
    es('a key at infinity', good, { x: word(0n).toString('base64url'), y: word(0n).toString('base64url') }),
    es('a coordinate beyond the field', good, { x: Buffer.alloc(32, 0xff).toString('base64url') }),
  ];
}

const INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');
const WITHOUT_NULL = Buffer.from('302f300b0609608648016503040201' + '0420', 'hex');

function rs256Cases(): Case[] {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
  const n = big(Buffer.from(jwk.n!, 'base64url'));
  const digest = createHash('sha256').update(BYTES).digest();
  const raw = (block: Buffer) =>
    privateEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, block);
  const padded = (info: Buffer, tail: Buffer = Buffer.alloc(0), type = 1) => {
    const end = Buffer.concat([Buffer.of(0), info, digest, tail]);
    return raw(Buffer.concat([Buffer.of(0, type), Buffer.alloc(254 - end.length, 0xff), end]));
  };
  const rs = (name: string, signature: Uint8Array, over = {}) =>
    made(name, 'RS256', { ...jwk, ...over } as Case['jwk'], signature);
  const good = sign('sha256', BYTES, privateKey);
  const wide = (value: bigint) => Buffer.from(value.toString(16).padStart(512, '0'), 'hex');
  return [
    rs('a good signature', good),
    rs('the same, padded here', padded(INFO)),
    rs('an algorithm without its parameters', padded(WITHOUT_NULL)),
    rs('bytes behind the digest', padded(INFO, Buffer.alloc(16, 1))),
    rs('padding of another type', padded(INFO, undefined, 2)),
    rs('a bare digest', raw(Buffer.concat([Buffer.alloc(224), digest]))),
    rs('the signature plus the modulus', wide((big(good) + n) % 2n ** 2048n)),
    rs('a signature of zero', Buffer.alloc(256)),
    rs('a signature of one', wide(1n)),
    rs('255 bytes', good.subarray(0, 255)),
    rs('257 bytes', Buffer.concat([Buffer.of(0), good])),
    rs('nothing', Buffer.alloc(0)),
    rs('an even modulus', good, { n: wide(n - 1n).toString('base64url') }),
  ];
}

/** What Debian's Chromium signed, with all three algorithms, and each of them with one bit changed in its bytes. */
function browserCases(): Case[] {
  return vectors.assertions.flatMap(({ name, passkey, assertion }) => {
    const { public_key } = vectors.passkeys.find((one) => one.name === passkey)!.registration;
    const algorithm = spkiAlgorithm(public_key)!;
    const signature = Buffer.from(assertion.signature, 'base64url');
    const raw = algorithm === 'ES256' ? ecdsaPair(signature)! : signature;
    const one = made(`${passkey}, ${name}`, algorithm, spkiJwk(algorithm, public_key), raw);
    const bytes = Buffer.from(signedBytes(assertion));
    const changed = Buffer.from(bytes);
    changed[33]! ^= 1;
    return [
      { ...one, bytes: bytes.toString('base64') },
      { ...one, name: `${one.name}, changed`, bytes: changed.toString('base64') },
    ];
  });
}

export const CASES: readonly Case[] = [
  ...ed25519Cases(),
  ...es256Cases(),
  ...rs256Cases(),
  ...browserCases(),
];
