import * as z from 'zod';
import { issueAnswer, issueAsked } from '../keyturn.ts';
import { RESOURCE_PATHS } from './access-token.ts';
import type { Asset } from './assets.ts';
import { ENROL_FILES } from './enrol-page.ts';
import { CALLBACK } from './login.ts';
import { BODY, CALLER, type Described, HOST } from './openapi.ts';

/** Without a link, a human signs the request with a key. */
export const sessionAsked = z.strictObject({ link: z.string().optional() });
export const sessionOpened = z.strictObject({
  expires_at: z.iso.datetime({ precision: 3 }),
  /** The second secret, which each request of the session shows in the header Keyturn-Page. */
  page: z.string(),
});
export const health = z.strictObject({
  ready: z.boolean(),
  reasons: z.array(z.string()).readonly(),
  /** How many may run what is ordered, how many said lately that they run, and the orders for which none does; `null` where the ledger cannot be read. */
  executors: z.strictObject({ enrolled: z.int(), running: z.int(), unserved: z.int() }).nullable(),
});

const HTML = 'text/html; charset=utf-8';
/** What a message of the protocol says, its own specification tells. */
const message = z.record(z.string(), z.unknown());
const anybody = { is_open: true, refusals: HOST } as const;
const known = { refusals: CALLER } as const;

interface Served {
  readonly assets: readonly Asset[];
  readonly has_login: boolean;
  readonly has_access: boolean;
}

/** Every path that is no verb, no enrolment and no list of acts. */
export function otherPaths({ assets, has_login, has_access }: Served): readonly Described[] {
  const page = (path: string, type: string, about: string): Described => ({
    ...{ path, method: 'get', about, type, ...anybody },
  });
  return [
    page('/livez', 'text/plain', 'Whether the process answers.'),
    {
      ...{ path: '/readyz', method: 'get', about: 'Whether the service can be asked, and why not.' },
      ...{ output: health, failed: health, ...anybody },
    },
    {
      ...{ path: '/metrics', method: 'get', about: 'Counts and times, for Prometheus.' },
      ...{ type: 'text/plain', ...known },
    },
    {
      ...{
        path: '/openapi.json',
        method: 'get',
        about: 'This description.',
        output: message,
        is_tagged: true,
      },
      ...known,
    },
    {
      ...{ path: '/v1/session', about: 'Open a session with a link, or with {} that a human signed.' },
      ...{ input: sessionAsked, output: sessionOpened, shown: ['nothing', 'signature'] },
      refusals: [...CALLER, ...BODY],
    },
    {
      path: '/v1/session',
      method: 'delete',
      about: 'End this session.',
      status: 204,
      ...known,
      shown: ['session'],
    },
    {
      ...{ path: '/v1/events', method: 'get', type: 'text/event-stream', headers: ['Last-Event-ID'] },
      about:
        'The entries of the ledger as they come, as server-sent events. An agent hears of its own intents.',
      refusals: [...CALLER, 400],
    },
    {
      ...{ path: '/v1/executor/issue', input: issueAsked, output: issueAnswer, shown: ['executor'] },
      about:
        'Decide for an executor without a control key whether its order is issued. The executor signs the request.',
      refusals: [...CALLER, ...BODY, 404, 409],
    },
    {
      ...{
        path: '/mcp',
        about: 'One message of the Model Context Protocol.',
        input: message,
        output: message,
      },
      ...{ may_stream: true, accepted: 'A notification has no answer.', shown: ['token', 'signature'] },
      ...{ faulty: { statuses: [400, 404], says: message }, refusals: [...CALLER, ...BODY] },
    },
    {
      ...{ path: '/mcp', method: 'get', about: 'What the gate tells an MCP client unasked.' },
      ...{ type: 'text/event-stream', refusals: [...CALLER, 405], shown: ['token', 'signature'] },
    },
    ...ENROL_FILES.map(({ path, type, about }) => page(path, type, about)),
    ...(assets.length === 0 ? [page('/', HTML, 'What the service is.')] : []),
    ...assets.map(({ path, type }) => page(path, type, 'A file of the console.')),
    ...(has_login ? [loginPath('/v1/login', [503]), loginPath(CALLBACK, [403, 503])] : []),
    ...(has_access ? RESOURCE_PATHS.map((path) => page(path, 'application/json', 'RFC 9728.')) : []),
  ];
}

function loginPath(path: string, refusals: readonly number[]): Described {
  return {
    ...{ path, method: 'get', about: 'A login by OpenID Connect.', status: 303, is_open: true },
    refusals: [...HOST, ...refusals],
  };
}
