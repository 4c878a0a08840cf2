import { randomInt } from 'node:crypto';
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Verb } from '../../src/face/verb.ts';
import { VERBS } from '../../src/face/verbs.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { routesOf } from '../../src/serve/route.ts';
import { postgres } from '../store/postgres-place.ts';
import { type Document, type Walked, walk } from './contract.ts';
import { askAs, type Caller, callersOf, inNameOf, isDeclared, shownOnly } from './contract-callers.ts';
import { journeyAsks } from './contract-journey.ts';
import { otherAsks } from './contract-others.ts';
import { furnished } from './contract-project.ts';
import type { Asks, Reach } from './contract-reach.ts';
import { Reached } from './contract-reached.ts';
import { crowded, sent, viaHost, withoutStore } from './contract-services.ts';
import {
  actsTogether,
  begun,
  byAnotherClock,
  enrolments,
  issued,
  messages,
  type Note,
} from './contract-steps.ts';
import { call, proved, type Service, type Shown, serving, session, shownAs, type Told } from './service.ts';
import { callSigned } from './signed.ts';

const server = postgres();

const REQUESTS = Number(process.env.KEYTURN_SOAK_REQUESTS ?? 10_000);
/** Another one each time; a run is made again with the one that it prints. */
const SEED = Number(process.env.KEYTURN_CONTRACT_SEED ?? randomInt(2 ** 31));

