import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { authority } from '../journey/authority.ts';
import { shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import type { Project } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';
import { type Asked, type Document, type Walked, walk } from './contract.ts';
import {
  acted,
  call,
  SAY,
  type Service,
  type Shown,
  serving,
  session,
  shownAs,
  type Told,
  withToken,
} from './service.ts';

const server = postgres();

/** At full size by `npm run soak -- contract`. */
const REQUESTS = Number(process.env.KEYTURN_SOAK_REQUESTS ?? 500);

/** What the state of the project decides. */
const DEPENDS = / (200|202|204|304|404|409)$/;
/** A request of an executor is signed (control-plane.exhaustive.test.ts); two steps of an enrolment are refused for their form before the store is asked. */
const SHOWN_ELSEWHERE = /^post \/v1\/(executor\/issue (400|413|415|429|503)|enrolments\/(made|sign) 503)$/;

/** What was answered for each operation, and what was wrong with that. */
class Ledger {
  readonly wrong: string[] = [];
  readonly #reached = new Map<string, Set<number>>();

  note(
    { path, method, wrong: judge }: Walked,
    { status, headers, body, text }: Told,
    may_fail = false,
  ): void {
    const ref = `${method} ${path}`;
    const reached = this.#reached.get(ref) ?? new Set<number>();
    this.#reached.set(ref, reached.add(status));
    const problem = judge(status, headers.get('content-type') ?? '', body);
    if (problem !== null) this.wrong.push(`${ref} ${problem}`);
    if (status >= 500 && !may_fail) this.wrong.push(`${ref} answers ${status}: ${text}`);
  }

  has({ method, path }: Walked, status: string): boolean {
    return this.#reached.get(`${method} ${path}`)?.has(Number(status)) ?? false;
  }

  unreached(operations: readonly Walked[]): string[] {
    return operations.flatMap((one) =>
      one.statuses
        .filter((status) => !this.has(one, status))
        .map((status) => `${one.method} ${one.path} ${status}`),
    );
  }
}

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
  const ledger = new Ledger();
  const known = await lived(p);
  const each = Math.ceil(REQUESTS / operations.length);
  for (const [place, operation] of operations.entries()) {
    for (const told of await refusedByForm(s, operation, cookie)) ledger.note(operation, told);
    if (STREAMS.has(`${operation.method} ${operation.path}`)) continue;
    for (const told of await readAgain(s, operation, known, cookie)) ledger.note(operation, told);
    const good = operation.good(known);
    if (good)
      for (const who of [{ token }, { cookie }]) ledger.note(operation, await ask(s, operation, good, who));
    const asks = fc.sample(operation.asked, { numRuns: each, seed: 42 + place });
    for (const [i, asked] of asks.entries())
      ledger.note(
        operation,
        await answered(() => ask(s, operation, asked, i % 3 === 0 ? { token } : { cookie })),
      );
  }
  for (const [path, told] of await odd(s, cookie)) {
    const method = told.status === 304 ? 'get' : 'post';
    ledger.note(operations.find((one) => one.path === path && one.method === method)!, told);
  }
  const busy = await crowded();
  for (const operation of operations.filter(({ statuses }) => statuses.includes('429')))
    ledger.note(operation, await busy(operation));
  const ending = operations.find((one) => one.path === '/v1/session' && one.method === 'delete')!;
  const headers = { ...shownAs(cookie), origin: s.address };
  ledger.note(ending, await sent(s, 'delete', ending.path, { headers }));
  const down = await withoutStore();
  for (const operation of operations.filter(({ statuses }) => statuses.includes('503')))
    ledger.note(operation, await down(operation), true);
  expect(ledger.wrong.slice(0, 10)).toEqual([]);
  const unreached = ledger.unreached(operations).filter((one) => !SHOWN_ELSEWHERE.test(one));
  // What is refused by its form, its caller, its size or its rate, and without a store, is reached for each operation.
  expect(unreached.filter((one) => !DEPENDS.test(one))).toEqual([]);
  // What depends on what the project holds is reached for some operation, each status of it.
  const reached = operations.flatMap((one) => one.statuses.filter((status) => ledger.has(one, status)));
  const declared = new Set(operations.flatMap(({ statuses }) => statuses));
  expect([...declared].filter((status) => !reached.includes(status))).toEqual([]);
  const done = operations.filter((one) => ['200', '202', '204'].some((status) => ledger.has(one, status)));
  console.log(`${operations.length} operations, ${done.length} of them with an answer that is no refusal`);
  await p.keyturn.ledger.verify({ deep: true });
}, 600_000);

/** A project in which something ran, and what it is called by. */
async function lived(p: Project): Promise<Record<string, unknown>> {
  const { intent_id, hash } = await p.keyturn.intents.propose({ ...SAY, signer: p.ada });
  const { capability_id } = await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
  const { execution_id } = await runSeen(p.keyturn, { intent_id, hash, confirm: async () => true });
  const { entries } = await p.keyturn.ledger.entries({ kind: 'capability.issued' });
  const { decision } = entries[0]!.body as { decision: string };
  const { executors } = await p.keyturn.system.get();
  return {
    ...{ intent_id, hash, capability_id, execution_id, digest: decision, beginning: intent_id.slice(0, 8) },
    ...{ public_key: executors[0]!.public_key, name: 'bot', reason: 'a test', by: 'ada', tool: 'say' },
    ...{ declared_goal: 'Say it.', effect: SAY.effect, text: 'say hello', scope: 'system', roles: ['ops'] },
    ...{ until: '2026-01-01T00:00:00.000Z', goal: 'say hello', id: 'say', write: false },
  };
}

/** They go on until the caller ends them. */
const STREAMS = new Set(['get /v1/events', 'get /mcp']);

/** To make up requests takes long, and meanwhile a connection that is kept for the next one can end. */
async function answered(asks: () => Promise<Told>): Promise<Told> {
  return asks().catch(asks);
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

/** A read that needs nothing, and again with what it was tagged with. */
async function readAgain(s: Service, one: Walked, known: object, cookie: Shown): Promise<Told[]> {
  const good = one.good({ ...known });
  if (one.method !== 'get' || !one.statuses.includes('304') || good === null) return [];
  const path = `${one.path}?${new URLSearchParams(good.query as Record<string, string>)}`;
  const first = await call(s, path, undefined, { cookie });
  const etag = first.headers.get('etag');
  if (etag === null) return [first];
  return [first, await call(s, path, undefined, { cookie, headers: { 'if-none-match': etag } })];
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

function ask(s: Service, { path, method }: Walked, { query, body }: Asked, who: object): Promise<Told> {
  const headers = { prefer: 'wait=0' };
  if (method === 'post') return call(s, path, body === undefined ? {} : body, { ...who, headers });
  if (method !== 'get') return sent(s, method, path, { ...who, headers });
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
    ...(await flooded(s, token)),
  ];
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
  await call(s, '/v1/intents/list', {}, { token });
  return ({ path, method, takes_body }) =>
    sent(s, method, path, { token, ...(takes_body && { body: '{}' }) });
}

/** A service whose database is gone. */
async function withoutStore(): Promise<(one: Walked) => Promise<Told>> {
  const p = await shared(server(), 'contract');
  const { token } = await withToken(p, 'bot');
  const s = await serving(p);
  await server().server.kill();
  return ({ path, method, takes_body, is_open }) =>
    sent(s, method, path, { token, ...(takes_body && { body: is_open ? '{"link":"x"}' : '{}' }) });
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
