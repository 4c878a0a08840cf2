import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { ReasonCode } from '../../src/keyturn.ts';
import { authority, human } from '../journey/authority.ts';
import { browser, loggedIn, provider } from '../serve/provider.ts';
import { serveProcess } from '../serve/serve-process.ts';
import { call, shownIn } from '../serve/service.ts';
import type { Project } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';

/** The `--oidc-*` options of `keyturn serve`, with a real provider. */

vi.setConfig({ testTimeout: 110_000 });

function file(text: string): string {
  const path = join(scratch(), 'client.secret');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const SECRET = 'a-secret-of-the-client';
const emailOf = (id: string) => ({ email: `${id}@example.org`, email_verified: id !== 'eve' });

async function withProvider(
  over: (issuer: string) => readonly string[],
  claims: (id: string) => Record<string, unknown> = emailOf,
) {
  const p = await authority();
  await human(p, 'bo');
  let redirect = '';
  const { issuer, start } = await provider(() => redirect, claims);
  const s = await serveProcess(p, '--no-execute', ...over(issuer));
  redirect = `${s.address}/v1/login/callback`;
  start();
  const as = async (who: string) => {
    const answer = await loggedIn(s, who, browser());
    const to = answer.headers.get('location');
    if (to === null) return ((await answer.json()) as { code: string }).code;
    const link = to.split('#link=')[1];
    const cookie = shownIn(await call(s, '/v1/session', { link }));
    const draft = async (by: string) => {
      const request = { scope: 'tool', name: 'say', reason: 'a look' };
      return (await call(s, '/v1/system/freeze', { request, by }, { cookie })).status;
    };
    const drawn = await Promise.all(['ada', 'bo'].map(async (by) => [by, await draft(by)] as const));
    return drawn.flatMap(([by, status]) => (status === 403 ? [] : [by])).join();
  };
  return { s, as };
}

const named = (issuer: string, ...more: string[]) => [
  ...['--oidc-issuer', issuer, '--oidc-client', 'keyturn'],
  ...['--oidc-secret-file', file(`${SECRET}\n`), ...more],
];

describe('keyturn serve with a provider', () => {
  it('opens sessions for those whose name it says', async () => {
    const { s, as } = await withProvider((issuer) => named(issuer, '--oidc-claim', 'preferred_username'));
    expect([await as('bo'), await as('ada'), await as('eve')]).toEqual(['bo', 'ada', 'LOGIN_REFUSED']);
    expect(s.stdout() + s.stderr()).not.toContain(SECRET);
  });

  it('takes the subject of an account, and no name that its owner chose, where names are given alone', async () => {
    const { as } = await withProvider(
      (issuer) => named(issuer, '--oidc-name', 'chief=bo'),
      () => ({ preferred_username: 'chief', name: 'chief', nickname: 'bo' }),
    );
    expect([await as('chief'), await as('bo'), await as('eve')]).toEqual([
      'bo',
      'LOGIN_REFUSED',
      'LOGIN_REFUSED',
    ]);
  });

  it('takes a claim and names together: only who is named, by a value that the provider verified', async () => {
    const { as } = await withProvider((issuer) =>
      named(
        issuer,
        ...['--oidc-claim', 'email', '--oidc-name', 'chief@example.org=bo'],
        ...['--oidc-name', 'eve@example.org=ada'],
      ),
    );
    expect([await as('chief'), await as('bo'), await as('eve')]).toEqual([
      'bo',
      'LOGIN_REFUSED',
      'LOGIN_REFUSED',
    ]);
  });

  it('says no to all, and goes on, where the secret is another, and where the provider is gone', async () => {
    const { as } = await withProvider((issuer) => [
      ...['--oidc-issuer', issuer, '--oidc-client', 'keyturn'],
      ...['--oidc-secret-file', file('another'), '--oidc-claim', 'sub'],
    ]);
    expect(await as('bo')).toBe('LOGIN_REFUSED');
    const gone = await serveProcess(
      await authority(),
      '--no-execute',
      ...named('http://localhost:1', '--oidc-claim', 'sub'),
    );
    const told = await call(gone, '/v1/login');
    expect([told.status, told.body.code]).toEqual([503, 'LOGIN_UNAVAILABLE']);
    expect((await call(gone, '/livez')).status).toBe(200);
  });
});

describe('keyturn serve does not start', () => {
  const expectRefused = async (code: ReasonCode, p: Project, words: readonly string[]) => {
    const { address, stdout, stderr } = await serveProcess(p, '--no-execute', ...words);
    expect([address, JSON.parse(stdout()).code, stderr()], words.join(' ')).toEqual(['', code, '']);
  };
  const https = 'https://login.example.org';

  it('with a provider that it cannot trust, or that is named in part', async () => {
    const p = await authority();
    const both = (issuer: string) => ['--oidc-issuer', issuer, '--oidc-client', 'keyturn'];
    const sub = ['--oidc-claim', 'sub'];
    for (const words of [
      [...both('http://login.example.org'), ...sub],
      [...both('login.example.org'), ...sub],
      [...both('file:///etc/passwd'), ...sub],
      [...both(''), ...sub],
      both(https),
      ['--oidc-issuer', https],
      ['--oidc-issuer', https, '--oidc-client', ''],
      ['--oidc-client', 'keyturn'],
      ['--oidc-claim', 'email'],
      ['--oidc-name', 'a=ada'],
      ['--oidc-secret-file', file(SECRET)],
      [...both(https), '--oidc-claim', ''],
      [...both(https), '--oidc-name', 'ada'],
      [...both(https), '--oidc-name', '=ada'],
      [...both(https), '--oidc-name', 'a='],
      [...both(https), '--oidc-name', 'a=ada', '--oidc-name', 'a=bo'],
    ])
      await expectRefused('USAGE', p, words);
  });

  it('with a file of the secret that is missing, a folder or empty', async () => {
    const p = await authority();
    const folder = join(scratch(), 'folder');
    mkdirSync(folder);
    const all = (path: string) => [
      '--oidc-issuer',
      https,
      '--oidc-client',
      'keyturn',
      '--oidc-secret-file',
      path,
      '--oidc-claim',
      'sub',
    ];
    await expectRefused('FILE_UNREADABLE', p, all(join(folder, 'missing')));
    await expectRefused('FILE_UNREADABLE', p, all(folder));
    await expectRefused('USAGE', p, all(file('\n')));
  });

  it('with two agents for one value of an access token', async () => {
    const p = await authority();
    const words = ['--oauth-issuer', https, '--oauth-name', 'a=bot', '--oauth-name', 'a=scout'];
    await expectRefused('USAGE', p, words);
  });
});
