import { describe, expect, it } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { sizeOf } from '../support/ledger.ts';
import { heard, socketTo } from './raw.ts';
import { call, callRaw, proved, refusalIn, SAY, type Service, service, session, shownAs } from './service.ts';
import { callSigned, signatureOf } from './signed.ts';

const FREEZE = '/v1/system/freeze';
const request = { scope: 'tool', name: 'say', reason: 'a look' };

describe('a caller who shows two things', () => {
  it('is whom the first one says, and nobody where that does not hold', async () => {
    const s = await service();
    const cookie = await session(s);
    const both = (token: string) => call(s, '/v1/people/list', undefined, { token, cookie });
    expect(refusalIn(await both(s.token))).toEqual([403, 'NOT_FOR_AGENTS']);
    expect(refusalIn(await both('x'))).toEqual([401, 'TOKEN_INVALID']);
    for (const authorization of ['Bearer', 'Basic eDp5', `Bearer ${s.token} ${s.token}`, 'Bearer \u00e9'])
      expect(
        (await call(s, '/v1/people/list', undefined, { cookie, headers: { authorization } })).status,
        authorization,
      ).toBe(401);
    const signed = signatureOf(s, s.ada as OpenKey, { path: '/v1/people/list' });
    const headers = { ...signed, ...shownAs(cookie) };
    expect((await call(s, '/v1/people/list', undefined, { headers })).status).toBe(200);
    // The signature is used up, and the cookie does not stand in for it.
    expect(refusalIn(await call(s, '/v1/people/list', undefined, { headers }))).toEqual([
      401,
      'MESSAGE_REPLAYED',
    ]);
    const broken = { ...headers, 'signature-input': 'sig1=(' };
    expect((await call(s, '/v1/people/list', undefined, { headers: broken })).status).toBe(401);
  });
});

describe('a link', () => {
  it('opens one session, however many ask at once', async () => {
    const s = await service();
    const link = s.link.split('#link=')[1];
    const asks = Array.from({ length: 20 }, () => call(s, '/v1/session', { link }));
    const statuses = (await Promise.all(asks)).map(({ status }) => status);
    expect(statuses.filter((one) => one === 200)).toHaveLength(1);
    expect(statuses.filter((one) => one === 401)).toHaveLength(19);
  });
});

describe('a draft', () => {
  const drawn = async (s: Service, cookie: Awaited<ReturnType<typeof session>>) =>
    call(s, FREEZE, { request, by: 'ada' }, { cookie });

  it('that says it was drawn up in the future or long ago is not finished, though its human signs that', async () => {
    const s = await service();
    const cookie = await session(s);
    const before = await sizeOf(s.keyturn);
    for (const by_ms of [-600_000, 600_000, 365 * 86_400_000]) {
      const { draft } = (await drawn(s, cookie)).body;
      const moved = (text: string) => new Date(Date.parse(text) + by_ms).toISOString();
      const times = /"(deadline|signed_at)":"([^"]+)"/g;
      const later = {
        ...draft,
        at: moved(draft.at),
        statements: draft.statements.map((one: string) =>
          one.replace(times, (_, name: string, time: string) => `"${name}":"${moved(time)}"`),
        ),
      };
      const proofs = await proved({ body: { draft: later } } as never, s.ada);
      const told = await call(s, FREEZE, { request, draft: later, proofs }, { cookie });
      expect(told.status, `${by_ms} ${told.text}`).toBe(409);
    }
    expect(await sizeOf(s.keyturn)).toBe(before);
  });

  it('takes no other id, no further statement, and as many proofs as statements', async () => {
    const s = await service();
    const cookie = await session(s);
    const first = await drawn(s, cookie);
    const { draft } = first.body;
    const [proof] = await proved(first, s.ada);
    const finish = (over: object, proofs: unknown[] = [proof]) =>
      call(s, FREEZE, { request, draft: { ...draft, ...over }, proofs }, { cookie });
    for (const [over, proofs] of [
      [{ statements: [...draft.statements, draft.statements[0]] }, [proof, proof]],
      [{ statements: [draft.statements[0].toUpperCase()] }, [proof]],
      [{}, [proof, proof]],
      [{ by: 'bot' }, [proof]],
      [{ key: 'x' }, [proof]],
    ] as const)
      expect((await finish(over, [...proofs])).status, JSON.stringify(over)).toBeGreaterThanOrEqual(400);
    expect((await finish({})).status).toBe(200);
  });

  it('of what is no act of the table is none, whatever it is called', async () => {
    const s = await service();
    const cookie = await session(s);
    for (const verb of [
      'intents.constructor',
      'constructor.constructor',
      'intents.list',
      'system.gc',
      'tools.lock',
    ]) {
      const asked = { by: 'ada', acts: [{ verb, request: {} }] };
      const { status, body } = await call(s, '/v1/acts/draft', asked, { cookie });
      expect([status, body.drawn[0].problem.code], verb).toEqual([202, 'ROUTE_UNKNOWN']);
    }
    const proto =
      '{"request":{"__proto__":{"scope":"tool"},"scope":"tool","name":"say","reason":"x"},"by":"ada"}';
    expect(refusalIn(await call(s, FREEZE, proto, { cookie }))[0]).toBe(400);
  });
});

