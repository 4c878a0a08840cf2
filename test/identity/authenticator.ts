import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import * as shape from '../../src/event/shape.ts';
import {
  type Assertion,
  type AssertionFacts,
  challengeOf,
  type Passkey,
  requireEnrolledAs,
  verifyAssertion,
} from '../../src/identity/passkey.ts';

/** An authenticator and a browser in software, with real keys, so that what was changed can be signed again. */

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

export interface SoftKey {
  readonly algorithm: Algorithm;
  readonly public_object: KeyObject;
  /** SPKI as base64. */
  readonly public_key: string;
  readonly sign: (bytes: Uint8Array) => Buffer;
}

export function softKey(algorithm: Algorithm, modulusLength = 2048): SoftKey {
  const { privateKey, publicKey } = pairOf(algorithm, modulusLength);
  return {
    algorithm,
    public_object: publicKey,
    public_key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    sign: (bytes) => sign(algorithm === 'EdDSA' ? null : 'sha256', bytes, privateKey),
  };
}

function pairOf(algorithm: Algorithm, modulusLength: number) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return algorithm === 'EdDSA'
    ? generateKeyPairSync('ed25519')
    : generateKeyPairSync('rsa', { modulusLength });
}

export const sha256Of = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();
export const digestOf = (data: Uint8Array | string): string => sha256Of(data).toString('hex');
export const url = (bytes: Uint8Array | string): string =>
  Buffer.from(bytes as Uint8Array).toString('base64url');

export const FLAGS = { UP: 0x01, UV: 0x04, BE: 0x08, BS: 0x10, AT: 0x40, ED: 0x80 } as const;

/** One touch, before it is signed. */
export interface Touch {
  readonly statement: string;
  readonly touch: readonly string[] | null;
  readonly authenticator_data: Buffer;
  readonly client_data: Buffer;
}

export interface Wish {
  readonly rp_id?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly extensions?: Uint8Array;
  readonly touch?: readonly string[] | null;
  /** Members beside, or in place of, what a browser writes. */
  readonly client?: Readonly<Record<string, unknown>>;
}

export const ORIGIN = 'https://keyturn.example:8443';
export const RP_ID = 'keyturn.example';

/** `asked` is the act that the challenge is made for: another one only where the touch is not to cover this one. */
export function touched(statement: string, wish: Wish = {}, asked = statement): Touch {
  const touch = wish.touch ?? null;
  const header = Buffer.alloc(5);
  header[0] = wish.flags ?? FLAGS.UP | FLAGS.UV;
  header.writeUInt32BE(wish.counter ?? 7, 1);
  const client = {
    type: 'webauthn.get',
    challenge: challengeOf(digestOf(asked), touch),
    origin: ORIGIN,
    crossOrigin: false,
    ...wish.client,
  };
  return {
    statement,
    touch,
    authenticator_data: Buffer.concat([
      sha256Of(wish.rp_id ?? RP_ID),
      header,
      wish.extensions ?? Buffer.alloc(0),
    ]),
    client_data: Buffer.from(JSON.stringify(client)),
  };
}

export function signedBy(key: SoftKey, { touch, authenticator_data, client_data }: Touch): Assertion {
  const signature = key.sign(Buffer.concat([authenticator_data, sha256Of(client_data)]));
  return {
    authenticator_data: url(authenticator_data),
    client_data: url(client_data),
    signature: url(signature),
    touch: touch === null ? null : [...touch],
  };
}

export function enrolled(key: SoftKey, other: Partial<Passkey> = {}): Passkey {
  return {
    credential_id: url(sha256Of(key.public_key)),
    public_key: key.public_key,
    rp_id: RP_ID,
    origins: [ORIGIN],
    can_sync: false,
    aaguid: '00000000-0000-0000-0000-000000000000',
    label: 'Laptop',
    ...other,
  };
}

/** What the fold does with an entry: its shape, its proof, and the credential as it was enrolled. */
export function accept(statement: string, passkey: Passkey, answer: unknown): AssertionFacts {
  const facts = verifyAssertion(Buffer.from(statement), passkey.public_key, shape.assertion.parse(answer));
  requireEnrolledAs(facts, passkey);
  return facts;
}
