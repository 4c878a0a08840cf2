import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sizeOf } from '../support/ledger.ts';
import { heard, socketTo } from './raw.ts';
import { call, callRaw, refusalIn, SAY, type Service, service, session, withToken } from './service.ts';

vi.setConfig({ testTimeout: 110_000 });

/** What one bare connection is answered to these lines, and to nothing after them. */
async function answered(
  s: Service,
  lines: readonly string[],
  body = '',
  until = /\r\n\r\n/,
): Promise<string> {
  const socket = await socketTo(s);
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return heard(socket, until);
}

const hostOf = (s: Service) => `Host: localhost:${s.port}`;
const bearer = (s: Service) => `Authorization: Bearer ${s.token}`;

describe('a request that no client sends', () => {
  it('with no host, two hosts, or another one in its first line is none', async () => {
    const s = await service();
    const first = 'GET /v1/intents/list HTTP/1.1';
    expect(await answered(s, [first, bearer(s)])).toMatch(/^HTTP\/1\.1 400 /);
    const two = await answered(s, [first, hostOf(s), 'Host: evil.example', bearer(s)]);
    expect(two).toMatch(/^HTTP\/1\.1 4\d\d /);
    const absolute = 'GET http://evil.example/v1/intents/list HTTP/1.1';
    expect(await answered(s, [absolute, 'Host: evil.example', bearer(s)])).toMatch(/^HTTP\/1\.1 421 /);
    for (const target of ['http://evil.example/livez', 'http:///livez', `https://localhost:${s.port}/livez`])
      expect(await answered(s, [`GET ${target} HTTP/1.1`, hostOf(s)]), target).toMatch(/^HTTP\/1\.1 421 /);
    const own = `GET http://localhost:${s.port}/livez HTTP/1.1`;
    expect(await answered(s, [own, `Host: LOCALHOST:${s.port}`])).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('with headers of 20 KB, a broken chunk or a body that is longer than it says writes nothing', async () => {
    const s = await service();
    const size = await sizeOf(s.keyturn);
    const large = await answered(s, ['GET /livez HTTP/1.1', hostOf(s), `X-Much: ${'x'.repeat(20_000)}`]);
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    const post = [
      'POST /v1/intents/propose HTTP/1.1',
      hostOf(s),
      bearer(s),
      'Content-Type: application/json',
    ];
    const broken = await answered(s, [...post, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n');
    expect(broken).toMatch(/^HTTP\/1\.1 400 /);
    const longer = await answered(
      s,
      [...post, 'Content-Length: 2'],
      `{}${JSON.stringify(SAY)}`,
      /\r\n\r\n.*HTTP/s,
    );
    expect(new Set(longer.match(/HTTP\/1\.1 \d\d\d/g))).toEqual(new Set(['HTTP/1.1 400']));
    expect(await sizeOf(s.keyturn)).toBe(size);
  });

  it('to trace, to tunnel, to upgrade or to ask for options does nothing of that', async () => {
    const s = await service();
    for (const method of ['TRACE', 'OPTIONS', 'PATCH', 'PROPFIND']) {
      const told = await answered(s, [`${method} /v1/intents/list HTTP/1.1`, hostOf(s), bearer(s)]);
      expect(told, method).toMatch(/^HTTP\/1\.1 (405|400) /);
      expect(told, method).not.toMatch(/access-control|ktk1/i);
    }
    const tunnel = await answered(s, ['CONNECT evil.example:443 HTTP/1.1', hostOf(s)], '', /never/);
    expect(tunnel).not.toMatch(/^HTTP\/1\.1 2/);
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const told = await answered(s, ['GET /v1/events HTTP/1.1', hostOf(s), ...upgrade]);
    expect(told).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('that comes with others in one packet is answered in its turn', async () => {
    const s = await service();
    const one = (path: string) => `GET ${path} HTTP/1.1\r\n${hostOf(s)}\r\n${bearer(s)}\r\n\r\n`;
    const socket = await socketTo(s);
    socket.write(one('/v1/intents/list') + one('/livez') + one('/v1/none') + one('/livez'));
    const told = await heard(socket, /(HTTP\/1\.1 .*){4}live\n$/s);
    expect(told.match(/HTTP\/1\.1 \d\d\d/g)!.map((line) => line.slice(9))).toEqual([
      '200',
      '200',
      '404',
      '200',
    ]);
  });
});

describe('who is calling', () => {
  it('is not said by a query, by two headers, or by a cookie that is there twice', async () => {
    const s = await service();
    const { token } = s;
    const host = `localhost:${s.port}`;
    for (const query of [`token=${token}`, `access_token=${token}`, `authorization=Bearer ${token}`])
      expect(refusalIn(await call(s, `/v1/intents/list?${query}`))).toEqual([401, 'CALLER_UNPROVEN']);
    const lines = ['GET /v1/intents/list HTTP/1.1', hostOf(s), bearer(s), 'Authorization: Bearer x'];
    expect(await answered(s, lines)).toMatch(/^HTTP\/1\.1 (400|401) /);
    const { cookie, page } = await session(s);
    const twice = { host, cookie: `${cookie}; ${cookie}`, 'keyturn-page': page };
    expect((await callRaw(s, '/v1/people/list', twice)).status).toBe(401);
    const both = { host, cookie, 'keyturn-page': page, authorization: 'Bearer x' };
    expect((await callRaw(s, '/v1/people/list', both)).status).toBe(401);
  });

  it('has idempotency keys of their own, of a length that can be kept', async () => {
    const s = await service();
    const other = await withToken(s, 'other');
    const headers = { 'idempotency-key': 'the-build-of-tuesday-evening' };
    const [one, two] = [
      await call(s, '/v1/intents/propose', SAY, { token: s.token, headers }),
      await call(s, '/v1/intents/propose', SAY, { token: other.token, headers }),
    ];
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(two.body.intent_id).not.toBe(one.body.intent_id);
    const long = { 'idempotency-key': 'x'.repeat(10_000) };
    expect((await call(s, '/v1/intents/propose', SAY, { token: s.token, headers: long })).status).toBe(400);
  });
});

describe('a value', () => {
  it('that no JSON text should hold is refused, and none is rounded', async () => {
    const s = await service();
    const post = (text: string) => call(s, '/v1/intents/list', text, { token: s.token });
    for (const text of [
      '{"limit":1e400}',
      '{"limit":9007199254740993}',
      '{"limit":-1}',
      '{"limit":0.5}',
      '{"tool":"\\ud800"}',
      '{"limit":NaN}',
      '{"limit":01}',
      '{"limit":1} {}',
      '\ufeff{"limit":1}',
      '{"limit":1,}',
      '{"tool":"a\nb"}',
    ])
      expect((await post(text)).status, JSON.stringify(text)).toBe(400);
    expect((await post(' {"limit":1}\n')).status).toBe(200);
  });

  it('in a query is read as it is written, or refused', async () => {
    const s = await service();
    const host = `localhost:${s.port}`;
    const get = (query: string) =>
      callRaw(s, `/v1/intents/list?${query}`, { host, authorization: `Bearer ${s.token}` });
    for (const query of [
      'limit=%zz',
      'limit=1%00',
      'limit=1e3',
      'limit=+1',
      'limit=',
      '__proto__=1',
      'limit[]=1',
    ])
      expect((await get(query)).status, query).toBe(400);
    for (const query of ['limit=1', 'limit=%31', '', 'limit=1#limit=2'])
      expect((await get(query)).status, query).toBe(200);
  });
});

describe('a stream', () => {
  it('that is not read is no burden, and one that is goes on beside it', async () => {
    const s = await service();
    const ask = `GET /v1/events HTTP/1.1\r\n${hostOf(s)}\r\n${bearer(s)}\r\n\r\n`;
    const [deaf, awake] = [await socketTo(s), await socketTo(s)];
    deaf.pause();
    deaf.write(ask);
    awake.write(ask);
    await heard(await socketTo(s).then((one) => one.end(ask.replace('/v1/events', '/livez'))), /live/);
    const count = 90;
    let text = '';
    awake.on('data', (part) => {
      text += String(part);
    });
    for (let n = 0; n < count; n++)
      expect((await call(s, '/v1/intents/propose', SAY, { token: s.token })).status).toBe(200);
    await vi.waitUntil(() => text.match(/"kind":"intent.proposed"/g)?.length === count, 30_000);
    const ids = [...text.matchAll(/^id: (\d+)\./gm)].map(([, seq]) => Number(seq));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('of a HEAD is none, and leaves none behind', async () => {
    const s = await service();
    const told = await fetch(`${s.address}/v1/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${s.token}` },
    });
    expect(told.status).toBe(405);
    const { text } = await call(s, '/metrics', undefined, { token: s.token });
    expect(text).toMatch(/^keyturn_streams 0$/m);
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const list = await fetch(`${s.address}/v1/intents/list`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${s.token}` },
      signal: gone.signal,
    });
    expect([list.status, await list.text()]).toEqual([200, '']);
  });
});
