import { describe, expect, it, vi } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { human, PERMITS, policy, rules } from '../journey/authority.ts';
import { heard, socketTo } from './raw.ts';
import { call, proved, refusalIn, SAY, type Service, service, session, shownIn } from './service.ts';
import { callSigned } from './signed.ts';

vi.setConfig({ testTimeout: 110_000 });

const FREEZE = { scope: 'tool', name: 'say', reason: 'a look' };

const head = (s: Service, more: string) =>
  `POST /v1/intents/list HTTP/1.1\r\nHost: localhost:${s.port}\r\nAuthorization: Bearer ${s.token}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;

describe('a body', () => {
  it('of one byte, of 10 MB and without an end is refused, and others are answered', async () => {
    const s = await service();
    expect(refusalIn(await call(s, '/v1/intents/list', 'x', { token: s.token }))).toEqual([
      400,
      'JSON_MALFORMED',
    ]);
    const said = await socketTo(s);
    said.write(head(s, 'Content-Length: 10000000'));
    expect(await heard(said, /INPUT_TOO_LARGE/)).toMatch(/^HTTP\/1\.1 413 /);
    const endless = await socketTo(s);
    endless.write(head(s, 'Transfer-Encoding: chunked'));
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    for (let i = 0; i < 20; i += 1) endless.write(chunk);
    expect(await heard(endless, /INPUT_TOO_LARGE/)).toMatch(/^HTTP\/1\.1 413 /);
    const slow = await socketTo(s);
    slow.write(head(s, 'Content-Length: 100'));
    slow.write('{');
    expect((await call(s, '/livez')).status).toBe(200);
  });

  it('that says its length twice, or two ways, is no request', async () => {
    const s = await service();
    for (const more of [
      'Content-Length: 2\r\nTransfer-Encoding: chunked',
      'Content-Length: 2\r\nContent-Length: 3',
    ]) {
      const socket = await socketTo(s);
      socket.write(`${head(s, more)}{}`);
      expect(await heard(socket, /\r\n\r\n/), more).toMatch(/^HTTP\/1\.1 400 /);
    }
  });
});

describe('a token, a link and a draft', () => {
  it('of another service say nothing here', async () => {
    const [s, other] = [await service(), await service()];
    expect(refusalIn(await call(s, '/v1/intents/list', undefined, { token: other.token }))).toEqual([
      401,
      'TOKEN_INVALID',
    ]);
    const link = other.link.split('#link=')[1];
    expect(refusalIn(await call(s, '/v1/session', { link }))).toEqual([401, 'LINK_SPENT']);
    const cookie = await session(other);
    expect(refusalIn(await call(s, '/v1/people/list', undefined, { cookie }))).toEqual([
      401,
      'TOKEN_INVALID',
    ]);
  });

  it('is finished by another session of the same human or of none, once, and by that of nobody else', async () => {
    const s = await service();
    const cookie = await session(s);
    const [bo, cy] = [(await human(s, 'bo')) as OpenKey, (await human(s, 'cy')) as OpenKey];
    const at = '/v1/system/freeze';
    const drawn = await call(s, at, { request: FREEZE, by: 'bo' }, { cookie });
    const finished = { request: FREEZE, draft: drawn.body.draft, proofs: await proved(drawn, bo) };
    const of_cy = shownIn(await callSigned(s, cy, '/v1/session', {}));
    expect(refusalIn(await call(s, at, finished, { cookie: of_cy }))).toEqual([403, 'CALLER_OTHER']);
    const of_bo = shownIn(await callSigned(s, bo, '/v1/session', {}));
    const both = await Promise.all([of_bo, cookie].map((shown) => call(s, at, finished, { cookie: shown })));
    expect(both.map(({ status }) => status).sort()[0]).toBe(200);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await s.keyturn.system.get()).freezes).toHaveLength(1);
  });

  it('after the policies changed is decided by those that are active then', async () => {
    const s = await service();
    const cookie = await session(s);
    const { body } = await call(s, '/v1/intents/propose', SAY, { token: s.token });
    const request = { intent_id: body.intent_id, hash: body.hash };
    const drawn = await call(s, '/v1/intents/approve', { request, by: 'ada' }, { cookie });
    const no_say = 'forbid (principal, action, resource == Keyturn::Tool::"say");';
    await rules(s, PERMITS + policy('no-say', 'intent', no_say));
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, s.ada) };
    expect(refusalIn(await call(s, '/v1/intents/approve', finished, { cookie }))).toEqual([
      403,
      'POLICY_DENIED',
    ]);
  });
});
