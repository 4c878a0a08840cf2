import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import * as z from 'zod';
import { deepFrozen } from '../canonical/frozen.ts';
import type { JsonObject } from '../canonical/json.ts';
import { issueAnswer, issueAsked, type Keyturn, type Served } from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { type ProtectedResource, RESOURCE_PATHS } from './access-token.ts';
import { type ActCaller, answerAct } from './act.ts';
import { type Lasting, markLasting } from './again.ts';
import {
  answerBytesOf,
  answerProblem,
  answerTagged,
  answerWith,
  respond,
  responseOf,
  toldTagged,
} from './answer.ts';
import type { Asset } from './assets.ts';
import { bodyOf } from './body.ts';
import {
  actorOf,
  COOKIE,
  callerIn,
  cookieIn,
  executorCalling,
  PAGE_HEADER,
  quotaNameOf,
  requireStill,
  type WebCaller,
  webFaceFor,
} from './caller.ts';
import { health, otherPaths, sessionAsked, sessionOpened } from './described.ts';
import { ENROL_FILES } from './enrol-page.ts';
import { linkRoutes } from './enrolling.ts';
import type { Enrolments } from './enrolment.ts';
import { vouching } from './enrolments.ts';
import { answerEvents } from './events.ts';
import { cutting, type Flow, untilRead } from './flow.ts';
import { requireHost, requireOwnPage, type Site } from './guard.ts';
import { requireNoKeyBeside, withIdempotencyKey } from './idempotency-key.ts';
import { CALLBACK, type Login } from './login.ts';
import type { GoingCalls } from './mcp.ts';
import type { Metrics } from './metrics.ts';
import { openApiOf } from './openapi.ts';
import { PAGE } from './page.ts';
import { entryPointOf, pathOf, queryIn, requestIn, requireAsSent } from './query.ts';
import type { CallerQuota } from './quota.ts';
import { type Route, routesOf } from './route.ts';
import { NO_TOKEN } from './security.ts';
import type { SessionOwner, Sessions } from './session.ts';
import { answerBytes, type BytesTo } from './streamed.ts';
import { actsIn, drawTogether, finishTogether, TOGETHER_PATHS } from './together.ts';
import type { Vouched } from './vouched.ts';
import { waited, waitOf } from './wait.ts';

export interface HttpService {
  readonly keyturn: Keyturn;
  readonly sessions: Sessions;
  readonly enrolments: Enrolments<Vouched>;
  readonly site: Site;
  /** Null where no identity provider is used. */
  readonly login: Login | null;
  /** Null where only tokens of Keyturn's own are taken at /mcp. */
  readonly access: ProtectedResource | null;
  /** Requests come by the socket of the project, which no browser can open: the caller counts as one who opened the link. */
  readonly is_local: boolean;
  /** The files of the console. */
  readonly assets: readonly Asset[];
  /** Why the service is not ready; none where it is. */
  readonly reasons: () => Promise<readonly ReasonCode[]>;
  /** What is ordered, and who runs it; null where the ledger cannot be read. */
  readonly served: () => Promise<Served | null>;
  /** The service stops: requests that wait are answered. */
  readonly stopping: AbortSignal;
  readonly metrics: Metrics;
  /** What `/metrics` answers. */
  readonly measures: () => Promise<string>;
  readonly quota: CallerQuota;
}

type Bound = { Bindings: HttpBindings };

/** Only to programs of this host. */
const reached = z.strictObject({ address: z.string() });
const linked = z.strictObject({ link: z.string() });

