import type { Signer } from '../../src/identity/act.ts';
import type { NewCredential } from '../../src/identity/credential.ts';
import type { Assertion, Passkey } from '../../src/identity/passkey.ts';
import {
  type Algorithm,
  digestOf,
  enrolled,
  FLAGS,
  type SoftKey,
  sha256Of,
  signedBy,
  softKey,
  touched,
  url,
  type Wish,
} from '../identity/authenticator.ts';

/** A passkey in software, as it is enrolled. */
export interface SoftPasskey {
  readonly key: SoftKey;
  readonly credential: NewCredential & { readonly kind: 'passkey' };
}

export function softPasskey(over: Partial<Passkey> = {}, algorithm: Algorithm = 'ES256'): SoftPasskey {
  const key = softKey(algorithm);
  return { key, credential: { ...enrolled(key, over), kind: 'passkey' } };
}

/** One touch for all of these statements. A wish makes it another one than it should be. */
export function touch(
  { key, credential }: SoftPasskey,
  statements: readonly Uint8Array[],
  wish: Wish = {},
): Assertion[] {
  const texts = statements.map((one) => Buffer.from(one).toString('utf8'));
  const flags = FLAGS.UP | FLAGS.UV | (credential.can_sync ? FLAGS.BE : 0);
  const list = texts.length === 1 ? null : texts.map(digestOf);
  const made = signedBy(key, touched(texts[0]!, { flags, touch: list, ...wish }));
  return texts.map(() => made);
}

export function passkeySigner(name: string, passkey: SoftPasskey, wish: Wish = {}): Signer {
  return {
    name,
    public_key: passkey.credential.public_key,
    sign: async (statements) => touch(passkey, statements, wish),
  };
}

const COSE = { ES256: -7, EdDSA: -8, RS256: -257 } as const;

/** What a browser answers where a passkey is made. */
export function registration(
  { key, credential }: SoftPasskey,
  challenge: string,
  origin: string,
  other: Readonly<Record<string, unknown>> = {},
) {
  const id = Buffer.from(credential.credential_id, 'base64url');
  const header = Buffer.from([
    FLAGS.UP | FLAGS.UV | FLAGS.AT | (credential.can_sync ? FLAGS.BE : 0),
    0,
    0,
    0,
    0,
  ]);
  const length = Buffer.from([id.length >> 8, id.length & 0xff]);
  const data = [sha256Of(credential.rp_id), header, Buffer.alloc(16), length, id, Buffer.from([0xa0])];
  const client = { type: 'webauthn.create', challenge, origin, crossOrigin: false, ...other };
  return {
    credential_id: credential.credential_id,
    public_key: credential.public_key,
    algorithm: COSE[key.algorithm],
    authenticator_data: url(Buffer.concat(data)),
    client_data: url(JSON.stringify(client)),
  };
}
