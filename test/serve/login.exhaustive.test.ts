import { describe, expect, it, vi } from 'vitest';
import type { LoginOptions } from '../../src/serve/login.ts';
import type { Problem } from '../../src/serve/status.ts';
import { human } from '../journey/authority.ts';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { browser, loggedIn, provider } from './provider.ts';
import { call, proved, refusalIn, type Service, service, serving, shownAs, shownIn } from './service.ts';

const server = postgres();

vi.setConfig({ testTimeout: 110_000 });

const loginAt = (issuer: string): LoginOptions => ({
  ...{ issuer, client_id: 'keyturn', client_secret: 'a-secret-of-the-client' },
  ...{ claim: 'preferred_username', names: null },
});

async function withLogin(over: Partial<LoginOptions> = {}, claims?: (id: string) => Record<string, unknown>) {
  let redirect = '';
  const { issuer, start } = await provider(() => redirect, claims);
  const s = await service({ login: { ...loginAt(issuer), ...over } });
  redirect = `${s.address}/v1/login/callback`;
  start();
  return s;
}

async function sessionOf(s: Service, answer: Response) {
  const link = answer.headers.get('location')!.split('#link=')[1];
  return shownIn(await call(s, '/v1/session', { link }));
}

describe('a login by OpenID Connect', () => {
  it('is a session in the name of an enrolled human, which reads and acts in no other name', async () => {
    const s = await withLogin();
    const bo = await human(s, 'bo');
    const answer = await loggedIn(s, 'bo');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringContaining(`${s.address}/#link=`),
    ]);
    const sent = { cookie: await sessionOf(s, answer) };
    expect((await call(s, '/v1/people/list', undefined, sent)).status).toBe(200);
    const bare = { headers: { cookie: sent.cookie.cookie } };
    expect(refusalIn(await call(s, '/v1/people/list', undefined, bare))).toEqual([401, 'TOKEN_INVALID']);
    const request = { scope: 'tool', name: 'say', reason: 'a look' };
    const other = await call(s, '/v1/system/freeze', { request, by: 'ada' }, sent);
    expect(refusalIn(other)).toEqual([403, 'CALLER_OTHER']);
    const drawn = await call(s, '/v1/system/freeze', { request, by: 'bo' }, sent);
    const unsigned = { request, draft: drawn.body.draft, proofs: await proved(drawn, s.ada) };
    expect(refusalIn(await call(s, '/v1/system/freeze', unsigned, sent))).toEqual([403, 'SIGNATURE_INVALID']);
    const signed = { ...unsigned, proofs: await proved(drawn, bo) };
    expect((await call(s, '/v1/system/freeze', signed, sent)).status).toBe(200);
    const headers = shownAs(sent.cookie);
    const stream = (await fetch(`${s.address}/v1/events`, { headers })).body!.getReader();
    await s.keyturn.people.revoke({ name: 'bo', reason: 'left', signer: s.ada });
    // It hears nothing more, not even of its own end, and no path answers.
    let heard = '';
    for (let part = await stream.read(); !part.done; part = await stream.read())
      heard += Buffer.from(part.value).toString();
    expect(heard).toBe('');
    for (const path of ['/v1/people/list', '/v1/events', '/metrics', '/openapi.json'])
      expect(refusalIn(await call(s, path, undefined, sent)), path).toEqual([403, 'KEY_REVOKED']);
    expect(refusalIn(await call(s, '/v1/enrolments/list', {}, sent))).toEqual([403, 'KEY_REVOKED']);
  });

  it('is none of somebody who is not enrolled, of an agent, or of another browser', async () => {
    const s = await withLogin();
    for (const who of ['eve', 'bot']) {
      const answer = await loggedIn(s, who);
      expect([answer.status, ((await answer.json()) as { code: string }).code], who).toEqual([
        403,
        'LOGIN_REFUSED',
      ]);
    }
    const one = browser();
    const begun = await fetch(`${s.address}/v1/login`, { redirect: 'manual' });
    const state = new URL(begun.headers.get('location')!).searchParams.get('state')!;
    const [kept] = begun.headers.get('set-cookie')!.split(';');
    const back = `${s.address}/v1/login/callback?code=x&state=${state}`;
    expect((await one.go(back)).status).toBe(403);
    for (const cookie of [kept!, kept!, `${kept}x`, '']) {
      const told = await fetch(back, { headers: { cookie } });
      expect([told.status, ((await told.json()) as { code: string }).code]).toEqual([403, 'LOGIN_REFUSED']);
    }
  });

  it('is not pushed out by requests that are never ended, however many come meanwhile', async () => {
    const s = await withLogin();
    await human(s, 'bo');
    const one = browser();
    const flood = async () => {
      const answer = await fetch(`${s.address}/v1/login`, { redirect: 'manual' });
      await answer.arrayBuffer();
      return answer.status;
    };
    const answer = await loggedIn(s, 'bo', {
      go: async (...page) => {
        if (one.visited.length === 3) {
          const statuses = new Set<number>();
          for (let i = 0; i < 55; i += 1)
            for (const status of await Promise.all(Array.from({ length: 20 }, flood))) statuses.add(status);
          expect([...statuses]).toEqual([303]);
        }
        return one.go(...page);
      },
    });
    expect(one.visited.length).toBeGreaterThan(3);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('#link=')]);
  });

  it('is begun at one service and ended at another of the same address and ledger, once', async () => {
    const p = await shared(server(), 'login');
    await human(p, 'bo');
    const public_url = 'https://keys.example.org';
    const { issuer, start } = await provider(() => `${public_url}/v1/login/callback`);
    start();
    const over = { login: loginAt(issuer), public_url };
    const [a, b] = [await serving(p, over), await serving(await anotherHost(p), over)];
    const near = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
    const asked: number[] = [];
    let before = '';
    const one = browser((url) => {
      if (!url.startsWith(public_url)) return url;
      const at = url.endsWith('/v1/login') ? a : b;
      asked.push(at.port);
      return url.replace(public_url, near(at));
    });
    const answer = await loggedIn({ address: public_url }, 'bo', {
      go: async (...page) => {
        const kept = [...one.jar].find(([name]) => name === 'keyturn_login');
        if (kept) before = `keyturn_login=${kept[1].value}`;
        return one.go(...page);
      },
    });
    expect([answer.status, asked]).toEqual([303, [a.port, b.port]]);
    const link = answer.headers.get('location')!.split('#link=')[1];
    const cookie = shownIn(await call({ address: near(a) }, '/v1/session', { link }));
    for (const { port } of [a, b])
      expect((await call({ address: near({ port }) }, '/v1/people/list', undefined, { cookie })).status).toBe(
        200,
      );
    expect(before).toMatch(/^keyturn_login=.{43}/);
    const back = one.visited.find((url) => url.startsWith(`${public_url}/v1/login/callback`))!;
    for (const at of [a, b]) {
      const again = await fetch(back.replace(public_url, near(at)), { headers: { cookie: before } });
      expect([again.status, ((await again.json()) as { code: string }).code]).toEqual([403, 'LOGIN_REFUSED']);
    }
  });

  it('by an address needs one that is verified and named', async () => {
    const names = new Map([
      ['ada@example.org', 'ada'],
      ['bo@example.org', 'ada'],
    ]);
    const claims = (id: string) => ({ email: `${id}@example.org`, email_verified: id !== 'bo' });
    const s = await withLogin({ claim: 'email', names }, claims);
    expect((await loggedIn(s, 'ada')).status).toBe(303);
    for (const who of ['bo', 'eve']) expect((await loggedIn(s, who)).status, who).toBe(403);
  });

  it('ends at one attempt, also of one that fails, and no cookie is taken that no service gave', async () => {
    const s = await withLogin();
    const begun = await fetch(`${s.address}/v1/login`, { redirect: 'manual' });
    const state = new URL(begun.headers.get('location')!).searchParams.get('state')!;
    const [kept = ''] = begun.headers.get('set-cookie')!.split(';');
    const back = (cookie: string, shown = state) =>
      fetch(`${s.address}/v1/login/callback?code=x&state=${shown}`, { headers: { cookie } });
    const detail = async (answer: Promise<Response>) => ((await (await answer).json()) as Problem).detail;
    const NONE = 'No login was begun here.';
    const [, period] = /=(\d+)\./.exec(kept)!;
    const later = kept.replace(period!, String(Number(period) + 1));
    for (const [cookie, shown] of [[`${kept}x`], [later], [kept, `${state}x`], [kept, '']] as const)
      expect(await detail(back(cookie, shown)), cookie).toBe(NONE);
    expect(await detail(back(kept))).not.toBe(NONE);
    expect(await detail(back(kept))).toBe(NONE);
  });

  it('says so where the provider does not answer, and is not there where none is named', async () => {
    const nowhere = { issuer: 'http://localhost:1', client_id: 'x', client_secret: null };
    const s = await service({ login: { ...nowhere, claim: 'sub', names: null } });
    expect(refusalIn(await call(s, '/v1/login'))).toEqual([503, 'LOGIN_UNAVAILABLE']);
    const none = await service();
    expect(refusalIn(await call(none, '/v1/login', undefined, { token: none.token }))).toEqual([
      404,
      'ROUTE_UNKNOWN',
    ]);
  });
});
