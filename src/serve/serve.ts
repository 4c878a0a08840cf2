import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Executed, Keyturn } from '../keyturn.ts';
import { limits, webLimits } from '../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { type AccessOptions, accessBy } from './access-token.ts';
import { againOf } from './again.ts';
import { appOf } from './app.ts';
import { consoleAssets } from './assets.ts';
import { enrolmentsOf } from './enrolment.ts';
import { siteOf } from './guard.ts';
import { listenLocally } from './local.ts';
import { type LoginOptions, loginBy } from './login.ts';
import { measured } from './measured.ts';
import { type Metrics, metricsOf } from './metrics.ts';
import { keepNotifying, type Notified } from './notify/notifier.ts';
import { callerQuotaOf } from './quota.ts';
import { routesOf } from './route.ts';
import { sessionsOf } from './session.ts';
import { actsIn } from './together.ts';
import { vouchedFrom } from './vouched.ts';

/** Fixed, because a passkey belongs to an exact origin. */
export const PORT = 7717;

export interface ServeRequest {
  /** `localhost`: both loopback addresses, so that no other program of this machine takes the one that we leave. */
  readonly host?: string;
  readonly port?: number;
  /** The address that people and agents use, where a proxy with TLS stands before the service. */
  readonly public_url?: string;
  /** The identity provider by which people open sessions. */
  readonly login?: LoginOptions;
  /** Whose access tokens agents show at /mcp. */
  readonly access?: AccessOptions;
  /** How many tools run here at once; 0 for a service that runs none. */
  readonly most: number;
  /** How long runs and requests may take to end, once the signal came. */
  readonly grace_ms: number;
  readonly signal: AbortSignal;
  readonly onListening: (at: {
    readonly address: string;
    readonly link: string;
    readonly port: number;
  }) => void;
  readonly tell?: (executed: Executed) => void;
  readonly tellNotified?: (told: Notified) => void;
}

/** Serves until the signal. Refused where a service of this project runs already, or the address is taken. */
export function serve(keyturn: Keyturn, request: ServeRequest): Promise<void> {
  return keyturn.host.asService(() => serveAlone(keyturn, request));
}

async function serveAlone(keyturn: Keyturn, request: ServeRequest): Promise<void> {
  const { host = 'localhost', most, signal, grace_ms } = request;
  const assets = consoleAssets();
  const stopping = new AbortController();
  const trouble: { code: ReasonCode | null } = { code: most === 0 ? null : 'EXECUTOR_UNKNOWN' };
  const { servers, port } = await listen(host, request.port ?? PORT);
  const sessions = sessionsOf(keyturn.host.serviceState());
  const reasons = () => reasonsOf(keyturn, trouble.code);
  const routes = routesOf();
  const site = siteOf(host, port, request.public_url);
  const metrics = metricsOf();
  const quota = callerQuotaOf(keyturn.config.service);
  const queue = lately(() => keyturn.host.queue().catch(() => null));
  const measures = async () => {
    const connections = await Promise.all(servers.map(connectionsOf));
    return metrics.text({
      queue: await queue(),
      ready: (await reasons()).length === 0,
      connections: connections.reduce((sum, count) => sum + count, 0),
      streams: quota.streams(),
      now_ms: Date.now(),
    });
  };
  const service = {
    keyturn,
    sessions,
    site,
    enrolments: enrolmentsOf(keyturn.host.serviceState(), site, (kept) =>
      vouchedFrom(keyturn, actsIn(routes), kept),
    ),
    login: request.login ? loginBy(request.login, site, keyturn.host.serviceState()) : null,
    access: request.access ? accessBy(request.access, site) : null,
    is_local: false,
    assets,
    reasons,
    served: lately(() => keyturn.host.served().catch(() => null)),
    stopping: stopping.signal,
    metrics,
    measures,
    quota,
  };
  const app = appOf(service);
  const answer = measured((asked, at) => app.fetch(asked, at), { keyturn, metrics, routes });
  const again = againOf(keyturn, { quota, metrics });
  const anew = getRequestListener(async (asked, at) => {
    const response = await answer(asked, at as HttpBindings);
    again.keep(at.incoming as IncomingMessage, response);
    return response;
  });
  for (const server of servers)
    server.on('request', (incoming, outgoing) => {
      letGoUnread(incoming, outgoing);
      if (!again.answer(incoming, outgoing)) void anew(incoming, outgoing);
    });
  const near = getRequestListener(appOf({ ...service, is_local: true }).fetch);
  const local = await listenLocally(keyturn.layout.serve_socket, near);
  const executing =
    most === 0 ? Promise.resolve() : keepExecuting(keyturn, withMetrics(request, metrics), trouble);
  const address = site.origin;
  const notifying = keepNotifying(keyturn, {
    address,
    signal,
    tell: request.tellNotified ?? (() => {}),
    counted: metrics.notified,
  });
  request.onListening({ address, port, link: `${address}/#link=${await sessions.link()}` });
  if (!signal.aborted)
    await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
  stopping.abort(new Refusal('WAIT_OVER', 'The service stops.'));
  await local?.close();
  await Promise.all([executing, notifying, ...servers.map((server) => closed(server, grace_ms))]);
  metrics.close();
}

function withMetrics(request: ServeRequest, metrics: Metrics): ServeRequest {
  const tell = (executed: Executed) => {
    metrics.executed(executed);
    request.tell?.(executed);
  };
  return { ...request, tell };
}

