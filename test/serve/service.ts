import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request as ask, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { Keyturn, type Proof, type Signer } from '../../src/keyturn.ts';
import { type ServeRequest, serve } from '../../src/serve/serve.ts';
import type { Problem } from '../../src/serve/status.ts';
import { authority } from '../journey/authority.ts';
import type { Project } from '../support/project.ts';

/** A service in this process, on a free port, over a project of its own, with an agent `bot` that has a token. */
export interface Service extends Project {
  readonly address: string;
  readonly link: string;
  readonly port: number;
  readonly token: string;
  readonly token_id: string;
  stop(): Promise<void>;
}

export async function service(over: Partial<ServeRequest> = {}): Promise<Service> {
  const p = await authority();
  const shown = await withToken(p, 'bot');
  return { ...p, ...shown, ...(await serving(p, over)) };
}

/** Enrols an agent that shows who it is by a token. */
export async function withToken({ keyturn, ada: signer }: Pick<Project, 'keyturn' | 'ada'>, name: string) {
  const { token, digest } = Keyturn.makeToken(name);
  await keyturn.people.enrol({ name, principal: 'agent', public_key: null, signer });
  const { token_id } = await keyturn.agents.addToken({ name, digest, reason: 'a test', signer });
  return { token, token_id };
}

type Listening = { readonly address: string; readonly link: string; readonly port: number };

/** The service alone, in an instance of its own. */
export async function serving(
  { root }: Pick<Project, 'root'>,
  over: Partial<ServeRequest> = {},
  opened: { readonly clock?: () => Date } = {},
) {
  const keyturn = await Keyturn.open({ at: root, ...opened });
  const stopped = new AbortController();
  let listening: (at: Listening) => void = () => {};
  const at = new Promise<Listening>((done) => {
    listening = done;
  });
  const done = serve(keyturn, {
    port: 0,
    most: 0,
    grace_ms: 100,
    signal: stopped.signal,
    onListening: listening,
    ...over,
  });
  const stop = async () => {
    stopped.abort();
    await done.catch(() => {});
    await keyturn.close();
  };
  onTestFinished(stop);
  const { address, link, port } = (await Promise.race([at, done]))!;
  return { address, link, port, stop };
}

/** Resolves when a service of this process has the next request for this path: Node says so before the service reads it. */
export function received(path: string): Promise<void> {
  return new Promise((done) => {
    const STARTED = 'http.server.request.start';
    const heard = (message: unknown) => {
      if (!(message as { request: IncomingMessage }).request.url!.startsWith(path)) return;
      unsubscribe(STARTED, heard);
      done();
    };
    subscribe(STARTED, heard);
  });
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads out of it
  readonly body: any;
  readonly text: string;
}

/** The two secrets of a session. */
export interface Shown {
  readonly cookie: string;
  readonly page: string;
}

type Sent = { readonly token?: string; readonly cookie?: Shown; readonly headers?: Record<string, string> };

/** As the page of a service sends them. */
export const shownAs = ({ cookie, page }: Shown) => ({ cookie, 'keyturn-page': page });

/** A POST with this request, or a GET where there is none. */
export async function call(
  { address }: Pick<Service, 'address'>,
  path: string,
  request?: unknown,
  { token, cookie, headers = {} }: Sent = {},
): Promise<Told> {
  const answer = await fetch(`${address}${path}`, {
    ...(request !== undefined && {
      method: 'POST',
      body: typeof request === 'string' ? request : JSON.stringify(request),
    }),
    headers: {
      ...(request !== undefined && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(cookie && { ...shownAs(cookie), origin: address }),
      ...headers,
    },
  });
  const text = await answer.text();
  const is_json = /json\b/.test(answer.headers.get('content-type') ?? '');
  return { status: answer.status, headers: answer.headers, text, body: is_json ? JSON.parse(text) : null };
}

/** With headers that fetch does not let a program set. */
export function callRaw(
  { address }: Pick<Service, 'address'>,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; body: string }> {
  const { port } = new URL(address);
  return new Promise((done, failed) => {
    const sent = ask({ host: '127.0.0.1', port, path, headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => {
        body += part;
      });
      answer.on('end', () => done({ status: answer.statusCode!, body }));
    });
    sent.on('error', failed);
    sent.end();
  });
}

/** What the link of a service makes. */
export async function session(s: Pick<Service, 'address' | 'link'>): Promise<Shown> {
  const link = s.link.slice(s.link.indexOf('#link=') + '#link='.length);
  return shownIn(await call(s, '/v1/session', { link }));
}

export function shownIn({ headers, body }: Told): Shown {
  return { cookie: headers.get('set-cookie')!.split(';')[0]!, page: body.page };
}

/** An act over HTTP: drawn up, signed where the key is, finished. */
export async function acted(
  s: Pick<Service, 'address'>,
  path: string,
  request: object,
  signer: Signer,
  cookie: Shown,
): Promise<Told> {
  const drawn = await call(s, path, { request, by: signer.name, key: signer.public_key }, { cookie });
  if (drawn.status !== 202) return drawn;
  const proofs = await proved(drawn, signer);
  return call(s, path, { request, draft: drawn.body.draft, proofs }, { cookie });
}

export async function proved({ body }: Told, signer: Signer): Promise<readonly Proof[]> {
  const { statements } = body.draft as { statements: string[] };
  return signer.sign(statements.map((one) => Buffer.from(one)));
}

/** The code of a refusal with its status. */
export const refusalIn = ({ status, body }: Told) => [status, (body as Problem).code];

export const SAY = {
  declared_goal: 'Say hello.',
  effect: { kind: 'tool', tool: 'say', arguments: { word: 'hello' } },
} as const;
