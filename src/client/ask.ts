import type { ReasonCode } from '../refusal.ts';
import type { Problem } from '../serve/status.ts';
import { type RequestSigner, signedHeaders } from './signed.ts';

export interface CallOptions {
  /** Ends the call. A proposal that was sent may have arrived: send it again with the same idempotency key to know. */
  readonly signal?: AbortSignal;
  /** How long one request of a wait may take; 25 seconds unless told, and 60 at most. */
  readonly poll_s?: number;
}

/** A no of the service, with the same code, message, advice and facts that the library would give. */
export class ServiceRefusal extends Error {
  /** A service that is newer may know more of them. */
  readonly code: ReasonCode | (string & Record<never, never>);
  readonly number: number;
  /** What a human can do about it. */
  readonly advice: string;
  readonly facts: Problem['facts'];
  /** The status of the answer. */
  readonly status: number;

  constructor({ detail, code, number, advice, facts, status }: Problem) {
    super(detail);
    this.name = 'ServiceRefusal';
    this.code = code;
    this.number = number;
    this.advice = advice;
    this.facts = facts;
    this.status = status;
  }
}

export interface OpenedSession {
  readonly cookie: string;
  /** The second secret. */
  readonly page: string;
  readonly expires_at: string;
}

export interface Asking {
  ask(path: string, request: object, options: CallOptions): Promise<unknown>;
  /** Opens a session with `{link}`, or with `{}` that a human signed. The cookie is an empty text where the browser keeps it. */
  open(asked: { readonly link?: string }, options: CallOptions): Promise<OpenedSession>;
  /** Ends the session. */
  end(options: CallOptions): Promise<void>;
}

/** How the JSON of an answer is read. */
export type ReadJson = (response: Response) => Promise<unknown>;

const READ: ReadJson = (response) => response.json();

export function asker(
  address: string,
  shown: Readonly<Record<string, string>>,
  signer: RequestSigner | null = null,
  read: ReadJson = READ,
): Asking {
  const base = address.replace(/\/+$/, '');
  const send = async (path: string, request: object, { signal, poll_s }: CallOptions) => {
    const body = JSON.stringify(request);
    const headers = {
      ...shown,
      'content-type': 'application/json',
      ...(poll_s !== undefined && { prefer: `wait=${poll_s}` }),
    };
    return fetch(base + path, {
      method: 'POST',
      headers: signer === null ? headers : await signedHeaders(signer, base + path, body, headers),
      body,
      // No redirect is followed: the token is for this service, and not for one that it names.
      redirect: 'error',
      ...(signal && { signal }),
    });
  };
  return {
    ask: (path, request, options) =>
      askedAgain(async () => answerIn(await send(path, request, options), read), options.signal),
    open: async (asked, options) => {
      const response = await send('/v1/session', asked, options);
      const { page, expires_at } = (await answerIn(response, read)) as Omit<OpenedSession, 'cookie'>;
      const cookies = response.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
      return { cookie: cookies.join('; '), page, expires_at };
    },
    end: async ({ signal }) => {
      const asked = {
        method: 'DELETE',
        headers: shown,
        redirect: 'error',
        ...(signal && { signal }),
      } as const;
      const response = await fetch(`${base}/v1/session`, asked);
      if (response.status !== 204) await answerIn(response, read);
    },
  };
}

export async function answerIn(response: Response, read: ReadJson = READ): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (response.ok && /^application\/json\b/.test(type)) return read(response);
  if (response.ok && /^application\/jsonl\b/.test(type)) return response.body;
  if (!response.ok && /^application\/problem\+json\b/.test(type))
    throw new ServiceRefusal((await read(response)) as Problem);
  await response.body?.cancel();
  throw new Error(`What answered at ${response.url} is no Keyturn service: ${response.status} ${type}`);
}

/** A service that stops answers at once, again and again until it is gone. */
const POLL_LEAST_MS = 1_000;

/** Only a wait is answered with WAIT_OVER, and its answer is to ask again. */
async function askedAgain<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    const least = Date.now() + POLL_LEAST_MS;
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServiceRefusal && error.code === 'WAIT_OVER')) throw error;
    }
    await pause(least - Date.now(), signal);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, failed) => {
    if (signal?.aborted) return failed(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      failed(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