/** What was found a moment ago is told again: counting costs a look at every intent that waits. */
function lately<T>(look: () => Promise<T>): () => Promise<T> {
  let known: { readonly found: Promise<T>; readonly at_ms: number } | null = null;
  return () => {
    if (known === null || performance.now() - known.at_ms > webLimits.counted_kept_ms)
      known = { found: look(), at_ms: performance.now() };
    return known.found;
  };
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((done) => server.getConnections((error, count) => done(error ? 0 : count)));
}

/** The ledger can be out of reach for a while. What is ordered and has not lapsed is found again. */
async function keepExecuting(
  keyturn: Keyturn,
  { most, signal, grace_ms, tell }: ServeRequest,
  trouble: { code: ReasonCode | null },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const onReady = () => {
        trouble.code = null;
      };
      await keyturn.host.execute({ most, signal, grace_ms, onReady, ...(tell && { tell }) });
    } catch (error) {
      trouble.code = error instanceof Refusal ? error.code : 'INTERNAL';
      await pause(webLimits.executor_again_ms, null, { signal }).catch(() => {});
    }
  }
}

/** Why nothing should be asked of this service now. */
async function reasonsOf(keyturn: Keyturn, executor: ReasonCode | null): Promise<ReasonCode[]> {
  const found: ReasonCode[] = executor === null || executor === 'SERVICE_RUNNING' ? [] : [executor];
  const failed = keyturn.host.writeFailure();
  if (failed !== null) found.push(failed);
  try {
    await keyturn.system.checkClock();
  } catch (error) {
    found.push(error instanceof Refusal ? error.code : 'INTERNAL');
  }
  return found;
}

const LOOPBACK = ['127.0.0.1', '::1'];

/** Connections to all servers of a service. */
interface Room {
  readonly connections: number;
  readonly connections_each: number;
}

/** At both loopback addresses for `localhost`. */
export async function listen(
  host: string,
  wanted: number,
  room: Room = limits,
): Promise<{ servers: Server[]; port: number }> {
  const servers: Server[] = [];
  let port = wanted;
  try {
    for (const at of host === 'localhost' ? LOOPBACK : [host]) {
      const server = await listening(at, port);
      if (server === null) continue;
      servers.push(server);
      port = (server.address() as { port: number }).port;
    }
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  leaveRoom(servers, room);
  return { servers, port };
}

/** Null where this machine has no such loopback address. */
function listening(host: string, port: number): Promise<Server | null> {
  const server = createServer(SLOW);
  return new Promise((done, failed) => {
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
      if (host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT')) return done(null);
      const words = `${host} port ${port} cannot be listened at (${code}).`;
      failed(new Refusal('ADDRESS_TAKEN', words, { host, port, errno: code }));
    });
    server.listen({ host, port, exclusive: true }, () => done(server));
  });
}

/** One address must not take all connections, and no server those that all of them may have. */
function leaveRoom(servers: readonly Server[], { connections, connections_each }: Room): void {
  const open = new Map<string, number>();
  let all = 0;
  const take = (socket: Socket) => {
    const from = connectionOwner(socket.remoteAddress ?? '');
    const count = (open.get(from) ?? 0) + 1;
    open.set(from, count);
    all += 1;
    socket.once('close', () => {
      all -= 1;
      const left = open.get(from)! - 1;
      if (left === 0) open.delete(from);
      else open.set(from, left);
    });
    if (all > connections || count > connections_each) socket.destroy();
  };
  for (const server of servers) server.on('connection', take);
}

/** An answer that is not read takes memory, and a place among the requests of its caller. */
export function letGoUnread(
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
  unread_ms: number = webLimits.unread_ms,
): void {
  // What has no answer yet may take its time.
  outgoing.setTimeout(unread_ms, () => {
    if (socket.writableLength > 0) socket.destroy();
  });
}

/** Who has an address. A program of this machine has many of them here, and a network of IPv6 is given to one machine as a whole. */
export function connectionOwner(address: string): string {
  const plain = address.replace(/^::ffff:(?=[0-9.]+$)/, '').replace(/%.*$/, '');
  if (plain === '::1' || plain.startsWith('127.')) return 'loopback';
  if (!isIPv6(plain)) return plain;
  const [before = '', after] = plain.split('::');
  const groups = (text = '') => text.split(':').filter((one) => one !== '');
  const [front, back] = [groups(before), groups(after)];
  const between = after === undefined ? 0 : 8 - front.length - back.length;
  return `${[...front, ...Array(between).fill('0'), ...back].slice(0, 4).join(':')}::/64`;
}

/** Who sends slowly is let go: a few connections must not keep all others out. */
const SLOW = {
  headersTimeout: webLimits.headers_ms,
  requestTimeout: webLimits.request_ms,
  keepAliveTimeout: webLimits.keep_alive_ms,
  connectionsCheckingInterval: webLimits.slow_look_ms,
  maxHeaderSize: webLimits.headers_bytes,
};

/** Ends a server, with some time for what is being answered. */
export async function closed(server: Server, grace_ms: number): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), grace_ms);
  // A caller who is told that the wait is over asks again over the same connection, which would keep the service up for all of the grace.
  server.keepAliveTimeout = 1;
  server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
  await new Promise<void>((done) => {
    server.close(() => done());
    server.closeIdleConnections();
  });
  clearTimeout(late);
}

export { publicUrlOf } from './guard.ts';

/** A port as it is typed. */
export function portOf(text: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : refuse('USAGE', '--port takes a number from 0 to 65535.');
}
