import { expect } from 'vitest';
import { signedHeaders } from '../../src/client/signed.ts';
import type { Keyturn, Signer } from '../../src/keyturn.ts';
import { proposeSay } from '../journey/authority.ts';
import { headersOf, STATELESS_META } from '../mcp/stage.ts';
import { freshSigner } from '../support/keys.ts';
import { registration, touch } from '../support/passkey.ts';
import { type Project, steady } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';
import { made, opened, passkeyAt, signedOwn, vouched } from './enrol.ts';
import { call, proved, type Service, type Shown, serving, session, shownAs, type Told } from './service.ts';

/** What was answered at a path that is no verb. */
export type Note = (method: string, path: string, told: Told) => void;

const NONE = '00000000-0000-4000-8000-000000000000';
export const ISSUE = '/v1/executor/issue';
const at = (step: string) => `/v1/enrolments/${step}`;

/** A passkey, from its link to the credential that vouches for it, and each step again where it is not due. */
export async function enrolments(s: Service, cookie: Shown, note: Note): Promise<void> {
  const post = async (step: string, body: object, who: object = {}) => {
    const told = await call(s, at(step), body, who);
    note('post', at(step), told);
    return told;
  };
  const asked = { name: 'ada', label: 'phone' };
  await post('open', { ...asked, by: 'nobody' }, { cookie });
  const { link, told } = await opened(s, cookie, asked);
  note('post', at('open'), told);
  const { enrolment_id } = told.body;
  const passkey = passkeyAt(s);
  await post('begin', { link });
  note('post', at('made'), await made(s, link, passkey));
  // Nothing was drawn up yet.
  const [proof] = touch(passkey, [Buffer.from('{}')]);
  await post('sign', { link, proof });
  await post('draft', { link });
  note('post', at('sign'), await signedOwn(s, link, passkey));
  await post('list', { enrolment_id }, { cookie });
  note('post', at('finish'), await vouched(s, cookie, enrolment_id, s.ada));
  await post('status', { link });
  await post('drop', { enrolment_id }, { cookie });
  for (const step of ['begin', 'status', 'draft']) await post(step, { link });
  await post('sign', { link, proof });
  await post('made', { link, answer: ANSWER });
  for (const step of ['list', 'drop']) await post(step, { enrolment_id: NONE }, { cookie });
  const further = { name: 'ada', label: 'laptop', key: s.ada.public_key, reason: 'A laptop.' };
  const key = await post('open', { ...further, made: await keyMade(s, further) }, { cookie });
  await post('list', {}, { cookie });
  const added = await vouched(s, cookie, key.body.enrolment_id, s.ada);
  note('post', at('finish'), added);
  expect([key.status, added.status]).toEqual([200, 200]);
  await post('finish', { enrolment_id: NONE, proofs: ['x'] }, { cookie });
}

/** A key that a terminal made, with its signature of what would add it. */
async function keyMade(
  { keyturn, ada }: Service,
  { name, label, reason }: { readonly name: string; readonly label: string; readonly reason: string },
): Promise<object> {
  const holder = freshSigner(name);
  const { public_key } = holder;
  const credential = { kind: 'key' as const, public_key, label };
  const draft = await keyturn.draft(ada, (signer) =>
    keyturn.people.addCredential({ name, credential, reason, signer, holder }),
  );
  const [proof] = await holder.sign(draft.statements.map((one) => Buffer.from(one)));
  return { public_key, draft, proof };
}

const ANSWER = {
  credential_id: 'x',
  public_key: 'x',
  algorithm: -7,
  authenticator_data: 'x',
  client_data: 'x',
};
const PROOF = { authenticator_data: 'x', client_data: 'x', signature: 'x', touch: null };

/** A request whose form is right, for what is answered to every caller. */
export const formOf = (path: string): object => ({
  link: 'x',
  ...(path === at('made') && { answer: ANSWER }),
  ...(path === at('sign') && { proof: PROOF }),
});

/** Requests of one step that come at once: where the state is elsewhere, all but one find it changed. Asked again where no two of them met. */
export async function atOnce(s: Service, cookie: Shown, note: Note): Promise<void> {
  const missing = new Set(['made', 'draft']);
  for (let round = 0; missing.size > 0 && round < 20; round += 1) {
    const { link, told } = await opened(s, cookie, { name: 'ada', label: 'tablet' });
    const { body } = await call(s, at('begin'), { link });
    const answer = registration(passkeyAt(s, 'tablet'), body.options.challenge, s.address);
    const eight = (step: string, request: object) =>
      Promise.all(Array.from({ length: 8 }, () => call(s, at(step), request)));
    // So that each has a connection already.
    await eight('status', { link });
    for (const [step, request] of [
      ['made', { link, answer }],
      ['draft', { link }],
    ] as const)
      for (const answered of await eight(step, request)) {
        note('post', at(step), answered);
        if (answered.status === 409) missing.delete(step);
      }
    await call(s, at('drop'), { enrolment_id: told.body.enrolment_id }, { cookie });
  }
}

