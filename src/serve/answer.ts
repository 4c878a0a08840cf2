import type * as z from 'zod';
import { sha256 } from '../canonical/digest.ts';
import { isDeepFrozen } from '../canonical/frozen.ts';
import { refuse } from '../refusal.ts';
import { type Problem, problemOf } from './status.ts';

/** On every answer. No page of another origin frames it, reads it or runs a script in it. */
const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'permissions-policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
};

const KEPT_NOWHERE = { 'cache-control': 'no-store' };
/** Kept by the caller, and asked about again each time. */
const ASKED_AGAIN = { 'cache-control': 'private, no-cache', vary: 'Authorization, Cookie' };

type Headers = Readonly<Record<string, string>>;

const BARE: Headers = { ...SECURITY, ...KEPT_NOWHERE };

/** How long the text of an answer is. */
const lengths = new WeakMap<Response, number>();

/** What an answer takes while it is not read. One that is a stream is made as it is read. */
export function answerBytesOf(response: Response): number {
  return lengths.get(response) ?? 0;
}

function made(body: string | ReadableStream | null, init: ResponseInit): Response {
  const response = new Response(body, init);
  if (typeof body === 'string') lengths.set(response, Buffer.byteLength(body));
  return response;
}

export function respond(body: string | ReadableStream | null, status: number, headers: Headers): Response {
  return made(body, { status, headers: { ...BARE, ...headers } });
}

/** The one way an answer leaves: what its schema does not describe is not told. */
export function answerWith(schema: z.ZodType, value: unknown, status = 200, headers: Headers = {}): Response {
  return respond(told(schema, value), status, { 'content-type': 'application/json', ...headers });
}

interface Tagged {
  readonly schema: z.ZodType;
  readonly text: string;
  readonly etag: string;
  /** Of the answer with the text. */
  readonly headers: Headers;
}

/** Of values that cannot change. They are forgotten with their values. */
const tagged = new WeakMap<object, Tagged>();

/** What is answered, before it is. */
export interface WebAnswer {
  readonly status: number;
  readonly text: string | null;
  readonly headers: Headers;
}

/** The same for a read, with a tag by which a caller who has it already is spared it. */
export function answerTagged(schema: z.ZodType, value: unknown, known: string | null): Response {
  return responseOf(toldTagged(schema, value, known));
}

export function toldTagged(schema: z.ZodType, value: unknown, known: string | null): WebAnswer {
  const { text, etag, headers } = taggedOf(schema, value);
  if (known !== null && tagsIn(known).includes(etag))
    return { status: 304, text: null, headers: { ...BARE, ...ASKED_AGAIN, etag } };
  return { status: 200, text, headers };
}

export function responseOf({ status, text, headers }: WebAnswer): Response {
  return made(text, { status, headers });
}

function taggedOf(schema: z.ZodType, value: unknown): Tagged {
  const earlier = isDeepFrozen(value) ? tagged.get(value) : undefined;
  if (earlier?.schema === schema) return earlier;
  const text = told(schema, value);
  const etag = `"${sha256(text).slice(0, 32)}"`;
  const headers = { ...BARE, 'content-type': 'application/json', ...ASKED_AGAIN, etag };
  const made = { schema, text, etag, headers };
  if (isDeepFrozen(value)) tagged.set(value, made);
  return made;
}

function told(schema: z.ZodType, value: unknown): string {
  const parsed = schema.safeParse(value);
  if (!parsed.success) refuse('INTERNAL', 'The answer is not what its schema says.');
  return JSON.stringify(parsed.data);
}

function tagsIn(text: string): string[] {
  return text.split(',').map((one) => one.trim().replace(/^W\//, ''));
}

export function answerProblem(error: unknown, headers: Headers = {}): Response {
  const problem = problemOf(error);
  const challenge: Headers = problem.status === 401 ? { 'www-authenticate': 'Bearer realm="keyturn"' } : {};
  const again: Headers = problem.status === 429 ? { 'retry-after': String(retryAfter(problem)) } : {};
  return respond(JSON.stringify(problem), problem.status, {
    'content-type': 'application/problem+json',
    ...challenge,
    ...again,
    ...headers,
  });
}

/** Seconds until the same can be asked again. */
function retryAfter({ facts: { retry_after_s, try_again_at } }: Problem): number {
  if (typeof retry_after_s === 'number') return retry_after_s;
  const until_ms = typeof try_again_at === 'string' ? Date.parse(try_again_at) - Date.now() : 0;
  return Math.max(1, Math.ceil(until_ms / 1000));
}
