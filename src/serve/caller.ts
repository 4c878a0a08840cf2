import { sha256 } from '../canonical/digest.ts';
import { publicKeyOf, verifyEd25519 } from '../canonical/ed25519.ts';
import { type Account, accountAtService, type Face, type Keyturn } from '../keyturn.ts';
import { limits, webLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { ActCaller } from './act.ts';
import { bodyBytes } from './body.ts';
import {
  type MessageSignature,
  messageSignatureIn,
  requireContentDigest,
  signatureBase,
} from './message-signature.ts';
import type { Sessions } from './session.ts';

/** Who a request comes from, and by what it showed that. */
export type WebCaller =
  /** By a token, or by a key: then `key` is that. */
  | { readonly kind: 'agent'; readonly name: string; readonly key: string | null }
  /** By a key. It reads, and says words to the agent core; each act has a proof of its own. */
  | { readonly kind: 'human'; readonly name: string; readonly key: string }
  /** Who opened a link: without a name, the person in whose account the service runs. It reads; each act has a proof of its own. */
  | { readonly kind: 'session'; readonly name: string | null };

export const COOKIE = 'keyturn_session';
export const PAGE_HEADER = 'keyturn-page';

/** Refuses a request of a caller who asks too often, under the name that they are counted by. */
export type Count = (who: string) => void;

/** Nothing is answered to a caller who shows nothing. What is shown and does not hold is not passed over for something else. */
export async function callerIn(
  request: Request,
  keyturn: Keyturn,
  sessions: Sessions,
  count: Count,
): Promise<WebCaller> {
  const signature = messageSignatureIn(request);
  if (signature !== null) {
    if (request.headers.has('authorization'))
      refuse('MESSAGE_SIGNATURE_INVALID', 'A signed request shows no token.');
    return signerOf(request, signature, keyturn, count);
  }
  const caller = await bearerOf(request, keyturn, sessions);
  count(quotaNameOf(caller));
  return caller;
}

/** Who shows a secret, which holds for many requests. */
async function bearerOf(request: Request, keyturn: Keyturn, sessions: Sessions): Promise<WebCaller> {
  const { headers, method } = request;
  const authorization = headers.get('authorization');
  if (authorization !== null) {
    const [, token = ''] = /^Bearer ([!-~]{1,256})$/i.exec(authorization) ?? [];
    return {
      kind: 'agent',
      name: (await keyturn.host.callerWith(token)) ?? refuse('TOKEN_INVALID'),
      key: null,
    };
  }
  const secret = cookieIn(headers.get('cookie') ?? '');
  if (secret === null) return refuse('CALLER_UNPROVEN');
  const session = await sessions.of(secret, headers.get(PAGE_HEADER));
  if (session === undefined) refuse('TOKEN_INVALID', 'The session is over, or its second secret is missing.');
  if (session.name !== null)
    await (session.key === null
      ? requireActive(keyturn, session.name)
      : requireKey(keyturn, session.name, session.key));
  // A cookie is sent along by the browser, whichever page asks.
  if (method !== 'GET' && method !== 'HEAD' && !saysSameOrigin(headers)) refuse('ORIGIN_FOREIGN');
  return { kind: 'session', name: session.name };
}

/** Refuses a caller who is none any more. A signature counts once, so of a signer only the key is looked at again. */
export async function requireStill(
  caller: WebCaller,
  request: Request,
  keyturn: Keyturn,
  sessions: Sessions,
): Promise<void> {
  if (caller.kind === 'session' || caller.key === null) {
    await bearerOf(request, keyturn, sessions);
    return;
  }
  await requireKey(keyturn, caller.name, caller.key);
}

/** What a login opened ends with its human. Not every path asks a verb in their name, which would find out. */
async function requireActive(keyturn: Keyturn, name: string): Promise<void> {
  const { credentials } = await keyturn.people.credentials({ name });
  if (!credentials.some(({ status }) => status === 'active')) refuse('KEY_REVOKED');
}

/** What a key opened ends with it. */
async function requireKey(keyturn: Keyturn, name: string, key: string): Promise<void> {
  const known = await keyturn.host.keysOf(name);
  if (!known?.keys.includes(key)) refuse('MESSAGE_SIGNATURE_INVALID', 'The key was revoked.');
}

async function signerOf(
  request: Request,
  signature: MessageSignature,
  keyturn: Keyturn,
  count: Count,
): Promise<Exclude<WebCaller, { kind: 'session' }>> {
  const { keyid } = signature;
  // Before the name is looked up, so that who has no key learns nothing about it.
  const until = endOf(signature, keyturn);
  const known = (await keyturn.host.keysOf(keyid)) ?? refuse('MESSAGE_SIGNATURE_INVALID');
  const { kind, keys } = known;
  const counted = () => count(quotaNameOf({ kind, name: keyid }));
  const key = await requireSignedBy(request, signature, { keyturn, keys, until, counted });
  return { kind, name: keyid, key };
}

const EXECUTOR = 'executor:';

/** The key of the executor that signed the request. One that was revoked asks for nothing. */
export async function executorCalling(request: Request, keyturn: Keyturn, count: Count): Promise<string> {
  const signature = messageSignatureIn(request) ?? refuse('CALLER_UNPROVEN');
  const until = endOf(signature, keyturn);
  const { executors } = await keyturn.system.get();
  const known = executors.find(
    ({ public_key, revoked_at }) => revoked_at === null && signature.keyid === `${EXECUTOR}${public_key}`,
  );
  if (known === undefined) refuse('MESSAGE_SIGNATURE_INVALID', 'The key is of no executor that may run.');
  const counted = () => count(signature.keyid);
  return requireSignedBy(request, signature, { keyturn, keys: [known.public_key], until, counted });
}

/** When a signature for this ledger ends, which is not yet. */
function endOf({ created, expires, tag }: MessageSignature, { host }: Keyturn): Date {
  if (tag !== host.origin)
    refuse('MESSAGE_SIGNATURE_INVALID', `The signature is for another ledger than ${host.origin}.`, {
      ledger: host.origin,
    });
  const now = host.now().getTime();
  const end_s = Math.min(created + limits.message_signature_s, expires ?? Number.POSITIVE_INFINITY);
  const until = new Date(end_s * 1000 + limits.clock_skew_ms);
  if (created * 1000 > now + limits.clock_skew_ms || until.getTime() < now) refuse('MESSAGE_REPLAYED');
  return until;
}

interface Signers {
  readonly keyturn: Keyturn;
  readonly keys: readonly string[];
  readonly until: Date;
  readonly counted: () => void;
}

/** Which of these keys signed the request, for this address and for the first time. */
async function requireSignedBy(
  request: Request,
  signature: MessageSignature,
  { keyturn, keys, until, counted }: Signers,
): Promise<string> {
  const { keyid, nonce } = signature;
  const base = signatureBase(request, signature);
  const key = keys.find((one) => verifyEd25519(base, signature.signature, publicKeyOf(one)));
  if (key === undefined) refuse('MESSAGE_SIGNATURE_INVALID');
  requireContentDigest(request.headers, await bodyBytes(request));
  // A nonce is kept for a minute, also where the request is refused afterwards: what is one too many leaves none behind.
  counted();
  if (!(await keyturn.host.takeNonce(sha256(`${keyid}\n${nonce}`), until))) refuse('MESSAGE_REPLAYED');
  return key;
}

/** Null where it is not there, and where it is there twice: another page can add one. */
export function cookieIn(text: string, name = COOKIE): string | null {
  const found = text
    .split(';')
    .map((one) => one.trim())
    .filter((one) => one.startsWith(`${name}=`));
  return found.length === 1 ? found[0]!.slice(name.length + 1) : null;
}

/** That an `Origin` is one of ours was asked before. */
function saysSameOrigin(headers: Headers): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' || headers.has('origin');
}

