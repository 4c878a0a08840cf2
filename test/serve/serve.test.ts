import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { keyCredential } from '../../src/keyturn.ts';
import { authority } from '../journey/authority.ts';
import { freshSigner } from '../support/keys.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  acted,
  call,
  callRaw,
  refusalIn,
  SAY,
  service,
  serving,
  session,
  shownAs,
  shownIn,
  withToken,
} from './service.ts';
import { callSigned, keyed } from './signed.ts';

describe('a service', () => {
  it('takes a proposal with a token, a turn with a proof, runs it, and gives the output to who waits', async () => {
    const s = await service({ most: 2 });
    const { token } = s;
    const proposed = await call(s, '/v1/intents/propose', SAY, { token });
    expect(proposed).toMatchObject({ status: 200, body: { proposer: 'bot', tool: 'say', signed: false } });
    const { intent_id, hash } = proposed.body;
    const waits = call(s, '/v1/intents/waitFor', { intent_id }, { token });
    const cookie = await session(s);
    const turned = await acted(s, '/v1/intents/turn', { intent_id, hash }, s.ada, cookie);
    expect(turned).toMatchObject({ status: 200, body: { intent_id, by: 'ada' } });
    expect(await waits).toMatchObject({
      status: 200,
      body: { status: 'succeeded', run: { output: { stdout: 'hello\n' } } },
    });
    const { account } = await s.keyturn.intents.get({ intent_id });
    expect(account).toEqual({ host: 'token:bot', machine: null, uid: -1, user: 'bot' });
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('is the only one of a project, and another one can follow it', async () => {
    const s = await service();
    await expectRefusal('SERVICE_RUNNING', () => serving(s));
    await s.stop();
    await serving(s);
  });

  it('refuses an address that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => other.once('listening', done));
    onTestFinished(() => void other.close());
    const p = await authority();
    const { port } = other.address() as { port: number };
    await expectRefusal('ADDRESS_TAKEN', () => serving(p, { port }));
  });

  it('says that it lives, and whether it is ready and why not', async () => {
    const s = await service({ most: 1 });
    expect((await call(s, '/livez')).status).toBe(200);
    let ready = await call(s, '/readyz');
    while (ready.status !== 200) ready = await call(s, '/readyz');
    expect(ready.body).toMatchObject({ ready: true, reasons: [] });
  });

  it('lets go of who waits when it stops', async () => {
    const p = await authority();
    appendFileSync(join(p.root, 'keyturn.yaml'), 'service: { at_once: 1 }\n');
    const { token } = await withToken(p, 'bot');
    const s = await serving(p);
    const { body } = await call(s, '/v1/intents/propose', SAY, { token });
    const waits = call(s, '/v1/intents/waitFor', { intent_id: body.intent_id }, { token });
    const events = await fetch(`${s.address}/v1/events`, { headers: { authorization: `Bearer ${token}` } });
    // Once it waits, no other request of its caller is answered.
    await until(async () => (await call(s, '/v1/intents/list', {}, { token })).status === 429);
    await s.stop();
    expect(refusalIn(await waits)).toEqual([409, 'WAIT_OVER']);
    await events.text();
  });
});

describe('a service that stops', () => {
  it('is not kept up by callers who ask again when their wait is over', async () => {
    const grace_ms = 8_000;
    const s = await service({ grace_ms });
    const { intents } = createClient(s);
    const { intent_id } = await intents.propose(SAY);
    const waits = [1, 2, 3].map(() => intents.waitFor({ intent_id }).catch((error: Error) => error.name));
    await intents.get({ intent_id });
    const from = performance.now();
    await s.stop();
    expect(performance.now() - from).toBeLessThan(grace_ms / 2);
    expect(await Promise.all(waits)).toEqual(['TypeError', 'TypeError', 'TypeError']);
  });
});

describe('who is not shown to be somebody', () => {
  it('is answered nothing but health', async () => {
    const s = await service();
    for (const path of ['/v1/intents/list', '/openapi.json', '/v1/events', '/v1/nothing', '/metrics']) {
      const told = await call(s, path);
      expect(refusalIn(told), path).toEqual([401, 'CALLER_UNPROVEN']);
      expect(told.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    for (const token of ['x', `${s.token}x`, s.token.replace('.bot', '.ada'), 'ktk1..bot'])
      expect(refusalIn(await call(s, '/v1/intents/list', undefined, { token }))).toEqual([
        401,
        'TOKEN_INVALID',
      ]);
  });

  it('is whose token was revoked, or who was revoked', async () => {
    const s = await service();
    const { token, token_id, ada: signer } = s;
    const asks = () => call(s, '/v1/intents/list', undefined, { token });
    expect((await asks()).status).toBe(200);
    expect((await s.keyturn.agents.tokens()).tokens).toMatchObject([
      { name: 'bot', token_id, status: 'active', last_used_at: expect.any(String) },
    ]);
    const other = await withToken(s, 'other');
    const theirs = () => call(s, '/v1/intents/list', undefined, { token: other.token });
    expect((await theirs()).status).toBe(200);
    await s.keyturn.agents.revokeToken({ name: 'bot', token_id, reason: 'lost', signer });
    expect(refusalIn(await asks())).toEqual([401, 'TOKEN_INVALID']);
    expect((await theirs()).status).toBe(200);
    await s.keyturn.people.revoke({ name: 'other', reason: 'gone', signer });
    expect(refusalIn(await theirs())).toEqual([401, 'TOKEN_INVALID']);
  });

  it('is who comes with a link a second time', async () => {
    const s = await service();
    const cookie = await session(s);
    expect((await call(s, '/v1/people/list', undefined, { cookie })).status).toBe(200);
    const link = s.link.split('#link=')[1];
    expect(refusalIn(await call(s, '/v1/session', { link }))).toEqual([401, 'LINK_SPENT']);
    expect(
      refusalIn(
        await call(s, '/v1/people/list', undefined, {
          cookie: { ...cookie, cookie: `${cookie.cookie}x` },
        }),
      ),
    ).toEqual([401, 'TOKEN_INVALID']);
  });
});

describe('a session', () => {
  it('reads, and writes nothing without a proof', async () => {
    const s = await service();
    const cookie = await session(s);
    expect(refusalIn(await call(s, '/v1/tools/pass', {}, { cookie }))).toEqual([403, 'SESSION_READS']);
    expect(refusalIn(await call(s, '/v1/intents/propose', SAY, { cookie }))).toEqual([400, 'SHAPE_INVALID']);
  });

  it('is of no use to who has only the cookie, or only the secret of its page', async () => {
    const s = await service();
    const shown = await session(s);
    const get = (headers: Record<string, string>) => call(s, '/v1/people/list', undefined, { headers });
    expect((await get(shownAs(shown))).status).toBe(200);
    const { cookie, page } = shown;
    for (const headers of [{ cookie }, shownAs({ cookie, page: `${page}x` }), shownAs({ cookie, page: '' })])
      expect(refusalIn(await get(headers))).toEqual([401, 'TOKEN_INVALID']);
    expect(refusalIn(await get({ 'keyturn-page': page }))).toEqual([401, 'CALLER_UNPROVEN']);
    const unbound = await call(s, '/v1/session', { link: 'x', bound: false });
    expect(refusalIn(unbound)).toEqual([400, 'SHAPE_INVALID']);
  });

  it('is over when it is ended, and its streams with it; another one goes on', async () => {
    const s = await service();
    const cookie = await session(s);
    const end = (headers: Record<string, string>) =>
      fetch(`${s.address}/v1/session`, { method: 'DELETE', headers });
    const own = { ...shownAs(cookie), origin: s.address };
    const stream = (await fetch(`${s.address}/v1/events`, { headers: own })).body!.getReader();
    for (const headers of [{}, { authorization: `Bearer ${s.token}` }, { cookie: cookie.cookie }])
      expect((await end(headers)).status).toBe(401);
    expect((await end({ ...own, origin: 'http://localhost:1' })).status).toBe(403);
    expect((await end(shownAs(cookie))).status).toBe(403);
    const other = shownIn(await callSigned(s, s.ada as OpenKey, '/v1/session', {}));
    const ended = await end(own);
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringMatching(/^keyturn_session=; .*Max-Age=0$/),
    ]);
    expect(refusalIn(await call(s, '/v1/people/list', undefined, { cookie }))).toEqual([
      401,
      'TOKEN_INVALID',
    ]);
    expect((await end(own)).status).toBe(401);
    await call(s, '/v1/intents/propose', SAY, { token: s.token });
    let heard = '';
    for (let part = await stream.read(); !part.done; part = await stream.read())
      heard += Buffer.from(part.value).toString();
    expect(heard).not.toContain('intent.proposed');
    expect((await call(s, '/v1/people/list', undefined, { cookie: other })).status).toBe(200);
  });

  it('of a key is in the name of its human, acts in no other, and ends with the key', async () => {
    const s = await service();
    const cookie = shownIn(await callSigned(s, s.ada as OpenKey, '/v1/session', {}));
    expect((await call(s, '/v1/people/list', undefined, { cookie })).status).toBe(200);
    const request = { scope: 'tool', name: 'say', reason: 'a look' };
    const other = await call(s, '/v1/system/freeze', { request, by: 'bo' }, { cookie });
    expect(refusalIn(other)).toEqual([403, 'CALLER_OTHER']);
    expect((await acted(s, '/v1/system/freeze', request, s.ada, cookie)).status).toBe(200);
    for (const shown of [{ token: s.token }, { cookie }, {}])
      expect((await call(s, '/v1/session', {}, shown)).status, JSON.stringify(shown)).toBeGreaterThan(400);
    const scout = await keyed(s);
    expect(refusalIn(await callSigned(s, scout, '/v1/session', {}))).toEqual([403, 'NOT_FOR_AGENTS']);
    const bo = freshSigner('bo');
    const enrolled = { name: 'bo', principal: 'human', public_key: bo.public_key } as const;
    await s.keyturn.people.enrol({ ...enrolled, signer: s.ada });
    const second = freshSigner('bo');
    await s.keyturn.people.addCredential({
      ...{ name: 'bo', credential: keyCredential(second.public_key, 'second'), reason: 'a spare' },
      ...{ signer: bo, holder: second },
    });
    const of_bo = { cookie: shownIn(await callSigned(s, bo, '/v1/session', {})) };
    expect((await call(s, '/v1/people/list', undefined, of_bo)).status).toBe(200);
    const { public_key } = bo;
    await s.keyturn.people.revokeCredential({ name: 'bo', public_key, reason: 'lost', signer: second });
    expect(refusalIn(await call(s, '/v1/people/list', undefined, of_bo))).toEqual([
      401,
      'MESSAGE_SIGNATURE_INVALID',
    ]);
  });

  it('is of no use to a page of another origin', async () => {
    const s = await service();
    const cookie = await session(s);
    const other = { headers: { ...shownAs(cookie), origin: 'http://localhost:1' } };
    expect(refusalIn(await call(s, '/v1/people/list', {}, other))).toEqual([403, 'ORIGIN_FOREIGN']);
    const silent = { headers: shownAs(cookie) };
    expect(refusalIn(await call(s, '/v1/people/list', {}, silent))).toEqual([403, 'ORIGIN_FOREIGN']);
    const { port } = new URL(s.address);
    const asked = { host: `localhost:${port}`, ...shownAs(cookie), 'sec-fetch-site': 'cross-site' };
    expect((await callRaw(s, '/v1/people/list', asked)).status).toBe(403);
  });

  it('is not made under another name of this machine', async () => {
    const s = await service();
    const { port } = new URL(s.address);
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost', '127.0.0.1:1'])
      expect(await callRaw(s, '/livez', { host })).toMatchObject({
        status: 421,
        body: expect.stringContaining('HOST_UNKNOWN'),
      });
  });
});

describe('an agent', () => {
  it('proposes in its own name, reads what is its own, and acts for no human', async () => {
    const s = await service();
    const { token } = s;
    const { intent_id, hash } = await s.keyturn.intents.propose({ ...SAY, signer: s.ada });
    for (const verb of ['get', 'result'])
      expect(refusalIn(await call(s, `/v1/intents/${verb}`, { intent_id }, { token }))).toEqual([
        404,
        'INTENT_NOT_FOUND',
      ]);
    expect((await call(s, '/v1/intents/list', undefined, { token })).body.intents).toEqual([]);
    expect(refusalIn(await call(s, '/v1/intents/propose', { ...SAY, issuer: 'ada' }, { token }))).toEqual([
      403,
      'CALLER_OTHER',
    ]);
    const act = { request: { intent_id, hash }, by: 'ada' };
    for (const body of [act, { intent_id, hash }])
      expect((await call(s, '/v1/intents/approve', body, { token })).body.code).toMatch(
        /^(NOT_FOR_AGENTS|SHAPE_INVALID)$/,
      );
    expect(refusalIn(await call(s, '/v1/people/list', {}, { token }))).toEqual([403, 'NOT_FOR_AGENTS']);
  });
});