/** Everything that is answered over HTTP. It decides nothing: each route is one verb of the table. */
export function appOf(service: HttpService): Hono<Bound> {
  const app = new Hono<Bound>();
  const routes = routesOf();
  const { keyturn, enrolments, site, sessions } = service;
  const acts = actsIn(routes);
  const steps = linkRoutes(enrolments);
  const vouches = vouching({ keyturn, enrolments, acts, origin: site.origin, sessions });
  let described: Promise<object> | undefined;
  const methods = new Map<string, readonly string[]>();
  const at = (
    allowed: readonly string[],
    path: string,
    handle: (request: Request, bound: HttpBindings) => Promise<Response> | Response,
  ) => {
    methods.set(path, allowed);
    app.on([...allowed], path, ({ req, env }) => {
      const request = forUs(req.raw);
      requireAsSent(env.incoming.url, path);
      return handle(request, env);
    });
  };
  const forUs = (request: Request) => {
    if (!service.is_local) requireHost(request, site);
    return request;
  };
  at(['GET'], '/livez', () => respond('live\n', 200, { 'content-type': 'text/plain' }));
  at(['GET'], '/readyz', async () => {
    const [reasons, served] = await Promise.all([service.reasons(), service.served()]);
    const ready = reasons.length === 0;
    const executors = served && { ...served.executors, unserved: served.unserved };
    return answerWith(health, { ready, reasons, executors }, ready ? 200 : 503);
  });
  if (service.assets.length === 0)
    at(['GET'], '/', () => respond(PAGE, 200, { 'content-type': 'text/html; charset=utf-8' }));
  for (const asset of service.assets) at(['GET'], asset.path, () => answerAsset(asset));
  at(['POST', 'DELETE'], '/v1/session', (request) =>
    request.method === 'POST' ? openSession(service, request) : endSession(service, request),
  );
  if (service.login !== null) {
    const { login } = service;
    at(['GET'], '/v1/login', () => beginLogin(login, service));
    at(['GET'], CALLBACK, (request) => finishLogin(login, service, request));
  }
  at(['GET'], '/v1/events', async (request, bound) => {
    const caller = await counted(service, request);
    const recheck = () => stillCalling(service, request, caller);
    // A HEAD would leave a stream without a reader.
    if (request.method !== 'GET') refuse('METHOD_WRONG');
    const { keyturn, stopping } = service;
    const last_id = request.headers.get('last-event-id');
    const signal = AbortSignal.any([request.signal, stopping]);
    const onEnd = service.quota.begin(quotaNameOf(caller), 'stream');
    const shown = JSON.stringify([caller, ...SHOWN.map((name) => request.headers.get(name))]);
    const cut = cutting(service, bound, 'events');
    return answerEvents({ keyturn, caller, shown, last_id, recheck, signal, cut, onEnd });
  });
  const toCaller =
    (answer: (request: Request, caller: WebCaller) => Promise<Response>) =>
    (request: Request, bound: HttpBindings) =>
      untilAnswered(service, request, bound, (caller) => answer(request, caller));
  const measures = async () => respond(await service.measures(), 200, { 'content-type': METRICS_TYPE });
  at(['GET'], '/metrics', toCaller(measures));
  const describes = async (request: Request) => {
    const served = {
      assets: service.assets,
      has_login: service.login !== null,
      has_access: service.access !== null,
    };
    const signed = [...vouches, ...TOGETHER_PATHS].map((one) => ({ ...one, shown: NO_TOKEN }));
    described ??= openApiOf(routes, [...steps, ...signed, ...otherPaths(served)]).then(deepFrozen);
    return answerTagged(ANYTHING, await described, request.headers.get('if-none-match'));
  };
  at(['GET'], '/openapi.json', toCaller(describes));
  for (const { path, type, text } of ENROL_FILES)
    at(['GET'], path, () => respond(text, 200, { 'content-type': type }));
  for (const { path, answer } of steps)
    at(['POST'], path, (request) => {
      requireOwnPage(request, service.site);
      return answer(request);
    });
  const acting = (answer: typeof drawTogether) =>
    toCaller(async (request, calls) => {
      const caller = actorOf(calls) ?? refuse('NOT_FOR_AGENTS');
      requireNoKeyBeside(request);
      return answer(keyturn, acts, await bodyOf(request), caller);
    });
  for (const { path, answer } of vouches) {
    const vouched = async (request: Request, calls: WebCaller) => {
      if (calls.kind === 'agent') refuse('NOT_FOR_AGENTS');
      return answer(await bodyOf(request), { name: calls.name }, opensFor(service, calls));
    };
    at(['POST'], path, toCaller(vouched));
  }
  at(['POST'], '/v1/acts/draft', acting(drawTogether));
  at(['POST'], '/v1/acts/finish', acting(finishTogether));
  at(['POST'], '/v1/executor/issue', async (request) => {
    requireOwnPage(request, site);
    const executor = await executorCalling(request, keyturn, service.quota.take);
    const asked = issueAsked.safeParse(await bodyOf(request));
    if (!asked.success) refuse('SHAPE_INVALID', 'An executor asks with {intent_id, hash, order_id}.');
    return answerWith(issueAnswer, await keyturn.host.issueFor(executor, asked.data));
  });
  // For `keyturn mcp` of this account, which tells agents where a human can look.
  if (service.is_local) at(['POST'], '/v1/address', () => answerWith(reached, { address: site.origin }));
  // For `keyturn link` of this account. Where the output of a service is kept, its first link is not printed.
  if (service.is_local)
    at(['POST'], '/v1/link', async () =>
      answerWith(linked, { link: `${site.origin}/#link=${await sessions.link()}` }),
    );
  const going: GoingCalls = { endpoints: new Map(), holders: new Map(), sessions: new Map() };
  const { access } = service;
  for (const path of access === null ? [] : RESOURCE_PATHS)
    at(['GET'], path, () =>
      respond(JSON.stringify(access!.metadata), 200, { 'content-type': 'application/json' }),
    );
  at(['GET', 'POST'], '/mcp', async (request, bound) => {
    let caller: WebCaller;
    try {
      caller = await mcpCaller(service, request);
    } catch (error) {
      return refused(request, error, access === null ? {} : { 'www-authenticate': access.challenge });
    }
    const { answerMcp, streamMcp } = await import('./mcp.ts');
    const asked = {
      ...{ keyturn, caller, request, going, stopping: service.stopping, address: site.origin },
      recheck: () => stillCallingMcp(service, request, caller),
      cut: cutting(service, bound, 'mcp'),
      beginStream: () => service.quota.begin(quotaNameOf(caller), 'stream'),
    };
    // A HEAD would leave a stream without a reader.
    if (request.method === 'HEAD') refuse('METHOD_WRONG');
    if (request.method === 'GET') return streamMcp(asked);
    const { hold, end } = service.quota.answering(quotaNameOf(caller));
    return answerMcp({ ...asked, hold, endRequest: untilRead(bound, end) }, await bodyOf(request));
  });
  for (const route of routes)
    at(route.query() === null ? ['POST'] : ['GET', 'POST'], route.path, (request, bound) =>
      answerVerb(service, route, request, bound),
    );

  const refused = (request: Request, error: unknown, headers?: Readonly<Record<string, string>>) => {
    service.metrics.refused(error);
    keyturn.host.telemetry.refused(entryPointOf(pathOf(request), methods), error);
    return answerProblem(error, headers);
  };
  app.onError((error, { req }) => refused(req.raw, error));
  app.notFound(async ({ req }) => {
    await counted(service, forUs(req.raw));
    const allowed = methods.get(pathOf(req.raw));
    if (allowed) return refused(req.raw, new Refusal('METHOD_WRONG'), { allow: allowed.join(', ') });
    return refused(req.raw, new Refusal('ROUTE_UNKNOWN'));
  });
  return app;
}

