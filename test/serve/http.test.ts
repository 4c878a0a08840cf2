import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { otherPaths } from '../../src/serve/described.ts';
import { ENROL_FILES } from '../../src/serve/enrol-page.ts';
import { routesOf } from '../../src/serve/route.ts';
import { sizeOf } from '../support/ledger.ts';
import { heard, socketTo } from './raw.ts';
import { call, refusalIn, SAY, type Service, service, session, shownAs } from './service.ts';

describe('a request', () => {
  it('is refused by its form before anything looks at what it says', async () => {
    const s = await service();
    const { token } = s;
    const post = (body: string, headers = {}) => call(s, '/v1/intents/list', body, { token, headers });
    const rows: readonly (readonly [string, number, string, object?])[] = [
      ['', 400, 'JSON_MALFORMED'],
      ['{', 400, 'JSON_MALFORMED'],
      ['[]', 400, 'SHAPE_INVALID'],
      ['{"tool":"a","tool":"b"}', 400, 'JSON_DUPLICATE_KEY'],
      ['{"__proto__":{}}', 400, 'JSON_NOT_PLAIN'],
      [`{"tool":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 400, 'JSON_TOO_DEEP'],
      ['{"unknown":1}', 400, 'SHAPE_INVALID'],
      [`{"text":"${'x'.repeat(2_000_000)}"}`, 413, 'INPUT_TOO_LARGE'],
      ['{}', 415, 'MEDIA_TYPE_WRONG', { 'content-type': 'text/plain' }],
      ['{}', 415, 'MEDIA_TYPE_WRONG', { 'content-encoding': 'gzip' }],
      ['{}', 400, 'SHAPE_INVALID', { 'idempotency-key': 'a' }],
    ];
    for (const [body, status, code, headers] of rows)
      expect(refusalIn(await post(body, headers)), body.slice(0, 40)).toEqual([status, code]);
    expect(refusalIn(await post('{}', { 'content-type': 'text/html' }))).toEqual([415, 'MEDIA_TYPE_WRONG']);
    const invalid = Buffer.from('{"tool":"\xff"}', 'latin1');
    const answer = await fetch(`${s.address}/v1/intents/list`, {
      method: 'POST',
      body: invalid,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      400,
      'INPUT_NOT_UTF8',
    ]);
  });

  it('may be one of many that one connection sends before it is answered', async () => {
    const s = await service();
    const warned: string[] = [];
    const listen = ({ message }: Error) => warned.push(message);
    process.on('warning', listen);
    try {
      const socket = await socketTo(s);
      const head = `GET /v1/intents/list HTTP/1.1\r\nHost: localhost:${s.port}\r\nAuthorization: Bearer ${s.token}`;
      socket.write(`${head}\r\n\r\n`.repeat(40));
      const answers = () => text.split('HTTP/1.1 ').slice(1);
      let text = '';
      for await (const part of socket) {
        text += String(part);
        if (answers().length === 40 && text.endsWith('}')) break;
      }
      expect(new Set(answers().map((answer) => answer.slice(0, 3)))).toEqual(new Set(['200']));
    } finally {
      process.off('warning', listen);
    }
    expect(warned).toEqual([]);
  });

  it('before it is known who sends it has at most 64 KiB, whatever it says its length is', async () => {
    const s = await service();
    const open = JSON.stringify({ link: 'x'.repeat(43) });
    const long = open.padEnd(65_537);
    const chunked = async (path: string) => {
      const socket = await socketTo(s);
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost:${s.port}\r\nContent-Type: application/json`;
      socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n${long}\r\n`);
      return heard(socket, /"code":"[A-Z_]+"/);
    };
    for (const path of ['/v1/session', '/v1/enrolments/begin']) {
      expect(refusalIn(await call(s, path, long))).toEqual([413, 'INPUT_TOO_LARGE']);
      expect(await chunked(path)).toMatch(/"code":"INPUT_TOO_LARGE"/);
      expect((await call(s, path, long.slice(0, -1))).status).toBeLessThan(413);
    }
    expect(refusalIn(await call(s, '/v1/intents/list', long, { token: s.token }))).toEqual([
      400,
      'SHAPE_INVALID',
    ]);
  });

  it('is told what a path takes, and that it is none', async () => {
    const s = await service();
    const { token } = s;
    for (const path of [
      '/v1/intents',
      '//v1/intents/list',
      '/v1%2Fintents/list',
      '/v1/intents/list/',
      '/v1/tools/lock',
    ])
      expect(refusalIn(await call(s, path, undefined, { token })), path).toEqual([404, 'ROUTE_UNKNOWN']);
    const wrong = await call(s, '/v1/intents/propose', undefined, { token });
    expect(refusalIn(wrong)).toEqual([405, 'METHOD_WRONG']);
    expect(wrong.headers.get('allow')).toBe('POST');
  });

  it('of a read may be a query, and whoever has the answer is spared it', async () => {
    const s = await service();
    const { token } = s;
    const { body } = await call(s, '/v1/intents/propose', SAY, { token });
    const get = (query: string, headers = {}) =>
      call(s, `/v1/intents/list?${query}`, undefined, { token, headers });
    const first = await get('limit=5&tool=say');
    expect(first.body.intents).toMatchObject([{ intent_id: body.intent_id }]);
    const etag = first.headers.get('etag')!;
    expect((await get('limit=5&tool=say', { 'if-none-match': `"x", ${etag}` })).status).toBe(304);
    for (const query of ['limit=a', 'limit=5&limit=6', 'none=1'])
      expect((await get(query)).status, query).toBe(400);
    await call(
      s,
      '/v1/intents/withdraw',
      { intent_id: body.intent_id, reason: 'no', receipt: body.receipt },
      { token },
    );
    expect((await get('limit=5&tool=say', { 'if-none-match': etag })).status).toBe(200);
  });

  it('with an Idempotency-Key that came before is the same proposal', async () => {
    const s = await service();
    const sent = { token: s.token, headers: { 'idempotency-key': 'the-build-of-tuesday-evening' } };
    const [one, two] = [
      await call(s, '/v1/intents/propose', SAY, sent),
      await call(s, '/v1/intents/propose', SAY, sent),
    ];
    expect(two.body).toMatchObject({ intent_id: one.body.intent_id, repeated: true });
    const other = await call(s, '/v1/intents/propose', { ...SAY, declared_goal: 'Other.' }, sent);
    expect(refusalIn(other)).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('for what has not come yet is answered when its time is over', async () => {
    const s = await service();
    const { token } = s;
    const { body } = await call(s, '/v1/intents/propose', SAY, { token });
    const headers = { prefer: 'wait=0' };
    const told = await call(s, '/v1/intents/waitFor', { intent_id: body.intent_id }, { token, headers });
    expect(refusalIn(told)).toEqual([409, 'WAIT_OVER']);
  });

  it('that never ends does not keep the service from others', async () => {
    const s = await service();
    const { port } = new URL(s.address);
    const slow = await Promise.all(
      Array.from({ length: 200 }, () => {
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => {});
        return new Promise<typeof socket>((done) => socket.once('connect', () => done(socket)));
      }),
    );
    for (const socket of slow) socket.write('POST /v1/intents/list HTTP/1.1\r\n');
    expect((await call(s, '/livez')).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });
});

describe('an answer', () => {
  it('has headers that keep other pages out of it', async () => {
    const { headers } = await call(await service(), '/');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });
});

describe('the description', () => {
  it('and docs/http.md say of the same paths that they are answered without a credential', () => {
    const pages = ['/', ...ENROL_FILES.map(({ path }) => path)];
    const open = otherPaths({ assets: [], has_login: true, has_access: true })
      .filter(({ path }) => !pages.includes(path))
      .filter(({ is_open, shown = [] }) => is_open === true || shown.includes('nothing'));
    const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
    const [, listed = ''] = /Without one of them only these are answered, [^:]*: (.*?)\. An agent/s.exec(
      page,
    )!;
    const named = [...listed.matchAll(/`(?:[A-Z]+ )?(\/[^`]*)`/g)].map(([, path]) => path);
    expect(named.sort()).toEqual(open.map(({ path }) => path).sort());
  });

  it('has every verb that can be asked for, each with schemas that compile', async () => {
    const s = await service();
    const { status, body } = await call(s, '/openapi.json', undefined, { token: s.token });
    expect([status, body.openapi]).toEqual([200, '3.1.0']);
    const offered = routesOf().map(({ path }) => path);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', components: body.components });
    const inDocument = (schema: object) =>
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"doc#/components'));
    for (const path of offered) {
      const { post } = body.paths[path];
      expect(post.operationId).toBe(path.slice('/v1/'.length).replace('/', '.'));
      for (const part of [post.requestBody, post.responses['200']])
        ajv.compile(inDocument((Object.values(part.content)[0] as { schema: object }).schema));
    }
  });
});

describe('events', () => {
  /** Begins to listen, and gives what reads the first entry. */
  async function listen(s: Service, headers: Record<string, string>): Promise<() => Promise<string>> {
    const stop = new AbortController();
    const answer = await fetch(`${s.address}/v1/events`, { headers, signal: stop.signal });
    return async () => {
      if (answer.status !== 200)
        return `${answer.status} ${((await answer.json()) as { code: string }).code}`;
      let text = '';
      const reader = answer.body!.getReader();
      while (!text.includes('\nevent: entry')) text += Buffer.from((await reader.read()).value!).toString();
      stop.abort();
      return text;
    };
  }
  const firstOf = async (s: Service, headers: Record<string, string>) => (await listen(s, headers))();
  const idsIn = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);

  it('are told as they come, and go on after the last one that was heard', async () => {
    const s = await service();
    const cookie = await session(s);
    const first = await listen(s, shownAs(cookie));
    const size = await sizeOf(s.keyturn);
    await call(s, '/v1/intents/propose', SAY, { token: s.token });
    const [id] = idsIn(await first());
    expect(id).toMatch(new RegExp(`^${size}\\.[0-9a-f]{16}$`));
    await call(s, '/v1/intents/propose', SAY, { token: s.token });
    expect(idsIn(await firstOf(s, { ...shownAs(cookie), 'last-event-id': id! }))[0]).toMatch(
      new RegExp(`^${size + 1}\\.`),
    );
  });

  it('of another ledger, or of the future, are no place to go on from', async () => {
    const s = await service();
    const cookie = await session(s);
    for (const id of ['99999.0123456789abcdef', '1.0123456789abcdef', '1', 'x', '-1.0123456789abcdef'])
      expect(await firstOf(s, { ...shownAs(cookie), 'last-event-id': id }), id).toBe('400 EVENT_ID_UNKNOWN');
  });

  it('that an agent hears are about its own intents', async () => {
    const s = await service();
    const heard = await listen(s, { authorization: `Bearer ${s.token}` });
    await s.keyturn.intents.propose({ ...SAY, signer: s.ada });
    const { body } = await call(s, '/v1/intents/propose', SAY, { token: s.token });
    const subjects = [...(await heard()).matchAll(/"subject":"([^"]+)"/g)].map(([, subject]) => subject);
    expect(subjects).toEqual([body.intent_id]);
  });
});
