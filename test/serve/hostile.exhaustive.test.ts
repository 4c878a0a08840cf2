import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { authority, human } from '../journey/authority.ts';
import { sizeOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import {
  acted,
  call,
  callRaw,
  proved,
  refusalIn,
  SAY,
  type Service,
  service,
  serving,
  session,
  shownAs,
} from './service.ts';
import { callSigned, keyed } from './signed.ts';

vi.setConfig({ testTimeout: 110_000 });

const FREEZE = { scope: 'tool', name: 'say', reason: 'a look' };

async function proposed(s: Service) {
  const { body } = await call(s, '/v1/intents/propose', SAY, { token: s.token });
  return { intent_id: body.intent_id as string, hash: body.hash as string };
}

describe('a path', () => {
  it('in any other spelling is none: encoded, with dots, a double slash or in another case', async () => {
    const s = await service();
    const { port } = new URL(s.address);
    const host = `localhost:${port}`;
    const token = { host, authorization: `Bearer ${s.token}` };
    for (const path of [
      '/v1%2Fintents%2Flist',
      '/v1/intents%2flist',
      '//v1/intents/list',
      '/v1//intents/list',
      '/v1/intents//list',
      '/v1/intents/list/',
      '/v1/intents/list%00',
      '/v1/intents/list;x',
      '/V1/intents/list',
      '/v1/intents/LIST',
      '/v1/intents/%6cist/..%2f..',
      '/v1/intents/__proto__',
      '/v1/constructor/name',
    ]) {
      const [known, unknown] = [await callRaw(s, path, token), await callRaw(s, path, { host })];
      expect([known.status, known.body], path).toEqual([404, expect.stringContaining('ROUTE_UNKNOWN')]);
      expect(unknown.status, path).toBe(401);
    }
    for (const path of [
      '/v1/../livez',
      '/v1/%2e%2e/livez',
      '/./livez',
      '/liv%65z',
      '/%2e/livez',
      '/x/../livez?a=b',
    ])
      expect((await callRaw(s, path, { host })).status, path).toBe(404);
    for (const path of ['/v1/./intents/list', '/v1/%69ntents/list', '/livez/../v1/intents/list'])
      expect((await callRaw(s, path, token)).status, path).toBe(404);
    for (const path of ['/livez', '/livez?', '/livez?a=/../b', `http://${host}/livez`])
      expect(await callRaw(s, path, { host }), path).toEqual({ status: 200, body: 'live\n' });
  });
});

describe('a body', () => {
  it('of no byte, of other bytes than UTF-8, with a key twice or 10,000 deep is refused with its reason', async () => {
    const s = await service();
    const post = async (body: Uint8Array | string) => {
      const answer = await fetch(`${s.address}/v1/intents/list`, {
        method: 'POST',
        headers: { authorization: `Bearer ${s.token}`, 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : new Uint8Array(body),
      });
      return [answer.status, ((await answer.json()) as { code: string }).code];
    };
    expect(await post('')).toEqual([400, 'JSON_MALFORMED']);
    expect(await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toEqual([
      400,
      'INPUT_NOT_UTF8',
    ]);
    expect(await post('{"limit":1,"limit":2}')).toEqual([400, 'JSON_DUPLICATE_KEY']);
    expect(await post('{"limit":1,"\\u006cimit":2}')).toEqual([400, 'JSON_DUPLICATE_KEY']);
    expect(await post(`{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)).toEqual([400, 'JSON_TOO_DEEP']);
    expect(await post('{"__proto__":{"limit":1}}')).toEqual([400, expect.any(String)]);
    for (const text of ['[]', 'null', '1', '"x"']) expect(await post(text)).toEqual([400, 'SHAPE_INVALID']);
    expect(await post('{}')).toEqual([200, undefined]);
  });
});

describe('a query', () => {
  it('of other bytes than UTF-8, with half a byte or a member twice is refused with its reason', async () => {
    const s = await service();
    const get = async (query: string) => {
      const answer = await fetch(`${s.address}/v1/intents/list?${query}`, {
        headers: { authorization: `Bearer ${s.token}` },
      });
      return [answer.status, ((await answer.json()) as { code: string }).code];
    };
    for (const text of ['%ff%fe', '%c3', '%', '%zz', '%ed%a0%80'])
      expect(await get(`text=${text}`), text).toEqual([400, 'INPUT_NOT_UTF8']);
    expect(await get('limit=1&limit=2')).toEqual([400, 'JSON_DUPLICATE_KEY']);
    expect(await get('text=%c3%a9+50%25')).toEqual([200, undefined]);
  });
});

describe('a draft', () => {
  it('is finished by no other name, with no proof of another draft, and not once what was shown has changed', async () => {
    const s = await service();
    const cookie = await session(s);
    const bo = (await human(s, 'bo')) as OpenKey;
    const at = '/v1/intents/approve';
    const [one, two] = [await proposed(s), await proposed(s)];
    const draw = (request: object, by: string) => call(s, at, { request, by }, { cookie });
    const [of_one, of_two] = [await draw(one, 'ada'), await draw(two, 'ada')];
    const size = await sizeOf(s.keyturn);
    const swapped = { request: one, draft: of_one.body.draft, proofs: await proved(of_two, s.ada) };
    expect(refusalIn(await call(s, at, swapped, { cookie }))).toEqual([403, 'SIGNATURE_INVALID']);
    const mixed = { request: one, draft: of_two.body.draft, proofs: await proved(of_two, s.ada) };
    expect(refusalIn(await call(s, at, mixed, { cookie }))).toEqual([409, 'ACT_CHANGED']);
    const finished = { request: one, draft: of_one.body.draft, proofs: await proved(of_one, s.ada) };
    expect(refusalIn(await callSigned(s, bo, at, finished))).toEqual([403, 'CALLER_OTHER']);
    expect(await sizeOf(s.keyturn)).toBe(size);
    await acted(s, '/v1/intents/reject', { ...one, reason: 'no' }, bo, cookie);
    const late = await call(s, at, finished, { cookie });
    expect(late.status).toBeGreaterThanOrEqual(400);
    expect((await s.keyturn.intents.get({ intent_id: one.intent_id })).approvals).toEqual([]);
  });

  it('of another project is none here, whatever it says', async () => {
    const s = await service();
    const cookie = await session(s);
    // The same human with the same key, in a project of another id.
    const p = await authority(() => new Date());
    const other = { ...p, ...(await serving(p)) };
    expect([p.ada.public_key, p.keyturn.host.origin === s.keyturn.host.origin]).toEqual([
      s.ada.public_key,
      false,
    ]);
    const at = '/v1/system/freeze';
    const drawn = await call(other, at, { request: FREEZE, by: 'ada' }, { cookie: await session(other) });
    const finished = { request: FREEZE, draft: drawn.body.draft, proofs: await proved(drawn, p.ada) };
    expect(refusalIn(await call(s, at, finished, { cookie }))).toEqual([409, 'ACT_CHANGED']);
    expect((await s.keyturn.system.get()).freezes).toEqual([]);
    const scout = await keyed(s);
    const foreign = await callSigned(s, scout, '/v1/intents/list', {}, { tag: other.keyturn.host.origin });
    expect(refusalIn(foreign)).toEqual([401, 'MESSAGE_SIGNATURE_INVALID']);
  });
});

describe('events', () => {
  it('of an id of another ledger of the same length are no place to go on from', async () => {
    const [s, other] = [await service(), await service()];
    await proposed(other);
    const first = (await fetch(`${other.address}/v1/events`, { headers: shownAs(await session(other)) }))
      .body!;
    const reader = first.getReader();
    await proposed(other);
    const [, id] = /^id: (.*)$/m.exec(Buffer.from((await reader.read()).value!).toString())!;
    await reader.cancel();
    await proposed(s);
    await proposed(s);
    const answer = await fetch(`${s.address}/v1/events`, {
      headers: { ...shownAs(await session(s)), 'last-event-id': id! },
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      400,
      'EVENT_ID_UNKNOWN',
    ]);
  });

  it('of an id of a copy of the project that went its own way are no place to go on from', async () => {
    const s = await service();
    await s.stop();
    await s.keyturn.close();
    const root = scratch();
    cpSync(s.root, root, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    const [one, copy] = [
      { ...s, ...(await serving(s)) },
      { ...s, root, ...(await serving({ root })) },
    ];
    const told = await fetch(`${one.address}/v1/events`, { headers: shownAs(await session(one)) });
    for (const each of [one, copy]) await proposed(each);
    const reader = told.body!.getReader();
    let text = '';
    while (!text.includes('\n\n')) text += Buffer.from((await reader.read()).value!).toString();
    await reader.cancel();
    const headers = { ...shownAs(await session(copy)), 'last-event-id': /^id: (.*)$/m.exec(text)![1]! };
    const answer = await fetch(`${copy.address}/v1/events`, { headers });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      400,
      'EVENT_ID_UNKNOWN',
    ]);
  });
});

describe('an edited keyturn.yaml', () => {
  it('with a new command, host or executor starts nothing, and no order runs under another name', async () => {
    const s = await service();
    const path = join(s.root, 'keyturn.yaml');
    const marked = join(s.root, 'marked');
    const text = readFileSync(path, 'utf8');
    const evil = { executable: '/usr/bin/touch', args: [marked], sandbox: 'none' };
    writeFileSync(
      path,
      `${text}
mcp: ${JSON.stringify({ evil })}
`,
    );
    // While the service runs, and after a new start.
    expect((await call(s, '/v1/mcp/tools', {}, { token: s.token })).body.tools).toEqual([]);
    expect(existsSync(marked)).toBe(false);
    await s.stop();
    const again = await serving(s, { most: 1 });
    const at = { ...s, ...again };
    const cookie = await session(at);
    const servers = await call(at, '/v1/mcp/servers', {}, { cookie });
    expect(servers.body.servers ?? servers.body).toMatchObject([{ server: 'evil', status: 'unaccepted' }]);
    expect((await call(at, '/v1/mcp/tools', {}, { token: s.token })).body.tools).toEqual([]);
    expect(existsSync(marked)).toBe(false);
    await again.stop();
    expect(text).toMatch(/^executor: /m);
    writeFileSync(path, text.replace(/^executor: .*$/m, 'executor: elsewhere'));
    const renamed = { ...s, ...(await serving(s, { most: 1 })) };
    const shown = await session(renamed);
    const intent = await proposed(renamed);
    const turned = await acted(renamed, '/v1/intents/turn', intent, s.ada, shown);
    expect(turned.status).toBe(200);
    const opened = await Keyturn.open({ at: s.root });
    onTestFinished(() => opened.close());
    await expectRefusal('CAPABILITY_WRONG_AUDIENCE', () =>
      opened.runs.run({ ...intent, seen: turned.body.seen }),
    );
    expect((await opened.intents.get({ intent_id: intent.intent_id })).runs).toEqual([]);
  });
});