/** A name that holds a digest never has another content. */
function answerAsset({ path, type, text }: Asset): Response {
  const kept: Record<string, string> =
    path === '/' ? {} : { 'cache-control': 'public, max-age=31536000, immutable' };
  return respond(text, 200, { 'content-type': type, ...kept });
}

/** A token, a key or a session can end while its caller waits. */
async function stillCalling(service: HttpService, request: Request, caller: WebCaller): Promise<void> {
  if (!service.is_local) await requireStill(caller, request, service.keyturn, service.sessions);
}

/** By what a caller says who it is. */
const SHOWN = ['authorization', 'cookie', PAGE_HEADER];

/** The same each time, so that the text of what is described is made once. */
const ANYTHING = z.unknown();

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Who asks. The request counts against what this caller may ask. */
async function counted(
  { keyturn, sessions, site, is_local, quota }: HttpService,
  request: Request,
): Promise<WebCaller> {
  if (!is_local) {
    requireOwnPage(request, site);
    return callerIn(request, keyturn, sessions, quota.take);
  }
  const caller: WebCaller = { kind: 'session', name: null };
  quota.take(quotaNameOf(caller));
  return caller;
}

/** The same for what is answered with one text. It counts until that was read: an answer that waits takes memory. */
async function untilAnswered(
  service: HttpService,
  request: Request,
  bound: HttpBindings,
  answer: (caller: WebCaller) => Promise<Response>,
): Promise<Response> {
  const caller = await counted(service, request);
  const { hold, end } = service.quota.answering(quotaNameOf(caller));
  untilRead(bound, end);
  const response = await answer(caller);
  hold(answerBytesOf(response));
  return response;
}

/** At /mcp, by an access token of the authorization server as well. */
async function mcpCaller(service: HttpService, request: Request): Promise<WebCaller> {
  requireOwnPage(request, service.site);
  const name = await nameByAccess(service, request);
  if (name === null) return counted(service, request);
  const caller: WebCaller = { kind: 'agent', name, key: null };
  service.quota.take(quotaNameOf(caller));
  return caller;
}