/** By a clock that stands still, and is then set: what tells of now is the same twice, and a draft is over before it is finished. */
export async function byAnotherClock(p: Project, note: Note): Promise<void> {
  let now = Date.now();
  const s = {
    ...p,
    ...(await serving(
      p,
      {},
      steady(() => new Date(now)),
    )),
  } as unknown as Service;
  const cookie = await session(s);
  for (const path of ['/v1/conversations/slo', '/v1/conversations/requireSlo']) {
    const { headers } = await call(s, path, undefined, { cookie });
    const again = { 'if-none-match': headers.get('etag')! };
    note('get', path, await call(s, path, undefined, { cookie, headers: again }));
    const head = await fetch(`${s.address}${path}`, {
      method: 'HEAD',
      headers: { ...shownAs(cookie), ...again },
    });
    note('head', path, { status: head.status, headers: head.headers, body: null, text: '' });
  }
  const { link, told } = await opened(s, cookie, { name: 'ada', label: 'late', key: p.ada.public_key });
  const passkey = passkeyAt(s, 'late');
  await made(s, link, passkey);
  await signedOwn(s, link, passkey);
  now += 5 * 60_000;
  note('post', at('finish'), await vouched(s, cookie, told.body.enrolment_id, p.ada));
  await s.stop();
}

/** Two acts in one list, drawn up and finished. */
export async function actsTogether(s: Service, cookie: Shown, note: Note): Promise<void> {
  const acts = ['one', 'two'].map((name) => ({
    verb: 'system.freeze',
    request: { scope: 'agent', name, reason: 'a test' },
  }));
  const drawn = await call(s, '/v1/acts/draft', { by: 'ada', key: s.ada.public_key, acts }, { cookie });
  note('post', '/v1/acts/draft', drawn);
  const proofs = (
    await Promise.all(drawn.body.drawn.map((one: { draft: object }) => provedBy(one.draft, s.ada)))
  ).flat();
  const finished = { acts: drawn.body.drawn, proofs };
  note('post', '/v1/acts/finish', await call(s, '/v1/acts/finish', finished, { cookie }));
}

const provedBy = (draft: object, signer: Signer) => proved({ body: { draft } } as Told, signer);

/** What the executor of this host asks for, signed with its key. */
export function asExecutor(
  { keyturn }: { readonly keyturn: Keyturn },
  { address }: { readonly address: string },
) {
  return async (request: object | string, more: Record<string, string> = {}): Promise<Told> => {
    const body = typeof request === 'string' ? request : JSON.stringify(request);
    const type = { 'content-type': 'application/json' };
    const headers = await signedHeaders(keyturn.host.executorSigner(), `${address}${ISSUE}`, body, type);
    return call({ address }, ISSUE, body, { headers: { ...headers, ...more } });
  };
}

export async function issued(s: Service, note: Note): Promise<void> {
  const ask = asExecutor(s, s);
  const told = async (request: object | string, more = {}) => note('post', ISSUE, await ask(request, more));
  const intent = await proposeSay(s, { issuer: 'bot' });
  const { capability_id: order_id } = await s.keyturn.intents.turn({ ...intent, signer: s.ada });
  const order = { ...intent, order_id };
  await told(order);
  await told({ ...order, intent_id: NONE });
  await told({});
  await told(order, { 'content-encoding': 'identity' });
  await told('x'.repeat(1_100_000));
  await runSeen(s.keyturn, { ...intent, confirm: async () => true });
  await told(order);
}

/** Messages of the Model Context Protocol, of both versions, and what is none. */
export async function messages(s: Service, note: Note): Promise<void> {
  const { token } = s;
  const send = async (message: object, headers: Record<string, string> = {}) => {
    const told = await call(s, '/mcp', { jsonrpc: '2.0', ...message }, { token, headers });
    note('post', '/mcp', told);
    return told;
  };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const { headers } = await send({ id: 1, method: 'initialize', params });
  await send({ method: 'notifications/initialized' });
  await send({ id: 2, method: 'tools/list' });
  await send({ id: [], method: 'tools/list' });
  const unknown = { id: 3, method: 'no/such', params: { _meta: STATELESS_META } };
  await send(unknown, headersOf(unknown));
  const known = { 'mcp-session-id': headers.get('mcp-session-id')!, accept: 'text/event-stream' };
  note('get', '/mcp', await begun(s, '/mcp', { authorization: `Bearer ${token}`, ...known }));
  note('get', '/mcp', await call(s, '/mcp', undefined, { token }));
}

/** A stream as far as its head, or its refusal. */
export async function begun(
  { address }: Pick<Service, 'address'>,
  path: string,
  headers: Record<string, string>,
) {
  const stop = new AbortController();
  const answer = await fetch(`${address}${path}`, { headers, signal: stop.signal });
  const { status, headers: said } = answer;
  // A refusal ends by itself.
  const text = status < 400 ? '' : await answer.text();
  stop.abort();
  return { status, headers: said, body: text === '' ? null : JSON.parse(text), text };
}