describe('a header', () => {
  it('of a read is taken by its word: any tag, a long list, a wait without a number', async () => {
    const s = await service();
    const { token } = s;
    const path = '/v1/intents/list';
    const { headers } = await call(s, path, undefined, { token });
    const get = (more: Record<string, string>) => call(s, path, undefined, { token, headers: more });
    const many = Array.from({ length: 300 }, (_, i) => `"${i}"`).join(', ');
    expect((await get({ 'if-none-match': `${many}, W/${headers.get('etag')}` })).status).toBe(304);
    for (const tag of ['', '"', many, headers.get('etag')!.slice(1)])
      expect((await get({ 'if-none-match': tag })).status, tag.slice(0, 20)).toBe(200);
    const { intent_id } = (await call(s, '/v1/intents/propose', SAY, { token })).body;
    const asked = `/v1/intents/waitFor?intent_id=${intent_id}`;
    for (const prefer of ['wait=0', 'respond-async, wait=0', 'wait = 0; x', 'WAIT=0'])
      expect(refusalIn(await call(s, asked, undefined, { token, headers: { prefer } })), prefer).toEqual([
        409,
        'WAIT_OVER',
      ]);
  });

  it('of a host is that of the service to the letter, but for its case', async () => {
    const s = await service();
    const authorization = `Bearer ${s.token}`;
    const asked = (host: string) => callRaw(s, '/v1/intents/list', { host, authorization });
    expect((await asked(`LOCALHOST:${s.port}`)).status).toBe(200);
    for (const host of [
      'localhost',
      `localhost.:${s.port}`,
      `localhost:0${s.port}`,
      `x@localhost:${s.port}`,
      `localhost:${s.port}@evil.example`,
      `127.1:${s.port}`,
      `0x7f000001:${s.port}`,
      `[::ffff:127.0.0.1]:${s.port}`,
    ])
      expect([400, 421], host).toContain((await asked(host)).status);
  });

  it('that announces a body which is too long is answered before the body comes', async () => {
    const s = await service();
    const socket = await socketTo(s);
    const lines = [
      `Host: localhost:${s.port}`,
      `Authorization: Bearer ${s.token}`,
      'Content-Type: application/json',
    ];
    socket.write(
      `POST /v1/intents/list HTTP/1.1\r\n${lines.join('\r\n')}\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n`,
    );
    expect(await heard(socket, /INPUT_TOO_LARGE/)).toContain('HTTP/1.1 413');
    const other = await socketTo(s);
    other.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expect(await heard(other, /\r\n\r\n/)).toMatch(/^(HTTP\/1\.1 4|$)/);
    const old = await socketTo(s);
    old.write(`GET /v1/people/list HTTP/1.0\r\n\r\n`);
    expect(await heard(old, /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 4(00|21)/);
  });
});

describe('a query', () => {
  it('that is long, odd or not UTF-8 is refused with its reason, and is never a failure', async () => {
    const s = await service();
    const { token } = s;
    const asked = (query: string) => call(s, `/v1/intents/list?${query}`, undefined, { token });
    for (const query of [
      Array.from({ length: 1_000 }, (_, i) => `a${i}=1`).join('&'),
      'tool=a&tool=b',
      'tool=%00',
      'text=%ED%A0%80',
      'text=%FF',
      'limit=1e2',
      'limit=0x10',
      'limit=+5',
      '__proto__=1',
      'constructor=1',
      '=1',
      '&&&',
      'cursor=%F0%9F%92%A5',
    ]) {
      const { status, text } = await asked(query);
      expect([200, 400], `${query.slice(0, 40)} ${text.slice(0, 200)}`).toContain(status);
    }
    expect(refusalIn(await asked('limit=1e2'))).toEqual([400, 'SHAPE_INVALID']);
    const types = ['application/json; charset=utf-16', 'application/json;charset=latin1', 'text/json', ''];
    for (const type of types)
      expect(
        (await call(s, '/v1/intents/list', '{}', { token, headers: { 'content-type': type } })).status,
        type,
      ).toBe(415);
  });

  it('after which a stream should go on is one id of this ledger, or none', async () => {
    const s = await service();
    for (const id of [
      '0.',
      '-1.0000000000000000',
      '1e3.0000000000000000',
      'x'.repeat(8_000),
      '00.0000000000000000',
    ])
      expect(
        refusalIn(
          await call(s, '/v1/events', undefined, { token: s.token, headers: { 'last-event-id': id } }),
        ),
        id.slice(0, 20),
      ).toEqual([400, 'EVENT_ID_UNKNOWN']);
  });
});

describe('a signature', () => {
  it('says one thing: two labels, a component twice or a parameter twice is none', async () => {
    const s = await service();
    const ada = s.ada as OpenKey;
    const path = '/v1/people/list';
    const get = (headers: Record<string, string>) => call(s, path, undefined, { headers });
    const good = signatureOf(s, ada, { path });
    const input = good['signature-input']!;
    const twice = { ...good, 'signature-input': `${input}, ${input.replace('sig1', 'sig2')}` };
    expect((await get(twice)).status).toBe(401);
    const covered = ['@method', '@authority', '@path', '@query', '@path'];
    expect((await callSigned(s, ada, path, undefined, { covered })).status).toBe(401);
    expect((await callSigned(s, ada, path, undefined, { more: ';created=1' })).status).toBe(401);
    expect(
      (await callSigned(s, ada, path, undefined, { more: `;tag="${s.keyturn.host.origin}"` })).status,
    ).toBe(401);
    expect((await get(good)).status).toBe(200);
  });
});
