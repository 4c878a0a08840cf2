import { createPublicKey, verify } from 'node:crypto';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { expect } from 'vitest';
import { ZodError } from 'zod';
import { Refusal } from '../../src/refusal.ts';
import { accept, digestOf, sha256Of, url } from './authenticator.ts';
import { type Mutant, mutant, type People } from './mutants.ts';

/** Ours: null for a proof, or why it is none. Anything but a refusal is a crash, and fails the test. */
export function refusalOf({ statement, passkey, assertion }: Mutant): string | null {
  try {
    accept(statement, passkey, assertion);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    if (error instanceof ZodError) return 'SHAPE_INVALID';
    throw error;
  }
}

/** What the service last saw. The library refuses a counter that did not grow since. */
const COUNTER = 5;

/** The other verifier's answer about the same. It knows no list of acts, so it is told the challenge. */
async function isTakenByOther({ statement, passkey, assertion }: Mutant): Promise<boolean> {
  const { credential_id: id, origins, rp_id } = passkey;
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          authenticatorData: assertion.authenticator_data,
          clientDataJSON: assertion.client_data,
          signature: assertion.signature,
        },
      },
      expectedChallenge: (challenge) => challenge === challengeText(statement, assertion.touch),
      expectedOrigin: [...origins],
      expectedRPID: rp_id,
      credential: { id, publicKey: coseOf(passkey.public_key), counter: COUNTER },
    });
    return verified;
  } catch {
    return false;
  }
}

/** Written out, and not by src/: a second reading of what a challenge is. */
function challengeText(statement: string, touch: readonly string[] | null): string | null {
  if (touch === null) return url(sha256Of(statement));
  if (!touch.includes(digestOf(statement)) || new Set(touch).size !== touch.length || touch.length > 100)
    return null;
  return touch.length < 2
    ? null
    : url(sha256Of(`{"acts":${JSON.stringify(touch)},"format":"keyturn-touch/1"}`));
}

const opened = (public_key: string) =>
  createPublicKey({ key: Buffer.from(public_key, 'base64'), format: 'der', type: 'spki' });
/** By way of a JWK, which knows no form but one: OpenSSL itself keeps the form of a point. */
const writtenAgain = (public_key: string) =>
  createPublicKey({ key: opened(public_key).export({ format: 'jwk' }), format: 'jwk' })
    .export({ format: 'der', type: 'spki' })
    .toString('base64');

/** The key in the form that the library reads. It throws where OpenSSL finds no such key in the bytes. */
function coseOf(public_key: string): Uint8Array<ArrayBuffer> {
  const { crv, x, y, n, e } = opened(public_key).export({ format: 'jwk' });
  const bytes = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? '', 'base64url'));
  const pairs: Record<string, [number, number | Uint8Array][]> = {
    'P-256': [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    Ed25519: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ],
    RSA: [
      [1, 3],
      [3, -257],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  };
  return isoCBOR.encode(new Map(pairs[crv ?? 'RSA']) as never);
}

const clientOf = ({ assertion }: Mutant): Record<string, unknown> => {
  try {
    // As the library reads it: leniently, and without a byte order mark.
    return JSON.parse(new TextDecoder().decode(Buffer.from(assertion.client_data, 'base64url')));
  } catch {
    return {};
  }
};
/** OpenSSL itself takes an ECDSA signature in strict DER only. */
const isRefusedByOpenSsl = ({ passkey, assertion }: Mutant) => {
  const raw = (text: string) => Buffer.from(text, 'base64url');
  const signed = Buffer.concat([raw(assertion.authenticator_data), sha256Of(raw(assertion.client_data))]);
  const key = opened(passkey.public_key);
  return key.asymmetricKeyType === 'ec' && !verify('sha256', signed, key, raw(assertion.signature));
};
const named = (name: string) => (mutant: Mutant) => mutant.name.startsWith(name);

/** Why Keyturn may refuse what the library takes: it is the stricter one. */
const STRICTER: Readonly<Record<string, (mutant: Mutant) => boolean>> = {
  'a frame whose outer page is not named': (mutant) => clientOf(mutant).crossOrigin === true,
  'a crossOrigin that is no boolean': (mutant) =>
    !['boolean', 'undefined'].includes(typeof clientOf(mutant).crossOrigin),
  'an outer page that is empty': (mutant) => ['', null].includes(clientOf(mutant).topOrigin as string | null),
  'BE is not as it was enrolled': (mutant) => named('data: BE')(mutant) || named('passkey: BE')(mutant),
  'a member twice': named('client: member twice'),
  'a byte order mark': named('client: byte order mark'),
  'not UTF-8': named('client: not UTF-8'),
  'a lone surrogate': named('client: lone surrogate'),
  'an ECDSA signature that is not in DER': isRefusedByOpenSsl,
  'a key in a second form, such as a hybrid point': ({ passkey }) =>
    writtenAgain(passkey.public_key) !== passkey.public_key,
  'client data longer than 4 KiB': named('client: longer than 4 KiB'),
};

/** Why Keyturn may take what the library refuses. */
const MILDER: Readonly<Record<string, (mutant: Mutant) => boolean>> = {
  'a counter that did not grow': ({ assertion }) =>
    Buffer.from(assertion.authenticator_data, 'base64url').readUInt32BE(33) <= COUNTER,
  'a token binding, which browsers no longer have': (mutant) => clientOf(mutant).tokenBinding !== undefined,
  'extensions, which nobody reads': named('data: extensions that are not CBOR'),
};

/** Compares the two about so many changed assertions. Returns how often each named difference was seen. */
export async function expectSameOpinion(count: number, everybody: People): Promise<Map<string, number>> {
  const seen = new Map<string, number>(
    [...Object.keys(STRICTER), ...Object.keys(MILDER)].map((name) => [name, 0]),
  );
  const unnamed: string[] = [];
  let again = 0;
  for (let seed = 0; seed < count; seed++) {
    const one = mutant(seed, everybody);
    again += one.name.endsWith(', signed again') ? 1 : 0;
    const refusal = refusalOf(one);
    const taken = await isTakenByOther(one);
    if ((refusal === null) === taken) continue;
    const reasons = Object.entries(taken ? STRICTER : MILDER).filter(([, holds]) => holds(one));
    if (reasons.length === 0) unnamed.push(`${seed} ${one.key.algorithm} ${one.name}: ${refusal ?? 'taken'}`);
    for (const [name] of reasons) seen.set(name, seen.get(name)! + 1);
  }
  expect(unnamed).toEqual([]);
  expect(again / count).toBeGreaterThan(0.4);
  return seen;
}
