import { renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Verb } from '../../src/face/verb.ts';
import { VERBS } from '../../src/face/verbs.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { authority } from '../journey/authority.ts';
import { shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { type Asked, type Document, type Walked, walk } from './contract.ts';
import { type Furnished, furnished, type Reach } from './contract-project.ts';
import { Reached } from './contract-reached.ts';
import {
  actsTogether,
  asExecutor,
  atOnce,
  begun,
  byAnotherClock,
  enrolments,
  formOf,
  ISSUE,
  issued,
  messages,
  type Note,
} from './contract-steps.ts';
import {
  call,
  proved,
  type Service,
  type Shown,
  serving,
  session,
  shownAs,
  type Told,
  withToken,
} from './service.ts';
import { callSigned } from './signed.ts';

const server = postgres();

/** At full size by `npm run soak -- contract`. */
const REQUESTS = Number(process.env.KEYTURN_SOAK_REQUESTS ?? 500);

it(`each status that the document declares is answered, and ${REQUESTS} good and bad requests beside as it says`, async () => {
  const p = await furnished();
  const s = { ...p, ...(await serving(p)) } as unknown as Service;
  const cookie = await session(s);
  const document = (await call(s, '/openapi.json', undefined, { cookie })).body as Document;
  const operations = walk(document);
  const reached = new Reached(operations);
  const note: Note = (method, path, told) => reached.note(method, path, told);
  for (const one of operations)
    for (const told of await refusedByForm(s, one, cookie)) note(one.method, one.path, told);
  await issued(s, note);
  await askedVerbs(s, p, operations, cookie, note);
  await enrolments(s, cookie, note);
  await actsTogether(s, cookie, note);
  await messages(s, note);
  note('post', '/v1/session', await callSigned(s, s.ada as OpenKey, '/v1/session', {}));
  note('get', '/v1/events', await begun(s, '/v1/events', shownAs(cookie)));
  for (const { path } of operations.filter(isPage)) await asked(s, path, undefined, { cookie }, note);
  await generated(s, operations, cookie, note);
  await withoutRegistry(s, p, operations, cookie, note);
  const headers = { ...shownAs(cookie), origin: s.address };
  note('delete', '/v1/session', await sent(s, 'delete', '/v1/session', { headers }));
  await s.stop();
  await byAnotherClock(p, note);
  const busy = await crowded();
  for (const one of operations.filter(({ statuses }) => statuses.includes('429')))
    note(one.method, one.path, await busy(one));
  const down = await withoutStore(note);
  for (const one of operations.filter(({ statuses }) => statuses.includes('503')))
    reached.note(one.method, one.path, await down(one), true);
  console.log(reached.table);
  expect(reached.wrong.slice(0, 10)).toEqual([]);
  expect(reached.unreached).toEqual([]);
  await p.keyturn.ledger.verify({ deep: true });
}, 1_800_000);

/** They go on until the caller ends them. */
const STREAMS = new Set(['/v1/events', '/mcp']);
const isPage = ({ method, path }: Walked) =>
  method === 'get' && !STREAMS.has(path) && !/^\/v1\/[a-z]+\/[a-zA-Z]+$/.test(path);
const isGet = (operations: readonly Walked[], path: string) =>
  operations.some((one) => one.method === 'get' && one.path === path);
const verbOf = (name: string) => {
  const [namespace, verb] = name.split('.') as [keyof typeof VERBS, string];
  return (VERBS[namespace] as Record<string, unknown>)[verb] as Verb;
};

/** Each verb with what reaches its answers; acts are drawn up, signed and finished. */
async function askedVerbs(
  s: Service,
  { asks, token }: Furnished,
  operations: readonly Walked[],
  cookie: Shown,
  note: Note,
): Promise<void> {
  const offered = operations.filter(({ path }) => /^\/v1\/[a-z]+\/[a-zA-Z]+$/.test(path));
  for (const [name, reaches] of Object.entries(asks)) {
    const path = `/v1/${name.replace('.', '/')}`;
    expect(offered.map((one) => one.path)).toContain(path);
    for (const reach of await reaches()) {
      if (reach.by) await acted(s, path, reach, cookie, note);
      else if (reach.signed) note('post', path, await callSigned(s, reach.signed, path, reach.request));
      else
        for (const who of verbOf(name).open_to === 'people' ? [{ cookie }] : [{ token }, { cookie }]) {
          await asked(s, path, reach.request, who, note);
          if (isGet(operations, path))
            await asked(s, `${path}?${queryOf(reach.request)}`, undefined, who, note);
        }
    }
  }
}

const queryOf = (request: object) => new URLSearchParams(request as Record<string, string>).toString();

/** A read is asked for again with what its answer was tagged with. */
async function asked(
  s: Service,
  path: string,
  body: object | undefined,
  who: object,
  note: Note,
): Promise<void> {
  const method = body === undefined ? 'get' : 'post';
  const headers = { prefer: 'wait=0' };
  const told = await call(s, path, body, { ...who, headers });
  note(method, path.split('?')[0]!, told);
  const etag = told.headers.get('etag');
  if (etag === null) return;
  const again = { ...headers, 'if-none-match': etag };
  note(method, path.split('?')[0]!, await call(s, path, body, { ...who, headers: again }));
}

/** Drawn up, finished with another statement, finished, and asked for in the name of nobody. */
async function acted(s: Service, path: string, { request, by, holder }: Reach, cookie: Shown, note: Note) {
  const post = async (body: object) => {
    const told = await call(s, path, body, { cookie });
    note('post', path, told);
    return told;
  };
  const key = holder && { name: holder.name, public_key: holder.public_key };
  const drawn = await post({ request, by: by!.name, key: by!.public_key, ...(key && { holder: key }) });
  expect(drawn.status, `${path} ${drawn.text}`).toBe(202);
  const { draft, request: full = request } = drawn.body;
  const signed = {
    ...{ request: full, proofs: await proved(drawn, by!) },
    ...(key && { holder: { ...key, proofs: await proved(drawn, holder!) } }),
  };
  await post({
    ...signed,
    draft: { ...draft, statements: draft.statements.map((one: string) => `${one} `) },
  });
  const done = await post({ ...signed, draft });
  expect(done.status, `${path} ${done.text}`).toBe(200);
  await post({ request, by: 'nobody', ...(key && { holder: key }) });
}

/** Requests that the schemas of the document allow, and some that they do not. */
async function generated(
  s: Service,
  operations: readonly Walked[],
  cookie: Shown,
  note: Note,
): Promise<void> {
  const { token } = s;
  const each = Math.ceil(REQUESTS / operations.length);
  for (const [place, one] of operations.entries()) {
    if (one.method === 'delete' || (one.method === 'get' && STREAMS.has(one.path))) continue;
    const asks = fc.sample(one.asked, { numRuns: each, seed: 42 + place });
    for (const [i, made] of asks.entries()) {
      const who = i % 3 === 0 ? { token } : { cookie };
      note(one.method, one.path, await answered(() => ask(s, one, made, who)));
    }
  }
}

function ask(s: Service, { path, method }: Walked, { query, body }: Asked, who: object): Promise<Told> {
  const headers = { prefer: 'wait=0' };
  if (method === 'post') return call(s, path, body === undefined ? {} : body, { ...who, headers });
  const text = queryOf(query);
  return call(s, text === '' ? path : `${path}?${text}`, undefined, { ...who, headers });
}

/** To make up requests takes long, and meanwhile a connection that is kept for the next one can end. */
async function answered(asks: () => Promise<Told>): Promise<Told> {
  return asks().catch(asks);
}

/** Verbs that read the registry, while there is none. */
async function withoutRegistry(
  s: Service,
  { asks, root }: Furnished,
  operations: readonly Walked[],
  cookie: Shown,
  note: Note,
): Promise<void> {
  const registry = join(root, 'tools.yaml');
  renameSync(registry, `${registry}.gone`);
  for (const [name, reaches] of Object.entries(asks)) {
    if (!verbOf(name).refuses?.includes('REGISTRY_MISSING')) continue;
    const path = `/v1/${name.replace('.', '/')}`;
    for (const { request } of await reaches()) {
      await asked(s, path, request, { cookie }, note);
      if (isGet(operations, path)) await asked(s, `${path}?${queryOf(request)}`, undefined, { cookie }, note);
    }
  }
  renameSync(`${registry}.gone`, registry);
}

/** Without a caller, by another name of the service, from a page elsewhere, and with what is no request. */
async function refusedByForm(s: Service, one: Walked, cookie: Shown): Promise<Told[]> {
  const { token } = s;
  const { path, method, is_open, takes_body, statuses } = one;
  const page = { ...shownAs(cookie), origin: s.address };
  const send = (over: { token?: string; headers?: Record<string, string>; body?: string }, more = '') =>
    answered(() => sent(s, method, `${path}${more}`, { ...(takes_body && { body: '{}' }), ...over }));
  const told = [await viaHost(s, method, path, { host: 'elsewhere:1' })];
  if (!is_open) told.push(await send({}));
  if (statuses.includes('403')) told.push(await send({ token, headers: { 'sec-fetch-site': 'cross-site' } }));
  if (!takes_body && statuses.includes('400'))
    told.push(await send({ headers: { ...page, 'last-event-id': 'x' } }, '?no_such_member=1'));
  if (!takes_body) return told;
  for (const who of [{ token }, { headers: page }]) {
    const headers = { ...who.headers, 'content-type': 'text/plain' };
    told.push(await send({ ...who, body: '{"a":1,"a":1}' }), await send({ ...who, body: '{}', headers }));
    told.push(await send({ ...who, body: 'x'.repeat(1_100_000) }), await send({ ...who, body: '{}' }));
  }
  return told;
}

async function sent(
  { address }: Pick<Service, 'address'>,
  method: string,
  path: string,
  { token, headers = {}, body }: { token?: string; headers?: Record<string, string>; body?: string },
): Promise<Told> {
  const answer = await fetch(`${address}${path}`, {
    method: method.toUpperCase(),
    redirect: 'manual',
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  const text = await answer.text();
  const is_json = /json/.test(answer.headers.get('content-type') ?? '');
  return { status: answer.status, headers: answer.headers, text, body: is_json ? JSON.parse(text) : null };
}

function viaHost(
  { address }: Pick<Service, 'address'>,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<Told> {
  const { port } = new URL(address);
  return new Promise((done, failed) => {
    const asking = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => {
        const told = new Headers({ 'content-type': answer.headers['content-type'] ?? '' });
        done({ status: answer.statusCode!, headers: told, text, body: JSON.parse(text) });
      });
    });
    asking.on('error', failed);
    asking.end();
  });
}

/** A service that is asked for more than its caller may ask. */
async function crowded(): Promise<(one: Walked) => Promise<Told>> {
  const p = await authority();
  writeFileSync(join(p.root, 'keyturn.yaml'), 'version: 1\nservice: { requests_minute: 1 }\n');
  const { token } = await withToken(p, 'bot');
  const s = await serving(p);
  const issue = asExecutor(p, s);
  await call(s, '/v1/intents/list', {}, { token });
  await issue({});
  return ({ path, method, takes_body }) =>
    path === ISSUE ? issue({}) : sent(s, method, path, { token, ...(takes_body && { body: '{}' }) });
}

/** A service whose database is gone. */
async function withoutStore(note: Note): Promise<(one: Walked) => Promise<Told>> {
  const p = await shared(server(), 'contract');
  const { token } = await withToken(p, 'bot');
  const s = { ...p, ...(await serving(p)) } as unknown as Service;
  await atOnce(s, await session(s), note);
  const issue = asExecutor(p, s);
  await server().server.kill();
  return ({ path, method, takes_body, is_open }) =>
    path === ISSUE
      ? issue({})
      : sent(s, method, path, {
          token,
          ...(takes_body && { body: JSON.stringify(is_open || path === '/v1/session' ? formOf(path) : {}) }),
        });
}
