import { expect } from 'vitest';
import { signedHeaders } from '../../src/client/signed.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import type { Asked, Document, Scheme, Walked } from './contract.ts';
import { nameOf } from './contract-reached.ts';
import { sent } from './contract-services.ts';
import { begun, formOf, type Note } from './contract-steps.ts';
import { type Service, type Shown, shownIn, type Told } from './service.ts';
import { callSigned, keyed, signatureOf } from './signed.ts';

type Headers = Record<string, string>;

/** One that asks: which schemes of the document they have, and what they put into the places that the document names. */
export interface Caller {
  readonly name: string;
  readonly schemes: readonly string[];
  readonly signer?: OpenKey;
  show(request: { method: string; path: string; body?: string; headers: Headers }): Promise<Headers>;
}

/** A secret where its scheme says that it is shown. */
function placed(schemes: Document['components']['securitySchemes'], secrets: Headers): Headers {
  const shown: Headers = {};
  for (const [name, secret] of Object.entries(secrets)) {
    const { type, in: place, name: called, scheme } = schemes[name] as Scheme;
    if (type === 'http') shown.authorization = `${scheme === 'bearer' ? 'Bearer' : ''} ${secret}`;
    else if (place === 'cookie') shown.cookie = `${called}=${secret}`;
    else shown[called!.toLowerCase()] = secret;
  }
  return shown;
}

/** By every scheme that the document has, and by parts of them that are not enough. */
export async function callersOf(s: Service, cookie: Shown, document: Document): Promise<Caller[]> {
  const { securitySchemes } = document.components;
  const fixed = (name: string, secrets: Headers, schemes = Object.keys(secrets)): Caller => ({
    ...{ name, schemes },
    show: async () => ({
      ...placed(securitySchemes, secrets),
      ...(secrets.session && { origin: s.address }),
    }),
  });
  const secretsOf = ({ cookie: text, page }: Shown) => ({ session: text.split('=')[1]!, page });
  const signing = (signer: OpenKey): Caller => ({
    ...{ name: `key of ${signer.name}`, schemes: ['signature', 'signature_input'], signer },
    show: async (request) => signatureOf(s, signer, request),
  });
  const own = shownIn(await callSigned(s, s.ada as OpenKey, '/v1/session', {}));
  const executor = s.keyturn.host.executorSigner();
  return [
    fixed('nothing', {}),
    fixed('token', { token: s.token }),
    fixed('session of a link', secretsOf(cookie)),
    fixed('session of a key', secretsOf(own)),
    fixed('cookie alone', { session: secretsOf(cookie).session }),
    fixed('page alone', { page: cookie.page }),
    signing(s.ada as OpenKey),
    signing(await keyed(s, 'contract-scout')),
    {
      ...{ name: 'executor', schemes: ['executor', 'signature_input'] },
      show: async ({ path, body = '', headers }) =>
        signedHeaders(executor, `${s.address}${path}`, body, {
          ...headers,
          'content-type': 'application/json',
        }),
    },
  ];
}

export const isDeclared = ({ shown }: Walked, { schemes }: Caller) =>
  shown.some((all) => all.length === schemes.length && all.every((one) => schemes.includes(one)));

/** Those that a signature covers where they are there. */
const COVERED = new Set(['prefer', 'idempotency-key', 'last-event-id', 'content-type']);

export async function askAs(s: Service, one: Walked, { query, body, headers }: Asked, caller: Caller) {
  const { method, takes_body } = one;
  const text = takes_body ? JSON.stringify(body ?? {}) : undefined;
  const asked = new URLSearchParams(query as Record<string, string>).toString();
  const path = takes_body || asked === '' ? one.path : `${one.path}?${asked}`;
  const all = { prefer: 'wait=0', ...headers };
  const covered = Object.fromEntries(Object.entries(all).filter(([name]) => COVERED.has(name)));
  const request = {
    method: method.toUpperCase(),
    path,
    headers: covered,
    ...(text !== undefined && { body: text }),
  };
  const shown = await caller.show(request);
  return sent(s, method, path, { headers: { ...all, ...shown }, ...(text !== undefined && { body: text }) });
}

/** A signer speaks only for themselves: with another name, every request would be refused at once. */
export function inNameOf({ signer }: Caller, asked: Asked): Asked {
  const { body } = asked;
  const is_said = signer && typeof body === 'object' && body !== null && Object.hasOwn(body, 'user_id');
  return is_said ? { ...asked, body: { ...body, user_id: signer.name } } : asked;
}

/** What is refused for who asks, and not for what is asked. */
const BY_CALLER = new Set([
  ...['CALLER_UNPROVEN', 'TOKEN_INVALID', 'MESSAGE_SIGNATURE_INVALID', 'NOT_FOR_AGENTS', 'SESSION_READS'],
]);

/** Each operation takes callers by each scheme that the document names there, and by no other. */
export async function shownOnly(
  s: Service,
  operations: readonly Walked[],
  callers: readonly Caller[],
  note: Note,
): Promise<void> {
  for (const one of operations) {
    if (one.is_open) continue;
    const taken = new Map<string, boolean>();
    const answers: string[] = [];
    const nothing = callers[0]!;
    for (const caller of callers) {
      // What needs nothing is told apart by its body, and a session is ended last.
      if (isDeclared(one, nothing) && !isDeclared(one, caller)) continue;
      if (one.method === 'delete' && isDeclared(one, caller)) continue;
      const told = await firstOf(s, one, caller);
      note(one.method, one.path, told);
      const ref = caller.schemes.join(' ');
      answers.push(`${caller.name}: ${told.status} ${told.body?.code ?? ''}`);
      taken.set(ref, (taken.get(ref) ?? false) || !(await isRefused(s, one, caller, told)));
    }
    for (const [ref, is_taken] of taken) {
      const shown = one.shown.some(
        (all) => all.toSorted().join(' ') === ref.split(' ').toSorted().join(' ').trim(),
      );
      expect(is_taken, `${nameOf(one)} by ${ref || 'nothing'}; ${answers.join(', ')}`).toBe(shown);
    }
  }
}

const STREAMS = new Set(['/v1/events', '/mcp']);

async function firstOf(s: Service, one: Walked, caller: Caller): Promise<Told> {
  const { path, method } = one;
  const is_stream = method === 'get' && STREAMS.has(path);
  if (is_stream) return begun(s, path, await caller.show({ method: 'GET', path, headers: {} }));
  const body = caller.schemes.length === 0 && path === '/v1/session' ? formOf(path) : {};
  return askAs(s, one, { query: {}, body, headers: {} }, caller);
}

/** Of a HEAD, which has no code, the same GET says it. */
async function isRefused(s: Service, one: Walked, caller: Caller, told: Told): Promise<boolean> {
  if (told.status !== 401 && told.status !== 403) return false;
  if (one.method === 'head') {
    const asked = await firstOf(s, { ...one, method: 'get' }, caller);
    return isRefused(s, { ...one, method: 'get' }, caller, asked);
  }
  return BY_CALLER.has((told.body as { code: string }).code);
}
