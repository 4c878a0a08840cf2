import type { Face, Keyturn } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import type { Sessions } from './session.ts';

/** Who a request comes from, and by what it showed that. */
export type WebCaller =
  | { readonly kind: 'agent'; readonly name: string }
  /** The person in whose account the service runs, who opened its link. It reads; each act has a proof of its own. */
  | { readonly kind: 'session' };

export const COOKIE = 'keyturn_session';

/** Nothing is answered to a caller who shows nothing. What is shown and does not hold is not passed over for something else. */
export async function callerIn(
  { headers, method }: Request,
  keyturn: Keyturn,
  sessions: Sessions,
): Promise<WebCaller> {
  const authorization = headers.get('authorization');
  if (authorization !== null) {
    const [, token = ''] = /^Bearer ([!-~]{1,256})$/i.exec(authorization) ?? [];
    return { kind: 'agent', name: (await keyturn.callerWith(token)) ?? refuse('TOKEN_INVALID') };
  }
  const secret = cookieIn(headers.get('cookie') ?? '');
  if (secret === null) return refuse('CALLER_UNPROVEN');
  if (!sessions.has(secret)) refuse('TOKEN_INVALID', 'The session is over.');
  // A cookie is sent along by the browser, whichever page asks.
  if (method !== 'GET' && !saysSameOrigin(headers)) refuse('ORIGIN_FOREIGN');
  return { kind: 'session' };
}

function cookieIn(text: string): string | null {
  const found = text
    .split(';')
    .map((one) => one.trim())
    .filter((one) => one.startsWith(`${COOKIE}=`));
  return found.length === 1 ? found[0]!.slice(COOKIE.length + 1) : null;
}

/** That an `Origin` is one of ours was asked before. */
function saysSameOrigin(headers: Headers): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' || headers.has('origin');
}

/** The verbs, as this caller may ask for them. This is the one place where the door decides that. */
export function webFaceFor(keyturn: Keyturn, caller: WebCaller): Face {
  if (caller.kind === 'session') return keyturn;
  const { name } = caller;
  // Whoever has the token is another one than whoever has an account here. It is no proof, as an account is none.
  return keyturn.as({ name, account: { host: `token:${name}`, machine: null, uid: -1, user: name } });
}

/** Under which name this caller is counted. */
export function quotaNameOf(caller: WebCaller): string {
  return caller.kind === 'agent' ? `agent:${caller.name}` : caller.kind;
}