/** Of callers that asked lately, for each project. A face keeps nothing of one request: who calls is looked up at each. */
const faces = new WeakMap<Keyturn, Map<string, Face>>();

/** The verbs, as this caller may ask for them; with `is_said`, for what only the words of a user go on with. */
export function webFaceFor(keyturn: Keyturn, caller: WebCaller, is_said = false): Face {
  const { kind, name } = caller;
  const known = faces.get(keyturn) ?? new Map<string, Face>();
  faces.set(keyturn, known);
  const ref = `${kind} ${kind === 'agent' && caller.key !== null} ${is_said} ${JSON.stringify(name)}`;
  const face = known.get(ref) ?? faceOf(keyturn, caller, is_said);
  if (known.size >= webLimits.faces) known.clear();
  known.set(ref, face);
  return face;
}

/** This is the one place where the service decides what a caller may ask for. */
function faceOf(keyturn: Keyturn, caller: WebCaller, is_said: boolean): Face {
  // What a human asks for without a proof of its own leaves no entry, not even that it was refused. Words are not proven one by one: the
  // key that signed the request shows whose they are, and a session has none.
  const may_write = caller.kind === 'agent' || (is_said && caller.kind === 'human');
  return keyturn.as({
    name: caller.name,
    account: accountFor(caller),
    ...(!may_write && { mayWrite: () => false }),
  });
}

/** Never that of the service: where a human sits is not known here. */
function accountFor(caller: WebCaller): Account {
  if (caller.kind !== 'agent') return accountAtService('human', caller.name ?? '');
  return accountAtService(caller.key === null ? 'token' : 'key', caller.name);
}

/** Who may ask for an act: any human; and an agent that has a key, for what an agent signs. */
export function actorOf(caller: WebCaller): ActCaller | null {
  if (caller.kind === 'agent') return caller.key === null ? null : { name: caller.name, is_agent: true };
  return { name: caller.name };
}

/** Under which name this caller is counted: a person by any way of signing in, and a link without a name by its kind. */
export function quotaNameOf({ kind, name }: Pick<WebCaller, 'kind' | 'name'>): string {
  return name === null ? kind : `${kind === 'agent' ? 'agent' : 'human'}:${name}`;
}