/** The same for a stream that goes on. It is no other request: nothing is counted, and no signature is taken a second time. */
async function stillCallingMcp(service: HttpService, request: Request, caller: WebCaller): Promise<void> {
  const name = await nameByAccess(service, request);
  if (name === null) return stillCalling(service, request, caller);
  if (name !== caller.name) refuse('TOKEN_INVALID', 'The token now names another agent.');
}

/** The agent that an access token names; null where the request shows none. */
async function nameByAccess({ access, keyturn }: HttpService, { headers }: Request): Promise<string | null> {
  const name = access === null ? null : await access.nameIn(headers);
  if (name === null) return null;
  const found = (await keyturn.people.list()).principals.find((one) => one.name === name);
  if (found?.kind !== 'agent' || found.status !== 'active')
    refuse('TOKEN_INVALID', 'No enrolled agent is named for this token.');
  return name;
}

async function openSession(service: HttpService, request: Request): Promise<Response> {
  const { sessions, site } = service;
  requireOwnPage(request, site);
  const asked = sessionAsked.safeParse(await bodyOf(request, webLimits.unproven_body_bytes));
  if (!asked.success)
    refuse('SHAPE_INVALID', 'A session is opened with {link}, or with {} that a human signed.');
  const { link } = asked.data;
  const { secret, page, expires_at } = await (link === undefined
    ? sessions.openBy(...(await signedBy(service, request)))
    : sessions.open(link));
  return answerWith(sessionOpened, { expires_at, page }, 200, { 'set-cookie': cookieFor(secret, site) });
}

/** Who signed the request, with which key. Neither a token nor a session opens another session. */
async function signedBy(service: HttpService, request: Request): Promise<[name: string, key: string]> {
  const caller = await counted(service, request);
  if (caller.kind === 'agent') refuse('NOT_FOR_AGENTS');
  return caller.kind === 'human' ? [caller.name, caller.key] : refuse('CALLER_UNPROVEN');
}

/** Whose session a caller may be given a link for. Null for a session: one that opened another would never be over. */
function opensFor({ is_local }: HttpService, caller: WebCaller): SessionOwner | null {
  if (is_local) return { name: null, key: null };
  return caller.kind === 'human' ? caller : null;
}

/** From now on its secrets open nothing, and its streams end. */
async function endSession(service: HttpService, request: Request): Promise<Response> {
  const { kind } = await counted(service, request);
  const secret = cookieIn(request.headers.get('cookie') ?? '');
  if (kind !== 'session' || secret === null) refuse('CALLER_UNPROVEN', 'Only a session can be ended.');
  await service.sessions.end(secret);
  return respond(null, 204, { 'set-cookie': `${cookieFor('', service.site)}; Max-Age=0` });
}

const LOGIN_COOKIE = 'keyturn_login';

async function beginLogin(login: Login, { site }: HttpService): Promise<Response> {
  const { to, kept } = await login.begin();
  // Lax: the browser comes back from a page of the provider.
  const cookie = `${LOGIN_COOKIE}=${kept}; Path=${CALLBACK}; HttpOnly; SameSite=Lax; Max-Age=600`;
  const secure = site.is_public ? '; Secure' : '';
  return respond(null, 303, { location: to, 'set-cookie': `${cookie}${secure}` });
}

/** A human who comes back from the provider gets a link like that of the terminal, for one session in their own name. */
async function finishLogin(
  login: Login,
  { keyturn, sessions, site }: HttpService,
  request: Request,
): Promise<Response> {
  const kept = cookieIn(request.headers.get('cookie') ?? '', LOGIN_COOKIE) ?? refuse('LOGIN_REFUSED');
  const name = await login.finish(new URL(request.url).search, kept);
  const { principals } = await keyturn.people.list();
  const found = principals.find((one) => one.name === name);
  if (found?.kind !== 'human' || found.status !== 'active')
    refuse('LOGIN_REFUSED', 'No enrolled human is named for this account.');
  return respond(null, 303, { location: `${site.origin}/#link=${await sessions.link({ name, key: null })}` });
}

function cookieFor(secret: string, { is_public }: Site): string {
  return `${COOKIE}=${secret}; Path=/; HttpOnly; SameSite=Strict${is_public ? '; Secure' : ''}`;
}

async function answerVerb(
  service: HttpService,
  route: Route,
  request: Request,
  bound: HttpBindings,
): Promise<Response> {
  if (route.is_streamed) {
    const caller = await counted(service, request);
    return streamVerb(caller, service, route, { request, cut: cutting(service, bound, null) });
  }
  // Before the caller is looked up: what is revoked from here on is a change.
  const written = route.verb.lasts ? service.keyturn.host.written() : null;
  return untilAnswered(service, request, bound, (caller) =>
    answerTo(caller, service, route, { request, written }),
  );
}

