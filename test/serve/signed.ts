import { randomUUID } from 'node:crypto';
import { sign } from '../../src/canonical/ed25519.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { digestOf } from '../identity/authenticator.ts';
import { freshSigner } from '../support/keys.ts';
import { call, type Service, type Told } from './service.ts';

/** An agent with a key. */
export async function keyed(s: Service, name = 'scout'): Promise<OpenKey> {
  const key = freshSigner(name);
  const { public_key } = key;
  await s.keyturn.people.enrol({ name, principal: 'agent', public_key, signer: s.ada });
  return key;
}

export interface Signing {
  readonly method?: string;
  readonly authority?: string;
  readonly path?: string;
  readonly body?: string;
  readonly created?: number;
  readonly nonce?: string;
  readonly tag?: string;
  readonly keyid?: string;
  readonly alg?: string;
  readonly covered?: readonly string[];
  readonly more?: string;
  /** Further headers, which are covered. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The headers of a signed request, written down by hand from RFC 9421, so that the service is not held against its own client. */
export function signatureOf(s: Service, key: OpenKey, wanted: Signing): Record<string, string> {
  const { body } = wanted;
  const content: Record<string, string> =
    body === undefined
      ? {}
      : {
          'content-type': 'application/json',
          'content-digest': `sha-256=:${Buffer.from(digestOf(body), 'hex').toString('base64')}:`,
        };
  const [path, query] = (wanted.path ?? '/v1/intents/list').split('?');
  const values: Record<string, string> = {
    '@method': wanted.method ?? (body === undefined ? 'GET' : 'POST'),
    '@authority': wanted.authority ?? new URL(s.address).host,
    '@path': path!,
    '@query': `?${query ?? ''}`,
    ...content,
    ...wanted.headers,
  };
  const covered = wanted.covered ?? Object.keys(values);
  const parameters = [
    `created=${wanted.created ?? Math.floor(Date.now() / 1000)}`,
    `keyid="${wanted.keyid ?? key.name}"`,
    `alg="${wanted.alg ?? 'ed25519'}"`,
    `nonce="${wanted.nonce ?? randomUUID()}"`,
    `tag="${wanted.tag ?? s.keyturn.host.origin}"`,
  ].join(';');
  const params = `(${covered.map((one) => `"${one}"`).join(' ')});${parameters}${wanted.more ?? ''}`;
  const lines = covered.map((one) => `"${one}": ${values[one] ?? ''}`);
  const base = [...lines, `"@signature-params": ${params}`].join('\n');
  return {
    ...content,
    ...wanted.headers,
    'signature-input': `sig1=${params}`,
    signature: `sig1=:${sign(Buffer.from(base), key.key)}:`,
  };
}

/** A request with a signature of its own. */
export function callSigned(
  s: Service,
  key: OpenKey,
  path: string,
  request?: object,
  wanted: Signing = {},
): Promise<Told> {
  const body = request === undefined ? undefined : JSON.stringify(request);
  const headers = signatureOf(s, key, { path, ...(body !== undefined && { body }), ...wanted });
  return call(s, path, body, { headers });
}
