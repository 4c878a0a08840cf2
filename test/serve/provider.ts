import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { onTestFinished, vi } from 'vitest';
import type { Service } from './service.ts';

/** A real provider on this machine. It believes every name that a user logs in with. */
export async function provider(
  redirect: () => string,
  claims: (id: string) => Record<string, unknown> = () => ({}),
) {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://localhost:${(server.address() as { port: number }).port}`;
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'info').mockImplementation(() => {});
  let started = false;
  const start = () => {
    if (started) return;
    started = true;
    const oidc = new Provider(issuer, {
      clients: [
        {
          client_id: 'keyturn',
          client_secret: 'a-secret-of-the-client',
          token_endpoint_auth_method: 'client_secret_post',
          redirect_uris: [redirect()],
        },
      ],
      claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      cookies: { keys: ['a test'] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, preferred_username: id, ...claims(id) }),
      }),
    });
    server.on('request', oidc.callback());
  };
  return { issuer, start };
}

/** A browser without a screen: it keeps cookies for each path, and follows. `through` is what stands before the address that it sees. */
export function browser(through: (url: string) => string = (url) => url) {
  const jar = new Map<string, { value: string; path: string; port: string }>();
  const visited: string[] = [];
  const go = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const { port, pathname } = new URL(url);
    const sent = [...jar].filter(([, one]) => one.port === port && pathname.startsWith(one.path));
    visited.push(url);
    const answer = await fetch(through(url), {
      redirect: 'manual',
      headers: { cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const text of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(text)!;
      const path = /path=([^;]+)/i.exec(text)?.[1] ?? '/';
      if (value === '') jar.delete(name!);
      else jar.set(name!, { value: value!, path, port });
    }
    const to = answer.headers.get('location');
    return to === null || to.includes('#') ? answer : go(new URL(to, url).href);
  };
  return { go, jar, visited };
}

/** Logs in at the provider, and says where the browser is then. */
export async function loggedIn(
  s: Pick<Service, 'address'>,
  who: string,
  { go }: Pick<ReturnType<typeof browser>, 'go'> = browser(),
): Promise<Response> {
  let answer = await go(`${s.address}/v1/login`);
  for (const form of [{ prompt: 'login', login: who, password: 'x' }, { prompt: 'consent' }]) {
    const page = await answer.text();
    const [, action] = /<form[^>]+action="([^"]+)"/.exec(page) ?? [];
    if (action === undefined) throw new Error(`${answer.status} ${page}`);
    answer = await go(action, form as Record<string, string>);
  }
  return answer;
}
