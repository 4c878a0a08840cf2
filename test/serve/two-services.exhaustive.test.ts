import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import type { Executed } from '../../src/keyturn.ts';
import { anotherHost, type Shared, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { made, opened, passkeyAt, signedOwn, vouched } from './enrol.ts';
import { call, callRaw, refusalIn, serving, session, shownAs, withToken } from './service.ts';
import { signatureOf } from './signed.ts';

const server = postgres();

const HOST = 'keys.example.org';

it('a signed request is taken once by all services of one address', async () => {
  const p = await shared(server(), 'two-services');
  const other = await anotherHost(p);
  const scout = freshSigner('scout');
  const { public_key } = scout;
  await p.keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key, signer: p.ada });
  const over = { public_url: `https://${HOST}` };
  // On one host two of them, and one on another.
  const services = [await serving(p, over), await serving(p, over), await serving(other, over)];
  const asked = { ...p, ...services[0]!, token: '', token_id: '' };
  const near = services.map(({ port }) => ({ address: `http://127.0.0.1:${port}` }));
  for (const first of near) {
    const headers = { host: HOST, ...signatureOf(asked, scout, { authority: HOST }) };
    const ask = (one: (typeof near)[number]) => callRaw(one, '/v1/intents/list', headers);
    expect((await ask(first)).status).toBe(200);
    for (const one of near) {
      const replayed = await ask(one);
      expect(replayed.status).toBe(401);
      expect(replayed.body).toContain('MESSAGE_REPLAYED');
    }
  }
});

/** Whose key issued what ran for this intent. */
async function issuerOf({ keyturn }: Pick<Shared, 'keyturn'>, intent_id: string) {
  const issued = (await entriesAbout(keyturn, intent_id)).find(({ kind }) => kind === 'capability.issued')!;
  return (issued.body as Event<'capability.issued'>['body']).control_key;
}

describe('two services over one ledger, each with a control key of its own', () => {
  async function pair(tenant: string) {
    const p = await shared(server(), tenant);
    const other = await anotherHost(p);
    const [first] = (await p.keyturn.system.get()).control_keys;
    const second = await other.keyturn.system.rotateControlKey({ reason: 'the second', signer: p.ada });
    expect(second).toMatchObject({ replaces: null, keys: 2 });
    const keys = [first!.public_key, second.public_key] as const;
    for (const { keyturn, name } of [
      { keyturn: p.keyturn, name: 'near' },
      { keyturn: other.keyturn, name: 'far' },
    ])
      await keyturn.system.addExecutor({ name, labels: ['executor'], reason: 'a test', signer: p.ada });
    const turned = async (executor: string) => {
      const audience = `${p.keyturn.host.origin}/${executor}`;
      const effect = { kind: 'tool', tool: 'say', arguments: { word: executor } } as const;
      const { intent_id, hash } = await p.keyturn.intents.propose({
        declared_goal: 'Say.',
        effect,
        signer: p.ada,
      });
      await p.keyturn.intents.turn({ intent_id, hash, audience, signer: p.ada });
      return intent_id;
    };
    const ends = async (intent_id: string) => (await p.keyturn.intents.waitFor({ intent_id })).status;
    return { p, other, keys, turned, ends };
  }

  it('both issue what was turned, at once, and the ledger verifies', async () => {
    const { p, other, keys, turned, ends } = await pair('both-issue');
    await serving(p, { most: 2 });
    await serving(other, { most: 2 });
    const names = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 'near' : 'far'));
    const intents = await Promise.all(names.map(turned));
    for (const [i, intent_id] of intents.entries()) {
      expect(await ends(intent_id)).toBe('succeeded');
      expect(await issuerOf(p, intent_id)).toBe(keys[i % 2]);
    }
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('the one whose key is revoked issues nothing, and the other goes on', async () => {
    const { p, other, keys, turned, ends } = await pair('one-revoked');
    await serving(p, { most: 2 });
    const refused: string[] = [];
    const tell = ({ outcome, code }: Executed) => {
      if (outcome === 'refused') refused.push(code!);
    };
    await serving(other, { most: 2, tell });
    expect(await ends(await turned('far'))).toBe('succeeded');
    await p.keyturn.system.revokeControlKey({ public_key: keys[1], reason: 'stolen', signer: p.ada });
    const stuck = await turned('far');
    await until(() => refused.length > 0);
    expect(refused[0]).toBe('CONTROL_KEY_ELSEWHERE');
    const near = await turned('near');
    expect(await ends(near)).toBe('succeeded');
    expect(await issuerOf(p, near)).toBe(keys[0]);
    expect((await p.keyturn.intents.get({ intent_id: stuck })).status).toBe('approved');
    await p.keyturn.ledger.verify({ deep: true });
  });
});

