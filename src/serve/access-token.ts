import type { JWTVerifyGetKey } from 'jose';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Site } from './guard.ts';

/** An authorization server whose tokens agents show at /mcp, as the operator who starts the service names it. */
export interface AccessOptions {
  readonly issuer: string;
  /** The claim that says which agent it is. */
  readonly claim: string;
  /** Which value of the claim is which enrolled agent; null where the value is the name. */
  readonly names: ReadonlyMap<string, string> | null;
}

/** Says by an access token which agent calls. It is a protected resource of RFC 9728: it issues nothing. */
export interface ProtectedResource {
  readonly metadata: object;
  /** What an answer without a proven caller says, so that a client finds the authorization server. */
  readonly challenge: string;
  /** The name of the agent; null where the request shows no token of this kind. */
  nameIn(headers: Headers): Promise<string | null>;
}

export const RESOURCE_PATHS = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
] as const;

/** No symmetric one: a service that can verify it could sign it. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

/** Three parts with dots between them: a token of Keyturn's own has none. */
const JWT = /^Bearer ([A-Za-z0-9_-]{1,4096}\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{1,2048})$/i;

export function accessBy(
  { issuer: text, claim, names }: AccessOptions,
  { origin }: Pick<Site, 'origin'>,
): ProtectedResource {
  const issuer = issuerIn(text);
  const resource = `${origin}/mcp`;
  let known: Promise<JWTVerifyGetKey> | null = null;
  const keys = () => {
    known ??= keysOf(issuer);
    known.catch(() => {
      known = null;
    });
    return known;
  };
  return {
    metadata: {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      resource_name: 'Keyturn',
    },
    challenge: `Bearer resource_metadata="${origin}${RESOURCE_PATHS[1]}"`,
    nameIn: async (headers) => {
      const [, token] = JWT.exec(headers.get('authorization') ?? '') ?? [];
      if (token === undefined) return null;
      const key = await keys().catch(() => refuse('LOGIN_UNAVAILABLE'));
      const { jwtVerify } = await import('jose');
      // For this resource alone: a token that was issued for another one is refused, also from this issuer.
      const checks = { issuer, audience: resource, algorithms: ALGORITHMS, requiredClaims: ['exp'] };
      const skew = { clockTolerance: limits.clock_skew_ms / 1000 };
      const verified = await jwtVerify(token, key, { ...checks, ...skew }).catch(() =>
        refuse('TOKEN_INVALID'),
      );
      const value = verified.payload[claim];
      const name = typeof value === 'string' ? (names === null ? value : names.get(value)) : undefined;
      return name ?? refuse('TOKEN_INVALID', `No enrolled agent is named for the "${claim}" of this token.`);
    },
  };
}

/** Without TLS only on this machine, where a test or a proxy is. */
function issuerIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const is_near = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url === null || !(url.protocol === 'https:' || is_near))
    throw new Refusal('USAGE', '--oauth-issuer takes an address with https://.');
  return text;
}

/** The keys that the server itself names. Looked up again by `jose` when a token names another one. */
async function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet } = await import('jose');
  const base = issuer.replace(/\/$/, '');
  for (const name of ['oauth-authorization-server', 'openid-configuration']) {
    const answer = await fetch(`${base}/.well-known/${name}`, { redirect: 'error' }).catch(() => null);
    if (!answer?.ok) continue;
    const found = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (found.issuer === issuer && typeof found.jwks_uri === 'string')
      return createRemoteJWKSet(new URL(issuerIn(found.jwks_uri)));
  }
  return refuse('LOGIN_UNAVAILABLE');
}
