import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { authority } from '../journey/authority.ts';
import { type Asked, type Document, type Walked, walk } from './contract.ts';
import {
  acted,
  call,
  callRaw,
  SAY,
  type Service,
  type Shown,
  serving,
  session,
  type Told,
  withToken,
} from './service.ts';

/** At full size by `npm run soak -- contract`. */
const REQUESTS = Number(process.env.KEYTURN_SOAK_REQUESTS ?? 500);

it(`${REQUESTS} good and bad requests of the document are answered as it declares, and none by a failure`, async () => {
  const p = await authority();
  const settings =
    'service: { requests_minute: 10000000, at_once: 4 }\nproposals: { pending: 10000, minute: 100000 }';
  writeFileSync(join(p.root, 'keyturn.yaml'), `version: 1\n${settings}\n`);
  const { token } = await withToken(p, 'bot');
  const s = { ...p, token, ...(await serving(p)) } as unknown as Service;
  const cookie = await session(s);
  const document = (await call(s, '/openapi.json', undefined, { cookie })).body as Document;
  const operations = walk(document);
  const wrong: string[] = [];
  const reached = new Set<number>();
  const note = ({ path, method, wrong: judge }: Walked, told: Told) => {
    reached.add(told.status);
    const problem = judge(told.status, told.headers.get('content-type') ?? '', told.body);
    if (problem !== null) wrong.push(`${method} ${path} ${problem}`);
    if (told.status >= 500) wrong.push(`${method} ${path} answers ${told.status}: ${told.text}`);
  };
  const each = Math.ceil(REQUESTS / operations.length);
  for (const [place, operation] of operations.entries()) {
    if (operation.path === '/v1/events') continue;
    const asks = fc.sample(operation.asked, { numRuns: each, seed: 42 + place });
    for (const [i, asked] of asks.entries())
      note(operation, await answered(() => ask(s, operation, asked, i % 3 === 0 ? { token } : { cookie })));
  }
  for (const [path, told] of await odd(s, cookie)) {
    const method = told.status === 304 ? 'get' : 'post';
    note(operations.find((one) => one.path === path && one.method === method)!, told);
  }
  expect(wrong.slice(0, 10)).toEqual([]);
  const declared = new Set(operations.flatMap(({ statuses }) => statuses.map(Number)));
  // What fails inside, and a store or a clock that fails, no request brings about; `default` is any other.
  const unreached = [...declared].filter((one) => !reached.has(one) && one < 500);
  expect(unreached).toEqual([]);
  await p.keyturn.ledger.verify({ deep: true });
}, 600_000);

/** To make up requests takes long, and meanwhile a connection that is kept for the next one can end. */
async function answered(asks: () => Promise<Told>): Promise<Told> {
  return asks().catch(asks);
}

function ask(s: Service, { path, method }: Walked, { query, body }: Asked, who: object): Promise<Told> {
  const headers = { prefer: 'wait=0' };
  if (method === 'post') return call(s, path, body === undefined ? {} : body, { ...who, headers });
  const text = new URLSearchParams(query as Record<string, string>).toString();
  return call(s, text === '' ? path : `${path}?${text}`, undefined, { ...who, headers });
}

/** Those that only a certain order of requests, or a certain header, reaches. */
async function odd(s: Service, cookie: Shown): Promise<[string, Told][]> {
  const { token } = s;
  const propose = '/v1/intents/propose';
  const proposed = await call(s, propose, SAY, { token });
  const { intent_id, hash } = proposed.body;
  const get = '/v1/intents/get';
  const first = await call(s, `${get}?intent_id=${intent_id}`, undefined, { token });
  const known = { token, headers: { 'if-none-match': first.headers.get('etag')! } };
  const turn = '/v1/intents/turn';
  const drawn = await call(s, turn, { request: { intent_id, hash }, by: 'ada' }, { cookie });
  return [
    [propose, proposed],
    [get, first],
    [get, await call(s, `${get}?intent_id=${intent_id}`, undefined, known)],
    [turn, drawn],
    [turn, await acted(s, turn, { intent_id, hash }, s.ada, cookie)],
    [turn, await acted(s, turn, { intent_id, hash }, s.ada, cookie)],
    [get, await call(s, get, { intent_id: '00000000-0000-4000-8000-000000000000' }, { token })],
    [get, await call(s, get, { intent_id })],
    [get, await call(s, get, 'x'.repeat(1_100_000), { token })],
    [get, await call(s, get, '{}', { token, headers: { 'content-type': 'text/plain' } })],
    [get, await fetchAs(s, get, 'PUT', token)],
    [get, await viaHost(s, get)],
    ...(await flooded(s, token)),
  ];
}

async function fetchAs({ address }: Service, path: string, method: string, token: string): Promise<Told> {
  const answer = await fetch(`${address}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

async function viaHost(s: Service, path: string): Promise<Told> {
  const { status, body } = await callRaw(s, path, { host: 'elsewhere:1' });
  const headers = new Headers({ 'content-type': 'application/problem+json' });
  return { status, headers, text: body, body: JSON.parse(body) };
}

/** As many waits at once as a caller may have, and one more. */
async function flooded(s: Service, token: string): Promise<[string, Told][]> {
  const { body } = await call(s, '/v1/intents/propose', SAY, { token });
  const path = '/v1/intents/waitFor';
  const headers = { prefer: 'wait=5' };
  const asks = Array.from({ length: 12 }, () =>
    call(s, path, { intent_id: body.intent_id }, { token, headers }),
  );
  return (await Promise.all(asks)).map((told) => [path, told]);
}
