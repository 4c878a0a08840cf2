import { type KeyObject, sign } from 'node:crypto';
import { sha256 } from '../../src/canonical/digest.ts';
import { keyPairFromSeed, type PublicKey, privateKeyOf, publicKeyOf } from '../../src/canonical/ed25519.ts';
import { kidOf } from '../../src/capability/key.ts';
import type { Holder } from '../../src/capability/proof.ts';
import type { ResourceScope } from '../../src/capability/scope.ts';
import { type CapabilityClaims, mint } from '../../src/capability/token.ts';
import type { Expected, KeyLookup } from '../../src/capability/verify.ts';

export interface Keyring extends Holder {
  readonly kid: string;
  readonly public: KeyObject;
}

/** The same key for the same number, so that a failure can be seen again. */
export function keyring(number: number): Keyring {
  const { public_key, seed } = keyPairFromSeed(Buffer.alloc(32, number));
  return { public_key, kid: kidOf(public_key), key: privateKeyOf(seed), public: publicKeyOf(public_key) };
}

/** The control plane, its key before that, a stranger, and three who hold capabilities. */
export const control = keyring(1);
export const retired = keyring(2);
export const stranger = keyring(3);
export const ann = keyring(4);
export const bob = keyring(5);
export const cyd = keyring(6);

export const keys: KeyLookup = (kid) => [control, retired].find((known) => known.kid === kid)?.public ?? null;

export const NOW = new Date('2030-05-06T10:00:00.000Z');
export const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

export const NOTHING: ResourceScope = {
  unconfined: false,
  network: false,
  read: [],
  write: [],
  pipelines: [],
};

export const SCOPE: ResourceScope = { ...NOTHING, network: true, read: ['/etc/app'], write: ['/srv/data'] };

export const CLAIMS: CapabilityClaims = {
  jti: '7d0c1b1e-6a43-4d53-9f0e-3c1f5a2b4c6d',
  issuer: 'keyturn/0b9f6c1e-0000-4000-8000-000000000000/default',
  audience: 'keyturn/executor/host-1',
  intent_id: '11111111-2222-4333-8444-555555555555',
  intent_hash: sha256('intent'),
  effect_digest: sha256('effect'),
  attempt: 1,
  policy: sha256('policy'),
  action: 'tool:deploy',
  tool_category: 'deployment',
  scope: SCOPE,
  conditions: { environment: 'staging' },
  issued_at: '2030-05-06T10:00:00.000Z',
  expires_at: '2030-05-06T10:05:00.000Z',
  holder: null,
};

export const EXPECTED: Expected = {
  now: NOW,
  audience: CLAIMS.audience,
  intent_id: CLAIMS.intent_id,
  intent_hash: CLAIMS.intent_hash,
  effect_digest: CLAIMS.effect_digest,
  attempt: 1,
  action: 'tool:deploy',
  needs: SCOPE,
  facts: { now: NOW, environment: 'staging', host: 'host-1', fileDigest: () => null },
};

export const HERE = { audience: CLAIMS.audience, now: NOW };

export const minted = (claims: Partial<CapabilityClaims> = {}) => mint({ ...CLAIMS, ...claims }, control);
export const held = (by: Holder = ann) => minted({ holder: by.public_key });

export const HEADER = { alg: 'EdDSA', typ: 'keyturn-capability+jwt', kid: control.kid };
export const ATTENUATION = { alg: 'EdDSA', typ: 'keyturn-attenuation+jwt', kid: ann.kid };

const encoded = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

/** What an attacker with this key can sign: any header, any payload, as objects or as text. */
export function forged(header: unknown, payload: unknown, { key }: Pick<Holder, 'key'> = control): string {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}

export const partsOf = (text: string) => text.split('.') as [header: string, payload: string, mac: string];

export function payloadIn(text: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(partsOf(text)[1], 'base64url').toString());
}

export interface Block {
  readonly jti: string;
  readonly prev: string;
  readonly iat: number;
  readonly exp: number;
  readonly authorization_details: unknown;
  readonly cnf?: unknown;
}

/** A further block that says nothing new, for `before`. */
export function blockAfter(before: string): Block {
  const { jti, iat, exp, authorization_details } = payloadIn(before) as unknown as Block;
  return { jti, prev: sha256(before), iat, exp, authorization_details };
}

/** A chain that its holder made without asking Keyturn whether it may. */
export function chained(
  before: string,
  change: (block: Block) => unknown = (block) => block,
  by: Keyring = ann,
  header: object = {},
): string {
  return `${before}~${forged({ ...ATTENUATION, kid: by.kid, ...header }, change(blockAfter(before)), by)}`;
}

export const bound = (key: PublicKey) => ({
  cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'base64').toString('base64url') } },
});

type Details = Record<string, unknown> & { scope: ResourceScope; conditions: Record<string, unknown> };

/** The block with its one authorization changed. */
export function authorizing(block: Block, change: (details: Details) => object): Block {
  const [details] = block.authorization_details as [Details];
  return { ...block, authorization_details: [{ ...details, ...change(details) }] };
}
