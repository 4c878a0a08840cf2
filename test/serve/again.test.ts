import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { againOf, markLasting } from '../../src/serve/again.ts';
import { metricsOf } from '../../src/serve/metrics.ts';
import { callerQuotaOf } from '../../src/serve/quota.ts';
import { authority } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';
import { socketTo } from './raw.ts';
import { call, refusalIn, SAY, service, serving, withToken } from './service.ts';

/** A service whose agent has proposed something and asked about it until the answer is one that is kept. */
async function asked() {
  const s = await service();
  const { token, keyturn } = s;
  const { intent_id, hash } = await keyturn.as({ name: 'bot' }).intents.propose(SAY);
  const get = (by = token, headers = {}) =>
    call(s, `/v1/intents/get?intent_id=${intent_id}`, undefined, { token: by, headers });
  for (let i = 0; i < 3; i++) expect((await get()).body).toMatchObject({ intent_id, status_word: 'waiting' });
  return { ...s, intent_id, hash, get };
}

describe('who asks for the same again', () => {
  it('gets the same answer, with its length', async () => {
    const s = await service();
    const { intent_id } = await s.keyturn.as({ name: 'bot' }).intents.propose(SAY);
    const get = () => call(s, `/v1/intents/get?intent_id=${intent_id}`, undefined, { token: s.token });
    const [first, ...again] = [await get(), await get(), await get()];
    const { date: _, ...headers } = Object.fromEntries(first.headers);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(first.text)));
    for (const one of again) {
      expect(Object.fromEntries(one.headers)).toMatchObject(headers);
      expect(one.text).toBe(first.text);
    }
  });

  it('is told what another process has written since', async () => {
    const { keyturn, intent_id, hash, ada: signer, get } = await asked();
    await keyturn.intents.reject({ intent_id, hash, reason: 'no', signer });
    expect((await get()).body.status_word).toBe('rejected');
    expect((await get()).body.status_word).toBe('rejected');
  });

  it('is refused as soon as its token is revoked', async () => {
    const { keyturn, token_id, ada: signer, get } = await asked();
    await keyturn.agents.revokeToken({ name: 'bot', token_id, reason: 'lost', signer });
    expect(refusalIn(await get())).toEqual([401, 'TOKEN_INVALID']);
  });

  it('gets an answer of its own: not by another token, another host or another tag', async () => {
    const s = await asked();
    const { etag } = Object.fromEntries((await s.get()).headers);
    expect((await s.get(s.token, { 'if-none-match': etag! })).status).toBe(304);
    expect((await s.get(s.token, { 'if-none-match': etag! })).status).toBe(304);
    expect((await s.get()).status).toBe(200);
    const other = await withToken(s, 'other');
    expect((await s.get(other.token)).status).toBe(404);
    expect((await s.get(other.token)).status).toBe(404);
    expect(refusalIn(await s.get(s.token, { origin: 'http://elsewhere.example' }))[0]).toBe(403);
    const changed = s.token[20] === 'A' ? 'B' : 'A';
    expect(refusalIn(await s.get(`${s.token.slice(0, 20)}${changed}${s.token.slice(21)}`))[0]).toBe(401);
  });

  it('is told that it expired, at that moment', async () => {
    const p = await authority();
    const { token } = await withToken(p, 'bot');
    let now = new Date();
    const s = await serving(p, {}, { clock: () => now });
    const proposed = await call(s, '/v1/intents/propose', SAY, { token });
    const { intent_id, expires_at } = proposed.body;
    const get = async () =>
      (await call(s, `/v1/intents/get?intent_id=${intent_id}`, undefined, { token })).body.status_word;
    const end_ms = Date.parse(expires_at);
    for (const [at_ms, status_word] of [
      [end_ms - 2, 'waiting'],
      [end_ms - 1, 'waiting'],
      [end_ms, 'expired'],
      [end_ms + 1, 'expired'],
      [end_ms - 1, 'waiting'],
    ] as const) {
      now = new Date(at_ms);
      expect([await get(), await get()]).toEqual([status_word, status_word]);
    }
  });

  it('is told that it expired, also where that came while the answer before was made', async () => {
    const p = await authority();
    const { token } = await withToken(p, 'bot');
    let now = Date.now();
    let tick_ms = 0;
    const clock = () => {
      now += tick_ms;
      return new Date(now);
    };
    const s = await serving(p, {}, { clock });
    const { intent_id, expires_at } = (await call(s, '/v1/intents/propose', SAY, { token })).body;
    const get = async () =>
      (await call(s, `/v1/intents/get?intent_id=${intent_id}`, undefined, { token })).body.status_word;
    for (let before_ms = 1; before_ms <= 20; before_ms++) {
      now = Date.parse(expires_at) - before_ms;
      tick_ms = 1;
      await get();
      tick_ms = 0;
      now = Date.parse(expires_at) + 1_000;
      expect(await get()).toBe('expired');
    }
  });

  it('counts until the answer was read', async () => {
    const { keyturn } = await authority();
    const quota = callerQuotaOf({ requests_minute: 10, at_once: 1, streams: 1 });
    const metrics = metricsOf();
    const again = againOf(keyturn, { quota, metrics });
    const text = 'x'.repeat(32 * 1024 * 1024);
    const from = keyturn.host.now();
    const until = new Date(from.getTime() + 60_000);
    const about = {
      who: 'agent:bot',
      entry_point: 'intents.get',
      written: keyturn.host.written()!,
      from,
      until,
    };
    const answers: boolean[] = [];
    const server = createServer((incoming, outgoing) => {
      const told = { status: 200, headers: {}, text };
      if (answers.length === 0) again.keep(incoming, markLasting(new Response(), { ...about, told }));
      answers.push(again.answer(incoming, outgoing));
      if (answers.length > 1) outgoing.end();
    });
    onTestFinished(() => {
      metrics.close();
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const ask = async () => {
      const socket = await socketTo({ port });
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      return socket;
    };
    const unread = await ask();
    await expect.poll(() => answers).toEqual([true]);
    await expectRefusal('CALLER_LIMITED', () => quota.answering('agent:bot'));
    await ask();
    await expect.poll(() => answers).toEqual([true, false]);
    unread.destroy();
    await expect
      .poll(() => {
        try {
          quota.answering('agent:bot').end();
          return 'free';
        } catch {
          return 'taken';
        }
      })
      .toBe('free');
  });

  it('is counted each time, and refused where it asks too often', async () => {
    const p = await authority();
    const { token } = await withToken(p, 'bot');
    appendFileSync(join(p.root, 'keyturn.yaml'), 'service: { requests_minute: 20 }\n');
    const s = await serving(p);
    const { intent_id } = (await call(s, '/v1/intents/propose', SAY, { token })).body;
    const get = () => call(s, `/v1/intents/get?intent_id=${intent_id}`, undefined, { token });
    const answers = await Promise.all(Array.from({ length: 30 }, get));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(10);
    expect(refused.map(({ headers }) => headers.has('retry-after'))).not.toContain(false);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(19);
  });
});
