import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { freshSigner } from '../support/keys.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { expectError, fileFolder, makeProject, type Project, typedCode } from './project.ts';
import { afterLook, type Body, type Liar, type Lie, liarBefore, type Raw } from './remote-liar.ts';
import { ended, type Laptop, laptop, SECRET, type Served, served } from './remote-scene.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const folder = fileFolder();
let project: Project;
let service: Served;
let liar: Liar;
let near: Laptop;
let far: Laptop;
let lying: Liar['lying'];

beforeAll(async () => {
  for (const name of ['host', 'near']) mkdirSync(join(folder, name));
  project = await makeProject(join(folder, 'host'));
  service = await served(project);
  liar = await liarBefore(() => service.address);
  ({ lying } = liar);
  near = laptop(project, join(folder, 'near'), () => service.address);
  await near.login();
  far = liar.laptopOf(project, near);
});
afterAll(async () => {
  liar.close();
  await ended(service);
});

const approving = (id: string, hash: string) =>
  far.talk(['approve', id], ['to approve it: ', typedCode(hash)], SECRET);
const approvals = async (id: string) =>
  (await project.inside(({ intents }) => intents.get({ intent_id: id }))).approvals.length;
const raw = (status: number, type: string, text: string, more = {}): Raw => ({
  status,
  headers: { 'content-type': type, ...more },
  text,
});

