import type { Assertion, Passkey } from '../../src/identity/passkey.ts';
import {
  type Algorithm,
  digestOf,
  enrolled,
  FLAGS,
  ORIGIN,
  type SoftKey,
  signedBy,
  softKey,
  touched,
  url,
} from './authenticator.ts';
import { looseForm, withHighS } from './ecdsa-der.ts';
import { type Choose, chooser, cut, FOREIGN, flipped, oneOf, SIGNED, STATEMENTS } from './signed-changes.ts';

/** A good assertion, changed in one thing. What an attacker can have signed again is signed again in half of them. */
export interface Mutant {
  readonly name: string;
  readonly statement: string;
  readonly passkey: Passkey;
  readonly assertion: Assertion;
  readonly key: SoftKey;
  /** Whether it is still a proof: the change was signed, and means nothing. */
  readonly good: boolean;
}

export interface People {
  readonly ada: Readonly<Record<Algorithm, SoftKey>>;
  readonly bob: Readonly<Record<Algorithm, SoftKey>>;
}

export function people(): People {
  const keys = () => ({ ES256: softKey('ES256'), EdDSA: softKey('EdDSA'), RS256: softKey('RS256') });
  return { ada: keys(), bob: keys() };
}

type Swap = (
  mutant: Omit<Mutant, 'name' | 'good'>,
  choose: Choose,
  people: People,
) => Partial<Mutant> & { good?: boolean };

const withBytes =
  (field: 'signature' | 'authenticator_data' | 'client_data', change: typeof flipped): Swap =>
  ({ assertion }, choose) => ({
    assertion: { ...assertion, [field]: url(change(Buffer.from(assertion[field], 'base64url'), choose)) },
  });
const withList =
  (change: (list: readonly string[], choose: Choose) => readonly string[] | null): Swap =>
  ({ assertion, statement }, choose) => {
    const list = assertion.touch ?? [digestOf(statement), digestOf('another')];
    return { assertion: { ...assertion, touch: change(list, choose) as string[] | null } };
  };
const withPasskey =
  (change: (passkey: Passkey, choose: Choose) => Partial<Passkey>): Swap =>
  ({ passkey }, choose) => ({ passkey: { ...passkey, ...change(passkey, choose) } });

/** The hybrid form of a point, which OpenSSL reads; a byte behind any other key. */
function secondForm(der: Buffer): Buffer {
  if (der.length !== 91) return Buffer.concat([der, Buffer.of(0)]);
  return Buffer.concat([der.subarray(0, 26), Buffer.of(6 | (der[90]! & 1)), der.subarray(27)]);
}

