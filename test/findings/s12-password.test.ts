import { createHash } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { copyStore, Keyturn } from '../../src/keyturn.ts';
import { layoutOf } from '../../src/project/layout.ts';
import { readLedgerFile, writeLedgerFile } from '../../src/project/ledger-file.ts';
import { postgresPlace } from '../../src/store/open.ts';
import { migratePostgresStore, openPostgresStore } from '../../src/store/postgres/store.ts';
import { makeProject } from '../cli/project.ts';
import {
  ask,
  type FakePostgres,
  fakePostgres,
  type Message,
  type Script,
  serverFirst,
  welcome,
} from '../support/fake-postgres.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const PASSWORD = 'correct-horse-battery';
const ROOT = fileURLToPath(new URL('../store/fixtures/server.crt', import.meta.url));
const VERIFIED = `?sslmode=verify-full&sslrootcert=${ROOT}`;
const SIGNATURE = `v=${Buffer.alloc(32).toString('base64')}`;

/** A second answer in the same packet, while the first one is being computed. */
const TWICE = ask.saslContinue('r=x,s=AAAA,i=1');

const asking =
  (request: Buffer): Script =>
  ({ type }, reply) =>
    type === 'startup' ? reply(request) : type === 'p' ? reply(welcome) : reply();

/** SCRAM as far as the proof of the client; `then` is what follows. */
const scram =
  (mechanisms: string[], first: (message: Message) => Buffer[], ...then: Buffer[]): Script =>
  (message, reply) => {
    if (message.type === 'startup') return reply(ask.sasl(...mechanisms));
    if (message.type !== 'p') return reply();
    if (message.body.toString().includes(',,n=')) return reply(...first(message));
    reply(...then);
  };

const urlOf = ({ port }: FakePostgres, query = '', host = '127.0.0.1') =>
  `postgres://app:${PASSWORD}@${host}:${port}/keyturn${query}`;

const open = (url: string, mode: 'read' | 'write' | 'create' = 'read') =>
  openPostgresStore({ url, tenant: 'default', clock: () => new Date(), mode, busy_ms: 200 });

/** Neither the password nor its MD5 hash, which lets an attacker in as well. */
function expectNothingSent({ heard }: FakePostgres): void {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const text = heard.map(({ body }) => body.toString('latin1')).join('\n');
  expect(text).not.toContain(PASSWORD);
  expect(text).not.toContain('md5');
  expect(text).not.toContain(md5(`${PASSWORD}app`));
}