it('each status that the document declares is answered, and good and bad requests beside as it says', async () => {
  const p = await furnished();
  const asks = { ...journeyAsks(p.states), ...otherAsks(p.states) };
  const s = { ...p, ...(await serving(p)) } as unknown as Service;
  const cookie = await session(s);
  const document = (await call(s, '/openapi.json', undefined, { cookie })).body as Document;
  const operations = walk(document);
  const reached = new Reached(operations);
  const note: Note = (method, path, told) => reached.note(method, path, told);
  for (const one of operations)
    for (const told of await refusedByForm(s, one, cookie)) note(one.method, one.path, told);
  await issued(s, note);
  await askedVerbs(s, asks, operations, cookie, note);
  await enrolments(s, cookie, note);
  await actsTogether(s, cookie, note);
  await messages(s, note);
  note('post', '/v1/session', await callSigned(s, s.ada as OpenKey, '/v1/session', {}));
  note('get', '/v1/events', await begun(s, '/v1/events', shownAs(cookie)));
  for (const { path } of operations.filter(isPage)) await asked(s, path, undefined, { cookie }, note);
  const callers = await callersOf(s, cookie, document);
  await shownOnly(s, operations, callers, note);
  console.log(`${REQUESTS} generated requests, KEYTURN_CONTRACT_SEED=${SEED}`);
  const taken = await generated(s, operations, callers, note);
  await withoutFiles(s, { asks, root: p.root }, operations, cookie, note);
  const headers = { ...shownAs(cookie), origin: s.address };
  note('delete', '/v1/session', await sent(s, 'delete', '/v1/session', { headers }));
  await s.stop();
  await byAnotherClock(p, note);
  const busy = await crowded();
  for (const one of operations.filter(({ statuses }) => statuses.includes('429')))
    note(one.method, one.path, await busy(one));
  const down = await withoutStore(server(), note);
  for (const one of operations.filter(({ statuses }) => statuses.includes('503')))
    reached.note(one.method, one.path, await down(one), true);
  console.log(reached.table);
  expect(taken).toEqual([]);
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
  asks: Asks,
  operations: readonly Walked[],
  cookie: Shown,
  note: Note,
): Promise<void> {
  // Made-up requests reach an answer of some verbs as well, but not the answer that each is for.
  expect(Object.keys(asks).toSorted()).toEqual(VERBS_OFFERED.toSorted());
  for (const [name, reaches] of Object.entries(asks)) {
    const path = `/v1/${name.replace('.', '/')}`;
    for (const reach of await reaches()) {
      if (reach.by) await acted(s, path, reach, cookie, note);
      else if (reach.signed) note('post', path, await callSigned(s, reach.signed, path, reach.request));
      else
        for (const who of verbOf(name).open_to === 'people'
          ? [{ cookie }]
          : [{ token: s.token }, { cookie }]) {
          await asked(s, path, reach.request, who, note);
          if (isGet(operations, path))
            await asked(s, `${path}?${queryOf(reach.request)}`, undefined, who, note);
        }
    }
  }
}

const VERBS_OFFERED = routesOf().map(({ namespace, name }) => `${namespace}.${name}`);

const queryOf = (request: object) => new URLSearchParams(request as Record<string, string>).toString();

/** A read is asked for again with what its answer was tagged with. */
async function asked(
  s: Service,
  path: string,
  body: object | undefined,
  who: { readonly cookie?: Shown; readonly token?: string },
  note: Note,
): Promise<void> {
  const method = body === undefined ? 'get' : 'post';
  const headers = { prefer: 'wait=0' };
  const told = await call(s, path, body, { ...who, headers });
  note(method, path.split('?')[0]!, told);
  const etag = told.headers.get('etag');
  if (method === 'get') await askedHead(s, path, who, etag, note);
  if (etag === null) return;
  const again = { ...headers, 'if-none-match': etag };
  note(method, path.split('?')[0]!, await call(s, path, body, { ...who, headers: again }));
}

/** The same without the body, of which only the headers are told. */
async function askedHead(
  s: Service,
  path: string,
  { cookie, token }: { readonly cookie?: Shown; readonly token?: string },
  etag: string | null,
  note: Note,
): Promise<void> {
  const headers = { prefer: 'wait=0', ...(cookie && shownAs(cookie)) };
  const head = (more: Record<string, string> = {}) =>
    sent(s, 'head', path, { ...(token && { token }), headers: { ...headers, ...more } });
  note('head', path.split('?')[0]!, await head());
  if (etag !== null) note('head', path.split('?')[0]!, await head({ 'if-none-match': etag }));
}

/** Drawn up, finished with another statement, finished, and asked for without a name. */
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

/** Requests that the document allows, and some that it does not. Answers what is wrong: none of the latter may be taken. */
async function generated(
  s: Service,
  operations: readonly Walked[],
  callers: readonly Caller[],
  note: Note,
): Promise<string[]> {
  const wrong: string[] = [];
  const asked = operations.filter(
    ({ method, path }) => method !== 'delete' && (method !== 'get' || !STREAMS.has(path)),
  );
  const each = Math.ceil(REQUESTS / asked.length);
  for (const [place, one] of asked.entries()) {
    const shown = callers.filter((caller) => one.is_open || isDeclared(one, caller));
    for (const [i, sample] of fc.sample(one.asked, { numRuns: each, seed: SEED + place }).entries()) {
      const caller = shown[i % shown.length]!;
      const made = inNameOf(caller, sample);
      const told = await askAs(s, one, made, caller);
      note(one.method, one.path, told);
      if (told.status < 400 && !one.allows(made))
        wrong.push(`${one.method} ${one.path} takes ${JSON.stringify(made)} of ${caller.name}`);
    }
  }
  return wrong;
}

/** What is done to a file of the host, and the refusal of verbs that read it. */
const FAULTS = [
  ['REGISTRY_MISSING', 'tools.yaml', () => {}],
  ['FILE_IS_SYMLINK', 'policies/keyturn.cedar', (path: string) => symlinkSync(`${path}.gone`, path)],
] as const;

async function withoutFiles(
  s: Service,
  { asks, root }: { readonly asks: Asks; readonly root: string },
  operations: readonly Walked[],
  cookie: Shown,
  note: Note,
): Promise<void> {
  for (const [code, file, replace] of FAULTS) {
    const place = join(root, file);
    const reaches: [string, Reach][] = [];
    for (const [name, made] of Object.entries(asks))
      if (verbOf(name).refuses?.includes(code))
        for (const one of await made()) reaches.push([`/v1/${name.replace('.', '/')}`, one]);
    renameSync(place, `${place}.gone`);
    replace(place);
    for (const [path, { request, signed }] of reaches) {
      if (signed) note('post', path, await callSigned(s, signed, path, request));
      else await asked(s, path, request, { cookie }, note);
      if (isGet(operations, path)) await asked(s, `${path}?${queryOf(request)}`, undefined, { cookie }, note);
    }
    renameSync(`${place}.gone`, place);
  }
}

/** Without a caller, by another name of the service, from a page elsewhere, and with what is no request. */
async function refusedByForm(s: Service, one: Walked, cookie: Shown): Promise<Told[]> {
  const { token } = s;
  const { path, method, is_open, takes_body, statuses } = one;
  const page = { ...shownAs(cookie), origin: s.address };
  const send = (over: { token?: string; headers?: Record<string, string>; body?: string }, more = '') =>
    sent(s, method, `${path}${more}`, { ...(takes_body && { body: '{}' }), ...over });
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
