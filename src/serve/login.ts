import { randomBytes } from 'node:crypto';
import type * as oidc from 'openid-client';
import { sha256 } from '../canonical/digest.ts';
import type { ServiceState } from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Site } from './guard.ts';

/** An identity provider, as the operator who starts the service names it. Nothing in the project and no request does. */
export interface LoginOptions {
  readonly issuer: string;
  readonly client_id: string;
  /** Null for a public client: PKCE is used in either case. */
  readonly client_secret: string | null;
  /** The claim that says who it is. */
  readonly claim: string;
  /** Which value of the claim is which enrolled human; null where the value is the name. */
  readonly names: ReadonlyMap<string, string> | null;
}

interface Begun {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** Says by OpenID Connect who a caller is. It gives a session that reads, and no act: those are signed here. */
export interface Login {
  /** Where the browser goes, and what it keeps meanwhile, so that no other browser can end this login. */
  begin(): Promise<{ readonly to: string; readonly kept: string }>;
  /** The name of the human who came back to this address. */
  finish(search: string, kept: string): Promise<string>;
}

export const CALLBACK = '/v1/login/callback';

export function loginBy(
  options: LoginOptions,
  { origin }: Pick<Site, 'origin'>,
  service: ServiceState,
): Login {
  const redirect_uri = `${origin}${CALLBACK}`;
  const issuer = issuerOf(options.issuer);
  let known: Promise<oidc.Configuration> | null = null;
  const provider = async () => {
    const client = await import('openid-client');
    known ??= discovered(client, issuer, options);
    try {
      return { client, config: await known };
    } catch {
      known = null;
      return refuse('LOGIN_UNAVAILABLE');
    }
  };
  return {
    begin: async () => {
      const { client, config } = await provider();
      const kept = randomBytes(32).toString('base64url');
      const made: Begun = {
        verifier: client.randomPKCECodeVerifier(),
        state: client.randomState(),
        nonce: client.randomNonce(),
      };
      const row = { key: sha256(kept), value: JSON.stringify(made), ttl_ms: webLimits.login_ms };
      await service.put('login', row, webLimits.logins);
      const to = client.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: 'openid profile email',
        state: made.state,
        nonce: made.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(made.verifier),
        code_challenge_method: 'S256',
      });
      return { to: to.href, kept };
    },
    finish: async (search, kept) => {
      const text = await service.take('login', sha256(kept));
      const found: Begun =
        text === null ? refuse('LOGIN_REFUSED', 'No login was begun here.') : JSON.parse(text);
      const { client, config } = await provider();
      const claims = await client
        .authorizationCodeGrant(config, new URL(`${redirect_uri}${search}`), {
          pkceCodeVerifier: found.verifier,
          expectedState: found.state,
          expectedNonce: found.nonce,
          idTokenExpected: true,
        })
        // What the provider said could hold anything.
        .then((tokens) => tokens.claims() ?? null)
        .catch(() => null);
      return nameIn(claims ?? refuse('LOGIN_REFUSED'), options);
    },
  };
}

/** Without TLS only on this machine, where a test or a proxy is. */
function issuerOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const is_near = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url === null || !(url.protocol === 'https:' || is_near))
    throw new Refusal('USAGE', '--oidc-issuer takes an address with https://.');
  return url;
}

function discovered(client: typeof oidc, issuer: URL, { client_id, client_secret }: LoginOptions) {
  const authentication = client_secret === null ? client.None() : client.ClientSecretPost(client_secret);
  const near = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  return client.discovery(issuer, client_id, undefined, authentication, {
    execute: [client.enableNonRepudiationChecks, ...near],
  });
}

/** Refuses an account that is not one of those that were named. */
function nameIn(claims: oidc.IDToken, { claim, names }: LoginOptions): string {
  const value = claims[claim];
  if (typeof value !== 'string') refuse('LOGIN_REFUSED', `The provider says no "${claim}".`);
  if (claim === 'email' && claims.email_verified !== true)
    refuse('LOGIN_REFUSED', 'The provider has not verified the address.');
  const name = names === null ? value : names.get(value);
  return name ?? refuse('LOGIN_REFUSED', 'No enrolled human is named for this account.');
}
