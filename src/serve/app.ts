import { Hono } from 'hono';
import * as z from 'zod';
import type { JsonObject } from '../canonical/json.ts';
import type { Keyturn } from '../keyturn.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { answerAct } from './act.ts';
import { answerProblem, answerTagged, answerWith, respond } from './answer.ts';
import type { Asset } from './assets.ts';
import { bodyOf } from './body.ts';
import { COOKIE, callerIn, type WebCaller, webFaceFor } from './caller.ts';
import { answerEvents } from './events.ts';
import { requireHost, requireOwnPage } from './guard.ts';
import { openApiOf } from './openapi.ts';
import { PAGE } from './page.ts';
import { requestIn } from './query.ts';
import { type Route, routesOf } from './route.ts';
import type { Sessions } from './session.ts';
import { waited, waitOf } from './wait.ts';

export interface Door {
  readonly keyturn: Keyturn;
  readonly sessions: Sessions;
  readonly hosts: ReadonlySet<string>;
  /** The files of the console. */
  readonly assets: readonly Asset[];
  /** Why the service is not ready; none where it is. */
  readonly reasons: () => Promise<readonly ReasonCode[]>;
  /** The service stops: whoever waits is answered. */
  readonly stopping: AbortSignal;
}

const linkAsked = z.strictObject({ link: z.string() });
const session = z.strictObject({ expires_at: z.iso.datetime({ precision: 3 }) });
const health = z.strictObject({ ready: z.boolean(), reasons: z.array(z.string()).readonly() });

/** Everything that is answered over HTTP. It decides nothing: each route is one verb of the table. */
export function appOf(door: Door): Hono {
  const app = new Hono();
  const routes = routesOf();
  let described: object | undefined;
  const methods = new Map<string, readonly string[]>();
  const at = (
    allowed: readonly string[],
    path: string,
    handle: (request: Request) => Promise<Response> | Response,
  ) => {
    methods.set(path, allowed);
    app.on([...allowed], path, ({ req }) => handle(req.raw));
  };

  app.use('*', async ({ req }, next) => {
    requireHost(req.raw, door.hosts);
    await next();
  });
  at(['GET'], '/livez', () => respond('live\n', 200, { 'content-type': 'text/plain' }));
  at(['GET'], '/readyz', async () => {
    const reasons = await door.reasons();
    const ready = reasons.length === 0;
    return answerWith(health, { ready, reasons }, ready ? 200 : 503);
  });
  if (door.assets.length === 0)
    at(['GET'], '/', () => respond(PAGE, 200, { 'content-type': 'text/html; charset=utf-8' }));
  for (const asset of door.assets) at(['GET'], asset.path, () => answerAsset(asset));
  at(['POST'], '/v1/session', (request) => openSession(door, request));
  at(['GET'], '/v1/events', async (request) => {
    const recheck = () => calling(door, request);
    const caller = await recheck();
    // A HEAD would leave a stream that nobody reads.
    if (request.method !== 'GET') refuse('METHOD_WRONG');
    const { keyturn, stopping } = door;
    const last_id = request.headers.get('last-event-id');
    const signal = AbortSignal.any([request.signal, stopping]);
    return answerEvents({ keyturn, caller, face: webFaceFor(keyturn, caller), last_id, recheck, signal });
  });
  at(['GET'], '/openapi.json', async (request) => {
    await calling(door, request);
    described ??= openApiOf(routes);
    return answerTagged(z.unknown(), described, request.headers.get('if-none-match'));
  });
  for (const route of routes)
    at(route.query() === null ? ['POST'] : ['GET', 'POST'], route.path, (request) =>
      answerVerb(door, route, request),
    );

  app.onError((error) => answerProblem(error));
  app.notFound(async ({ req }) => {
    await calling(door, req.raw);
    const allowed = methods.get(new URL(req.url).pathname);
    if (allowed) return answerProblem(new Refusal('METHOD_WRONG'), { allow: allowed.join(', ') });
    return answerProblem(new Refusal('ROUTE_UNKNOWN'));
  });
  return app;
}

/** A name that holds a digest never has another content. */
function answerAsset({ path, type, text }: Asset): Response {
  const kept: Record<string, string> =
    path === '/' ? {} : { 'cache-control': 'public, max-age=31536000, immutable' };
  return respond(text, 200, { 'content-type': type, ...kept });
}

async function calling({ keyturn, sessions, hosts }: Door, request: Request): Promise<WebCaller> {
  requireOwnPage(request, hosts);
  return callerIn(request, keyturn, sessions);
}

async function openSession({ sessions, hosts }: Door, request: Request): Promise<Response> {
  requireOwnPage(request, hosts);
  const asked = linkAsked.safeParse(await bodyOf(request));
  if (!asked.success) refuse('SHAPE_INVALID', 'A session is opened with {link}.');
  const { secret, expires_at } = sessions.open(asked.data.link);
  const cookie = `${COOKIE}=${secret}; Path=/; HttpOnly; SameSite=Strict`;
  return answerWith(session, { expires_at }, 200, { 'set-cookie': cookie });
}

async function answerVerb(door: Door, route: Route, request: Request): Promise<Response> {
  const caller = await calling(door, request);
  const { keyturn } = door;
  const { verb, namespace, name } = route;
  const is_get = request.method === 'GET';
  const body: JsonObject = is_get
    ? requestIn(new URL(request.url).searchParams, route.query()!)
    : await bodyOf(request);
  if (caller.kind === 'session' && verb.kind !== 'read')
    return route.is_act ? answerAct(keyturn, route, body) : refuse('SESSION_READS');
  const asked = withIdempotencyKey(route, request, body);
  requireNoneOf(verb.here, asked);
  const face = webFaceFor(keyturn, caller) as unknown as Record<
    string,
    Record<string, (request: object) => Promise<unknown>>
  >;
  const wait = (verb.here as readonly string[]).includes('signal') ? waitOf(request, door.stopping) : null;
  const value = await waited(wait, face[namespace]![name]!({ ...asked, ...wait }));
  // A token or a session can end meanwhile.
  if (wait) await calling(door, request);
  const output = verb.output();
  return is_get
    ? answerTagged(output, value, request.headers.get('if-none-match'))
    : answerWith(output, value);
}

/** What only the door gives cannot be given in the request. */
function requireNoneOf(here: readonly string[], asked: JsonObject): void {
  const member = here.find((one) => Object.hasOwn(asked, one));
  if (member !== undefined) refuse('SHAPE_INVALID', `No request has the member "${member}".`);
}

/** The header is the member of the request that has the same meaning, for every verb that has it. */
function withIdempotencyKey({ members }: Route, { headers }: Request, body: JsonObject): JsonObject {
  const key = headers.get('idempotency-key');
  if (key === null) return body;
  if (!Object.hasOwn(members(), 'idempotency_key'))
    refuse('SHAPE_INVALID', 'This request takes no Idempotency-Key.');
  if (Object.hasOwn(body, 'idempotency_key') && body.idempotency_key !== key)
    refuse('SHAPE_INVALID', 'The header Idempotency-Key and idempotency_key differ.');
  return { ...body, idempotency_key: key };
}