/** As long as the reader takes it: it counts as a stream, and ends with its caller's right to it. */
async function streamVerb(
  caller: WebCaller,
  service: HttpService,
  { namespace, name, verb }: Route,
  { request, cut }: { readonly request: Request } & Pick<Flow, 'cut'>,
): Promise<Response> {
  const { keyturn, quota, stopping } = service;
  const onEnd = quota.begin(quotaNameOf(caller), 'stream');
  const face = webFaceFor(keyturn, caller) as unknown as Verbs;
  const run = async (to: BytesTo) => {
    const asked = await bodyOf(request);
    requireNoneOf(verb.here, asked);
    return face[namespace]![name]!({ ...asked, to });
  };
  const recheck = () => stillCalling(service, request, caller);
  return answerBytes({ run, recheck, signal: AbortSignal.any([request.signal, stopping]), cut, onEnd });
}

async function answerTo(
  caller: WebCaller,
  service: HttpService,
  route: Route,
  { request, written }: { readonly request: Request; readonly written: number | null },
): Promise<Response> {
  const { keyturn } = service;
  const { verb, namespace, name } = route;
  // HEAD is asked for as GET is; the framework leaves out the body.
  const is_get = request.method !== 'POST';
  const body: JsonObject = is_get ? requestIn(queryIn(request), route.query()!) : await bodyOf(request);
  const act = (by: ActCaller) => {
    requireNoKeyBeside(request);
    return answerAct(keyturn, route, body, by);
  };
  if (caller.kind !== 'agent' && verb.kind !== 'read') {
    if (route.is_act) return act(actorOf(caller)!);
    const may_ask = route.is_proven ? caller.kind === 'human' : route.is_look && caller.name !== null;
    if (!may_ask) refuse('SESSION_READS');
  }
  const actor = actorOf(caller);
  // With its key, an agent proposes as a human acts: drawn up, signed, finished.
  if (actor !== null && route.is_act && verb.kind === 'write' && isAct(body)) return act(actor);
  const asked = inOwnName(route, caller, withIdempotencyKey(route, request, body));
  requireNoneOf(verb.here, asked);
  const face = webFaceFor(keyturn, caller, route.is_said) as unknown as Verbs;
  const wait = (verb.here as readonly string[]).includes('signal') ? waitOf(request, service.stopping) : null;
  // Before the answer is made: a deadline that passes meanwhile ends it.
  const from = keyturn.host.now();
  const value = await waited(
    wait,
    face[namespace]![name]!({ ...asked, ...(wait && { signal: wait.signal }) }),
  );
  // A token or a session can end meanwhile.
  if (wait) await stillCalling(service, request, caller);
  const output = verb.output();
  if (!is_get) return answerWith(output, value);
  const told = toldTagged(output, value, request.headers.get('if-none-match'));
  const lasts = written !== null && hasToken(caller) ? verb.lasts!(value, from) : null;
  const response = responseOf(told);
  if (written === null || lasts === null) return response;
  // The last use of a token is kept each minute.
  const until = new Date(Math.min(lasts.getTime(), from.getTime() + 60_000));
  const how: Lasting = {
    told,
    who: quotaNameOf(caller),
    entry_point: `${namespace}.${name}`,
    written,
    from,
    until,
  };
  return markLasting(response, how);
}

/** Words are those of the human whose key signed this request. */
function inOwnName({ is_said }: Route, { kind, name }: WebCaller, asked: JsonObject): JsonObject {
  if (!is_said || kind !== 'human') return asked;
  if (asked.user_id !== undefined && asked.user_id !== name)
    refuse('CALLER_OTHER', `"${name}" does not speak for another user.`);
  return { ...asked, user_id: name };
}

type Verbs = Record<string, Record<string, (request: object) => Promise<unknown>>>;

/** A signature counts once, and a session can end without an entry. */
function hasToken(caller: WebCaller): boolean {
  return caller.kind === 'agent' && caller.key === null;
}

function isAct(body: JsonObject): boolean {
  return Object.hasOwn(body, 'request') && (Object.hasOwn(body, 'by') || Object.hasOwn(body, 'draft'));
}

/** What only the service gives cannot be given in the request. */
function requireNoneOf(here: readonly string[], asked: JsonObject): void {
  const member = here.find((one) => Object.hasOwn(asked, one));
  if (member !== undefined) refuse('SHAPE_INVALID', `No request has the member "${member}".`);
}
