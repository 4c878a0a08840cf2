import type { Signer } from '../../src/identity/act.ts';
import type { NewCredential } from '../../src/identity/credential.ts';
import type { Assertion, Passkey } from '../../src/identity/passkey.ts';
import {
  type Algorithm,
  digestOf,
  enrolled,
  FLAGS,
  type SoftKey,
  signedBy,
  softKey,
  touched,
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