describe('S12: a password goes to no server that could read it', () => {
  it.each([
    ['cleartext', ask.cleartext],
    ['MD5', ask.md5],
  ])('a server that asks for it as %s gets nothing', async (_name, request) => {
    const server = await fakePostgres(asking(request));
    for (const mode of ['read', 'write', 'create'] as const) {
      const refused = open(urlOf(server), mode);
      await refused.catch(() => undefined);
      expectNothingSent(server);
      await expectRefusal('STORE_PASSWORD_UNSAFE', () => refused);
    }
    expect(server.heard.filter(({ type }) => type === 'p')).toEqual([]);
  });

  it('wherever the password comes from, and whatever connects', async () => {
    const folder = scratch();
    await makeProject(folder);
    const server = await fakePostgres(asking(ask.cleartext));
    const bare = urlOf(server).replace(`:${PASSWORD}`, '');
    const file = join(folder, 'pgpass');
    writeFileSync(file, `*:*:*:*:${PASSWORD}\n`);
    chmodSync(file, 0o600);
    for (const [name, value] of [
      ['PGPASSWORD', PASSWORD],
      ['PGPASSFILE', file],
    ] as const) {
      vi.stubEnv(name, value);
      await expectRefusal('STORE_PASSWORD_UNSAFE', () => open(bare));
      await expectRefusal('STORE_PASSWORD_UNSAFE', () => migratePostgresStore({ url: bare }));
      const copy = { at: folder, from: bare, to: join(folder, 'copy.db') };
      await expectRefusal('STORE_PASSWORD_UNSAFE', () => copyStore(copy));
      writeFileSync(join(folder, 'keyturn.yaml'), `version: 1\nstore: ${bare}\n`);
      // As if the ledger were there.
      writeLedgerFile(layoutOf(folder), readLedgerFile(layoutOf(folder)), postgresPlace(bare));
      await expectRefusal('STORE_PASSWORD_UNSAFE', () => Keyturn.open({ at: folder }));
      vi.unstubAllEnvs();
    }
    expectNothingSent(server);
  });

  it('a socket on this machine is no exception: its path does not say who listens', async () => {
    const folder = scratch();
    const server = await fakePostgres(asking(ask.cleartext), join(folder, '.s.PGSQL.5432'));
    const url = `postgres://app:${PASSWORD}@${encodeURIComponent(folder)}/keyturn`;
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => open(url));
    expectNothingSent(server);
  });

  it('TLS counts only where the certificate names this host: require and verify-ca do not', async () => {
    for (const request of [ask.cleartext, ask.md5]) {
      const server = await fakePostgres(asking(request));
      for (const query of ['?sslmode=require', `?sslmode=verify-ca&sslrootcert=${ROOT}`])
        await expectRefusal('STORE_PASSWORD_UNSAFE', () => open(urlOf(server, query, 'localhost')));
      await expectRefusal('STORE_TLS', () => open(urlOf(server, '?sslmode=verify-full', 'localhost')));
      expectNothingSent(server);
      await open(urlOf(server, VERIFIED, 'localhost')).catch(() => undefined);
      expect(server.heard.filter(({ type }) => type === 'p')).toHaveLength(1);
    }
  });

  it('an encrypted connection that is not verified needs SCRAM that is bound to its certificate', async () => {
    const plain = await fakePostgres(scram(['SCRAM-SHA-256'], (message) => [serverFirst(message, 4096)]));
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => open(urlOf(plain, '?sslmode=require')));
    expect(plain.heard.filter(({ type }) => type === 'p')).toEqual([]);
    const bound = await fakePostgres(
      scram(['SCRAM-SHA-256', 'SCRAM-SHA-256-PLUS'], (message) => [serverFirst(message, 4096)]),
    );
    await expectRefusal('STORE_UNREACHABLE', () => open(urlOf(bound, '?sslmode=require')));
    const [first, proof] = bound.heard.filter(({ type }) => type === 'p');
    expect(first!.body.toString()).toContain('p=tls-server-end-point,,');
    expect(proof!.body.toString()).toMatch(/^c=.{40,},r=.*,p=/);
  });

  it('SCRAM is not left for a weaker way once it has begun', async () => {
    const server = await fakePostgres(scram(['SCRAM-SHA-256'], () => [ask.cleartext, ask.md5]));
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => open(urlOf(server)));
    expectNothingSent(server);
    const late = await fakePostgres(
      scram(['SCRAM-SHA-256'], (message) => [serverFirst(message, 4096)], ask.cleartext),
    );
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => open(urlOf(late)));
    expectNothingSent(late);
  });

  it('a proof that is cheap to guess from is not given to a server that is not verified', async () => {
    for (const iterations of [1, 4095, '4096,i=1', '1,i=4096', 4096])
      for (const more of iterations === 4096 ? [[TWICE]] : [[], [TWICE]]) {
        const server = await fakePostgres(
          scram(['SCRAM-SHA-256'], (message) => [serverFirst(message, iterations), ...more]),
        );
        await open(urlOf(server)).catch(() => undefined);
        expect(server.heard.filter(({ type }) => type === 'p')).toHaveLength(1);
      }
    const server = await fakePostgres(scram(['SCRAM-SHA-256'], (message) => [serverFirst(message, 1)]));
    await expectRefusal('STORE_PASSWORD_UNSAFE', () => open(urlOf(server)));
  });
});

describe('S12: a server proves that it knows the password, or is not used', () => {
  it.each([
    ['gives a wrong signature', [ask.saslFinal(SIGNATURE), welcome]],
    ['gives none', [ask.saslFinal('x=1'), welcome]],
    ['says welcome in its place', [welcome]],
  ])('one that %s is refused', async (_name, then) => {
    const server = await fakePostgres(
      scram(['SCRAM-SHA-256'], (message) => [serverFirst(message, 4096)], ...then),
    );
    await expectRefusal('STORE_UNPROVEN', () => open(urlOf(server)));
    expectNothingSent(server);
  });

  it('one that ends the exchange before it began is refused, with verified TLS too', async () => {
    for (const then of [[ask.saslFinal(SIGNATURE), welcome], [welcome]]) {
      const server = await fakePostgres(scram(['SCRAM-SHA-256'], () => then));
      await expectRefusal('STORE_UNPROVEN', () => open(urlOf(server)));
      await expectRefusal('STORE_UNPROVEN', () => open(urlOf(server, VERIFIED, 'localhost')));
      expectNothingSent(server);
    }
  });

  it('one that knows only ways that Keyturn does not is refused', async () => {
    for (const request of [ask.sasl('SCRAM-SHA-1', 'OAUTHBEARER'), ask.kerberos]) {
      const server = await fakePostgres(asking(request));
      await expectRefusal('STORE_DENIED', () => open(urlOf(server)));
      expectNothingSent(server);
    }
  });
});
