import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
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

/** What OAuth and OpenID Connect want to hear again. Of 256 bits each, as base64url. */
interface Begun {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

/**
 * Beginning a login needs no credential, so it stores nothing: requests without end would push out the logins of others. What is asked for again
 * follows from what the browser keeps and a key that the services of a ledger share for a while. A caller that does not know the state is refused.
 */
function begunWith(key: string, kept: string): Begun {
  const of = (what: string) =>
    createHmac('sha256', key).update(`keyturn-login/1\n${what}\n${kept}`).digest('base64url');
  return { verifier: of('verifier'), state: of('state'), nonce: of('nonce') };
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
  now: () => number = Date.now,
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
      const period = String(Math.floor(now() / webLimits.login_ms));
      const kept = `${period}.${fresh()}`;
      const made = begunWith(await keyOf(service, period), kept);
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
      const [, period] = /^([0-9]{1,12})\.[A-Za-z0-9_-]{43}$/.exec(kept) ?? [];
      const key = period === undefined ? null : await service.get(KEYS, period);
      const found = key === null ? null : begunWith(key, kept);
      if (found === null || !isSame(found.state, new URLSearchParams(search).get('state') ?? ''))
        refuse('LOGIN_REFUSED', 'No login was begun here.');
      await spend(service, sha256(kept));
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

const KEYS = 'login-key';
const fresh = () => randomBytes(32).toString('base64url');
const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** The key of logins that begin in this period. It outlives the period by the time that one may take. */
async function keyOf(service: ServiceState, period: string): Promise<string> {
  const known = await service.get(KEYS, period);
  if (known !== null) return known;
  const [value, ttl_ms] = [fresh(), 2 * webLimits.login_ms];
  // Of several services one makes it.
  if (!(await service.lease(KEYS, period, value, ttl_ms)))
    return (await service.get(KEYS, period)) ?? refuse('LOGIN_UNAVAILABLE');
  await service.put(KEYS, { key: period, value, ttl_ms }, webLimits.login_keys);
  return value;
}

/** One login ends once. A code that its provider gave is spent there, too, so forgetting the oldest opens nothing. */
async function spend(service: ServiceState, key: string): Promise<void> {
  const [value, ttl_ms] = [fresh(), 2 * webLimits.login_ms];
  if (!(await service.lease('login', key, value, ttl_ms)))
    refuse('LOGIN_REFUSED', 'No login was begun here.');
  await service.put('login', { key, value, ttl_ms }, webLimits.logins);
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