describe('what two services remember together', () => {
  async function both(tenant: string) {
    const p = await shared(server(), tenant);
    const other = await anotherHost(p);
    const [a, b] = [await serving(p), await serving(other)];
    return { p, other, a: { ...p, ...a }, b: { ...p, ...b } };
  }

  it('a session that one opened is one at the other, until either ends it', async () => {
    const { a, b } = await both('sessions');
    const cookie = await session(a);
    for (const one of [a, b])
      expect((await call(one, '/v1/intents/list', {}, { cookie })).status, one.address).toBe(200);
    // The link of one is spent at the other, too.
    const link = a.link.slice(a.link.indexOf('#link=') + '#link='.length);
    expect(refusalIn(await call(b, '/v1/session', { link }))).toEqual([401, 'LINK_SPENT']);
    const across = await session({ address: a.address, link: b.link });
    expect((await call(b, '/v1/intents/list', {}, { cookie: across })).status).toBe(200);
    const headers = { ...shownAs(cookie), origin: b.address };
    expect((await fetch(`${b.address}/v1/session`, { method: 'DELETE', headers })).status).toBe(204);
    for (const one of [a, b])
      expect(refusalIn(await call(one, '/v1/intents/list', {}, { cookie }))).toEqual([401, 'TOKEN_INVALID']);
  });

  it('a session holds after all services of the ledger stopped, until it is ended', async () => {
    const { p, a, b } = await both('sessions-kept');
    const cookie = await session(a);
    await Promise.all([a.stop(), b.stop()]);
    const again = await serving(p);
    const list = () => call(again, '/v1/intents/list', {}, { cookie });
    expect((await list()).status).toBe(200);
    const headers = { ...shownAs(cookie), origin: again.address };
    expect((await fetch(`${again.address}/v1/session`, { method: 'DELETE', headers })).status).toBe(204);
    expect(refusalIn(await list())).toEqual([401, 'TOKEN_INVALID']);
  });

  it('an enrolment that one opened goes on at the other, and is finished at the first', async () => {
    const { p, a, b } = await both('enrolments');
    const cookie = await session(a);
    const bothOf = (s: typeof a) => ({ ...s, token: '', token_id: '' });
    const { link, told } = await opened(bothOf(a), cookie, { name: 'ada', label: 'phone' });
    const passkey = passkeyAt(b);
    expect((await made(bothOf(b), link, passkey)).status).toBe(200);
    expect(refusalIn(await call(a, '/v1/enrolments/begin', { link }))).toEqual([403, 'PASSKEY_INVALID']);
    expect((await signedOwn(bothOf(b), link, passkey)).body).toEqual({ status: 'signed' });
    const { enrolment_id } = told.body;
    expect((await vouched(bothOf(a), cookie, enrolment_id, p.ada)).status).toBe(200);
    expect((await call(b, '/v1/enrolments/status', { link })).body).toEqual({ status: 'enrolled' });
    expect((await call(b, '/v1/enrolments/drop', { enrolment_id }, { cookie })).status).toBe(200);
    expect(refusalIn(await call(a, '/v1/enrolments/status', { link }))).toEqual([404, 'ENROLMENT_UNKNOWN']);
  });

  it('a token that was used at one is told as used by the other', async () => {
    const { p, other, a } = await both('tokens');
    const { token } = await withToken(p, 'bot');
    expect((await other.keyturn.agents.tokens()).tokens).toMatchObject([{ last_used_at: null }]);
    expect((await call(a, '/v1/intents/list', {}, { token })).status).toBe(200);
    const used = async () => (await other.keyturn.agents.tokens()).tokens[0]!.last_used_at;
    await until(async () => (await used()) !== null);
  });

  it('a message is sent once, and by the other when the one that sends is gone', async () => {
    const heard: string[] = [];
    const hook = createServer((request, response) => {
      heard.push(String(request.headers['webhook-id']));
      request.resume();
      response.writeHead(200).end();
    }).listen(0, '127.0.0.1');
    await new Promise((done) => hook.once('listening', done));
    onTestFinished(() => void hook.close());
    const { port } = hook.address() as { port: number };
    const p = await shared(server(), 'once');
    appendFileSync(
      join(p.root, 'keyturn.yaml'),
      'notify: { routes: [{ to: hook, on: [waiting, decided, reminder] }] }\n',
    );
    const other = await anotherHost(p);
    for (const { root } of [p, other]) {
      const secret = join(root, '.keyturn', 'hook.secret');
      writeFileSync(secret, `whsec_${Buffer.alloc(24, 7).toString('base64')}`);
      const hooked = `{ webhook: "http://127.0.0.1:${port}/", secret: HOOK, allow: ["127.0.0.0/8"] }`;
      const text = `version: 1\nsecrets: { HOOK: { file: ${secret} } }\nnotify: { targets: { hook: ${hooked} } }\n`;
      writeFileSync(join(root, '.keyturn', 'executor.yaml'), text, { mode: 0o600 });
    }
    const [a, b] = [await serving(p), await serving(other)];
    const ready = async () => (await p.keyturn.host.notifyPositions().get('hook')) !== null;
    await until(ready);
    const asked = async (word: string) => {
      const effect = { kind: 'tool', tool: 'say', arguments: { word } } as const;
      const { intent_id } = await p.keyturn.intents.propose({ declared_goal: 'Say.', effect, signer: p.ada });
      return intent_id;
    };
    const told = async () => (await p.keyturn.host.notifyPositions().get('hook'))!.seq;
    for (let n = 0; n < 10; n += 1) await asked(String(n));
    // What is under way when a service stops is sent again, under the same id, after the next start.
    const isOver = async () => (await told()) >= (await p.keyturn.host.queue()).entries;
    await until(isOver);
    expect([heard.length, new Set(heard).size]).toEqual([10, 10]);
    await a.stop();
    await asked('after the first');
    await until(() => heard.length === 11);
    await until(isOver);
    await b.stop();
    await asked('after both');
    await serving(p);
    await until(() => heard.length === 12);
    expect(new Set(heard).size).toBe(12);
  });
});