describe('a service that lies', () => {
  it('shows nothing whose hash it does not tell, and what is drawn is the effect and not its words', async () => {
    const { id, hash } = await project.propose('greet', { name: 'Ada' });
    const reviewed =
      (change: (body: Body) => Body): Lie =>
      (path, body) =>
        path.endsWith('/review') ? change(body) : undefined;
    for (const change of [
      (body: Body) => ({
        ...body,
        effect: { ...body.effect, argv: [...body.effect.argv.slice(0, -1), 'Eve'] },
      }),
      (body: Body) => ({ ...body, envelope: { ...body.envelope, declared_goal: 'Something else.' } }),
      (body: Body) => ({ ...body, intent: { ...body.intent, hash: 'a'.repeat(64) } }),
      (body: Body) => ({ ...body, intent: { ...body.intent, proposer: 'alice' } }),
      (body: Body) => ({ ...body, intent: { ...body.intent, actions: ['tool:harmless'] } }),
    ]) {
      const refused = await lying(reviewed(change), () => far.run('approve', id));
      expectError('ACT_OTHER', refused);
    }
    const painted = reviewed((body) => ({
      ...body,
      shown: JSON.parse(JSON.stringify(body.shown).replaceAll('Ada', 'all is well')),
    }));
    const { screen } = await lying(painted, () => approving(id, hash));
    expect(screen).toContain('Ada');
    expect(screen).not.toContain('all is well');
  });

  it('gets no signature on another act than was shown, and the passphrase never passes', async () => {
    const shown = await project.propose('greet', { name: 'Ada' });
    const other = await project.propose('reach', { count: 3 });
    let passed = '';
    const drafted = (change: (draft: Body) => Body): Lie => {
      const is_signed = afterLook();
      return (path, body, asked) => {
        passed += JSON.stringify(asked);
        const lies = path.endsWith('/approve') && body.draft && is_signed();
        return lies ? { ...body, draft: change(body.draft) } : undefined;
      };
    };
    const edited = (from: string, to: string) => (draft: Body) => ({
      ...draft,
      statements: draft.statements.map((one: string) => one.replaceAll(from, to)),
    });
    const late = (draft: Body) => ({
      ...draft,
      statements: draft.statements.map((one: string) =>
        one.replace(/"deadline":"[^"]+"/, '"deadline":"2099-01-01T00:00:00.000Z"'),
      ),
    });
    for (const change of [
      edited(shown.hash, other.hash),
      edited(shown.id, other.id),
      edited('approval.granted', 'order.given'),
      edited('keyturn-act/1', 'keyturn-proposal/1'),
      edited('"keyturn/', '"keyturn/x'),
      late,
      (draft: Body) => ({ ...draft, statements: [...draft.statements, ...draft.statements] }),
      (draft: Body) => ({ ...draft, by: 'bot' }),
    ]) {
      const refused = await lying(drafted(change), () => approving(shown.id, shown.hash));
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('ACT_OTHER')]);
    }
    expect(passed).not.toContain(SECRET[1]);
    expect(await approvals(shown.id)).toBe(0);
    const an_hour = drafted((draft) => ({
      ...draft,
      at: new Date(Date.parse(draft.at) - 3_600_000).toISOString(),
    }));
    const clock = await lying(an_hour, () => approving(shown.id, shown.hash));
    expect(clock.stderr).toContain('CLOCKS_DIFFER');
    expect(await approvals(shown.id)).toBe(0);
    expect((await approving(shown.id, shown.hash)).code).toBe(0);
  });

  it('gets no delegation of more, to another key, or for longer than was asked for', async () => {
    const [own, other] = [generateKeyPair().public_key, generateKeyPair().public_key];
    await project.inside(({ people }) =>
      people.enrol({ name: 'scout', principal: 'agent', public_key: own, signer: project.alice }),
    );
    const words = [
      'delegation',
      'add',
      'scout',
      '--action',
      'tool:greet',
      '--ttl',
      '1h',
      '--reason',
      'a test',
    ];
    const drafted = (from: string | RegExp, to: string, is_signed = afterLook()): Lie => {
      const changed = (draft: Body) => ({
        ...draft,
        statements: draft.statements.map((one: string) => one.replace(from, to)),
      });
      return (path, body) =>
        path.endsWith('/delegate') && body.draft && is_signed()
          ? { ...body, draft: changed(body.draft) }
          : undefined;
    };
    for (const [from, to] of [
      ['"tool:greet"', '"tool:*"'],
      ['"approves":false', '"approves":true'],
      [own, other],
      [/"expires_at":"[^"]+"/, '"expires_at":"2099-01-01T00:00:00.000Z"'],
    ] as const) {
      const refused = await lying(drafted(from, to), () => far.talk(words, SECRET));
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('ACT_OTHER')]);
    }
    expect((await project.inside(({ agents }) => agents.delegations())).delegations).toEqual([]);
  });

  it('gets no order for another executor, or a longer one, than the screen of the grant says', async () => {
    const open = await project.propose('greet', { name: 'Ada' });
    await project.approve(open);
    const drafted = (pattern: RegExp, to: string, is_signed = afterLook()): Lie => {
      return (path, body) => {
        if (!path.endsWith('/grant') || !body.draft || !is_signed()) return undefined;
        const statements = body.draft.statements.map((one: string) => one.replace(pattern, to));
        return { ...body, draft: { ...body.draft, statements } };
      };
    };
    const later = new Date(Date.now() + 3_600_000).toISOString();
    for (const [member, told] of [
      ['audience', drafted(/"audience":"[^"]+"/, '"audience":"keyturn/other/host"')],
      ['action', drafted(/"action":"[^"]+"/, '"action":"tool:fail"')],
      ['expires_at', drafted(/"expires_at":"[^"]+"/, `"expires_at":"${later}"`)],
    ] as const) {
      const refused = await lying(told, () => far.talk(['grant', open.id, '--ttl', '60s'], SECRET));
      expect(refused.stderr).toContain(`something other than what was shown: ${member}.`);
    }
    const at_once = drafted(/"action":"[^"]+"/, '"action":"tool:fail"', () => true);
    expectError('ACT_OTHER', await lying(at_once, () => far.run('grant', open.id, '--ttl', '60s')));
    const granted = await far.talk(['grant', open.id, '--ttl', '60s'], SECRET);
    expect([granted.code, granted.stderr]).toEqual([0, '']);
  });

  it('is refused where its ledger, or its answers, are others', async () => {
    const heads: Lie = (path, body) =>
      path.endsWith('/head')
        ? {
            ...body,
            verifier: body.verifier.replace(/[A-Za-z0-9+/]{8}=*$/, 'AAAAAAAA'),
            key: `sha256:${'a'.repeat(64)}`,
          }
        : undefined;
    expectError('LEDGER_OTHER', await lying(heads, () => far.run('list')));
    const unsigned: Lie = (path, body) =>
      path.endsWith('/head') ? { ...body, text: body.text.replace(/\n\d+\n/, '\n9999\n') } : undefined;
    expectError('LEDGER_OTHER', await lying(unsigned, () => far.run('list')));
    const listed =
      (answer: Raw | object): Lie =>
      (path) =>
        path.endsWith('/list') ? answer : undefined;
    for (const answer of [
      raw(200, 'text/html', '<h1>Welcome</h1>'),
      raw(200, 'application/json', '{"intents":['),
      raw(200, 'application/json', '[]'),
      raw(502, 'text/plain', 'Bad gateway'),
      raw(302, 'text/plain', '', { location: 'http://localhost:59999/' }),
      { intents: 'none' },
      raw(400, 'application/problem+json', '{"code":"NEWER_THAN_THIS","detail":"x","facts":{}}'),
    ])
      expectError('SERVICE_FOREIGN', await lying(listed(answer), () => far.run('list')));
  });

  it('cannot pass a login on: the signature is for its address', async () => {
    const words = ['login', '--as', 'alice', '--key', 'alice.json', '--service', liar.address];
    const told = await far.talk(words, SECRET);
    expect(told.stderr).toContain('MESSAGE_SIGNATURE_INVALID');
  });
});

describe('a service that is not there, or not the one that was meant', () => {
  it('is said by its reason', async () => {
    const listing = (at: string) =>
      near.run('login', '--as', 'alice', '--key', 'alice.json', '--service', at);
    expectError('SERVICE_UNREACHABLE', await listing('http://localhost:59999'));
    expectError('SERVICE_UNREACHABLE', await listing('https://nowhere.invalid'));
    expectError('SERVICE_TLS', await listing(service.address.replace('http:', 'https:')));
    for (const at of [
      'http://keys.example.org',
      'ftp://localhost',
      'localhost:7717',
      'https://a/b',
      'https://u:p@a',
    ])
      expectError('USAGE', await listing(at));
    const tunnel = await proxyTo(Number(new URL(service.address).port));
    onTestFinished(() => tunnel.close());
    expectError('HOST_UNKNOWN', await listing(`http://127.0.0.1:${tunnel.port}`));
  });

  it('after a restart, or once the key is revoked, wants a new login', async () => {
    const signer = project.alice;
    const second = freshSigner('alice');
    const { public_key } = signer;
    await ended(service);
    service = await served(project, new URL(service.address).port);
    expectError('LOGIN_MISSING', await near.run('list'));
    await near.talk(['login', '--as', 'alice', '--key', 'alice.json'], SECRET);
    expect((await near.run('list')).code).toBe(0);
    const added = { kind: 'key', label: 'second', public_key: second.public_key } as const;
    await project.inside(async ({ people }) => {
      await people.addCredential({ name: 'alice', credential: added, reason: 'x', signer, holder: second });
      await people.revokeCredential({ name: 'alice', public_key, reason: 'lost', signer: second });
    });
    const refused = await near.run('list');
    expect(refused.stderr).toContain('The key was revoked.');
    const again = await near.talk(['login', '--as', 'alice', '--key', 'alice.json'], SECRET);
    expect(again.stderr).toContain('MESSAGE_SIGNATURE_INVALID');
  });
});