/** What is not signed, or is the signature. */
const UNSIGNED: Readonly<Record<string, Swap>> = {
  'signature: a bit': withBytes('signature', flipped),
  'signature: cut': withBytes('signature', cut),
  'signature: bytes behind': withBytes('signature', (bytes, choose) =>
    Buffer.concat([bytes, Buffer.of(choose(256))]),
  ),
  'signature: zeros': withBytes('signature', (bytes) => Buffer.alloc(bytes.length)),
  'signature: random': withBytes('signature', (bytes, choose) => Buffer.from(bytes.map(() => choose(256)))),
  'signature: of another touch': ({ assertion, key, statement }) => ({
    assertion: { ...assertion, signature: signedBy(key, touched(statement, { counter: 99 })).signature },
  }),
  'signature: of another act': ({ assertion, key }) => ({
    assertion: { ...assertion, signature: signedBy(key, touched(FOREIGN)).signature },
  }),
  'signature: high s': ({ assertion, key }) =>
    key.algorithm === 'ES256'
      ? {
          assertion: {
            ...assertion,
            signature: url(withHighS(Buffer.from(assertion.signature, 'base64url'))),
          },
          good: true,
        }
      : { assertion: { ...assertion, signature: '' } },
  'signature: loose DER': ({ assertion, key }, choose) => ({
    assertion: {
      ...assertion,
      signature:
        key.algorithm === 'ES256'
          ? url(looseForm(Buffer.from(assertion.signature, 'base64url'), choose(4)))
          : `${assertion.signature}A`,
    },
  }),
  'data: any bit': withBytes('authenticator_data', flipped),
  'client: any bit': withBytes('client_data', flipped),
  'touch: another order': withList((list) => list.toReversed()),
  'touch: one left out': withList((list) => list.slice(1)),
  'touch: one more': withList((list) => [...list, digestOf(FOREIGN)]),
  'touch: one replaced': withList((list) => list.with(-1, digestOf(FOREIGN))),
  'touch: one twice': withList((list) => [...list, list[0]!]),
  'touch: of ten thousand': withList((list) => [
    ...list,
    ...Array.from({ length: 10_000 }, (_, i) => i.toString(16).padStart(64, '0')),
  ]),
  'act: another': () => ({ statement: FOREIGN }),
  'act: a bit': ({ statement }, choose) => ({
    statement: flipped(Buffer.from(statement), choose).toString('latin1'),
  }),
  'person: another': ({ key }, _, { bob }) => ({ passkey: enrolled(bob[key.algorithm]) }),
  'passkey: another algorithm': ({ key, passkey }, _, { ada }) => ({
    passkey: { ...passkey, public_key: ada[key.algorithm === 'ES256' ? 'EdDSA' : 'ES256'].public_key },
  }),
  'passkey: a bit of its key': withPasskey(({ public_key }, choose) => ({
    public_key: flipped(Buffer.from(public_key, 'base64'), choose).toString('base64'),
  })),
  'passkey: its key in a second form': withPasskey(({ public_key }) => ({
    public_key: secondForm(Buffer.from(public_key, 'base64')).toString('base64'),
  })),
  'passkey: another host': withPasskey(() => ({ rp_id: 'localhost' })),
  'passkey: other origins': withPasskey((_, choose) => ({
    origins: oneOf(choose, [[], ['https://keyturn.example'], [`${ORIGIN}0`], [ORIGIN.toUpperCase()]]),
  })),
  'passkey: BE': withPasskey(({ can_sync }) => ({ can_sync: !can_sync })),
};

/** RSA signs slowly, so it has one turn in ten. */
const ALGORITHMS: readonly Algorithm[] = [...Array(9).keys()]
  .map((i) => (i % 2 ? 'EdDSA' : 'ES256') as Algorithm)
  .concat('RS256');

export const MUTATIONS: readonly string[] = [...Object.keys(SIGNED), ...Object.keys(UNSIGNED)];

export function mutant(seed: number, people: People): Mutant {
  const choose = chooser(seed);
  const key = people.ada[oneOf(choose, ALGORITHMS)];
  const can_sync = choose(2) === 1;
  const touch = touched(STATEMENTS[0]!, {
    flags: FLAGS.UP | FLAGS.UV | (can_sync ? FLAGS.BE | (choose(2) ? FLAGS.BS : 0) : 0),
    touch: choose(2) ? STATEMENTS.map(digestOf) : null,
  });
  const base = { statement: STATEMENTS[0]!, passkey: enrolled(key, { can_sync }), key };
  // Two in three change what is signed, and three in four of those are signed again: half of all.
  const name = oneOf(choose, Object.keys(choose(3) ? SIGNED : UNSIGNED));
  const change = SIGNED[name];
  if (change === undefined) {
    const whole = { ...base, assertion: signedBy(key, touch) };
    return { name, good: false, ...whole, ...UNSIGNED[name]!(whole, choose, people) };
  }
  const changed = change.apply(touch, choose);
  const again = signedBy(key, changed);
  if (choose(4)) return { name: `${name}, signed again`, ...base, assertion: again, good: !change.bad };
  return { name, ...base, assertion: { ...again, signature: signedBy(key, touch).signature }, good: false };
}
