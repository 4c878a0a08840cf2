import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod';
import { webLimits } from '../limits.ts';
import { VERSION } from '../version.ts';
import { actAsked, actDraft } from './act.ts';
import type { Route } from './route.ts';
import { ANY, SECURITY_SCHEMES, type ShownBy, securityOf, shownAt } from './security.ts';
import { httpStatusOf } from './status.ts';
import { STREAM_TYPE } from './streamed.ts';

/** The description of the service, from the table of verbs. The schemas are those that requests and answers go through. */
export async function openApiOf(
  routes: readonly Route[],
  others: readonly Described[] = [],
): Promise<object> {
  const schemas: Record<string, unknown> = { problem: PROBLEM };
  const paths: Record<string, object> = {};
  for (const [i, route] of routes.entries()) {
    // All of them take a tenth of a second, in which a service answers others.
    if (i % webLimits.described_turn === 0) await nextTurn();
    paths[route.path] = pathOf(route, schemas);
  }
  for (const one of others) paths[one.path] = { ...paths[one.path], ...otherPath(one, schemas) };
  return {
    openapi: '3.1.0',
    info: { title: 'Keyturn', version: VERSION, description: ABOUT, license: LICENSE },
    servers: [{ url: '/' }],
    security: securityOf(ANY),
    paths,
    components: { schemas, responses: RESPONSES, headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
  };
}

/** A path that is no verb of the table. */
export interface Described {
  readonly path: string;
  readonly method?: 'get' | 'post' | 'delete';
  readonly about: string;
  /** Absent where nothing is sent. */
  readonly input?: z.ZodType;
  /** Null where it is what the verb answers that is finished; absent where it is no JSON, or nothing. */
  readonly output?: z.ZodType | null;
  /** What the answer is, where it is no JSON. */
  readonly type?: string;
  readonly status?: number;
  /** What 202 means, beside the answer. */
  readonly accepted?: string;
  /** Statuses that can also say this, and not only a problem. */
  readonly faulty?: { readonly statuses: readonly number[]; readonly says: z.ZodType };
  /** Whether the answer can also come as server-sent events. */
  readonly may_stream?: boolean;
  /** What 503 says, where it is no problem. */
  readonly failed?: z.ZodType;
  readonly headers?: readonly string[];
  /** Answered without a credential. */
  readonly is_open?: boolean;
  /** By what its callers show who they are, where it is not any of the usual. */
  readonly shown?: readonly ShownBy[];
  /** Read with `If-None-Match`. */
  readonly is_tagged?: boolean;
  readonly refusals: readonly number[];
}

/** By whom, and where, anything is asked for. */
export const HOST = [421] as const;
export const CALLER = [401, 403, ...HOST, 429, 503] as const;
/** What a body can be refused for. */
export const BODY = [400, 413, 415] as const;

function otherPath(one: Described, schemas: Schemas): object {
  const { path, method = 'post', about, input, output, type, status = 200, accepted, failed, refusals } = one;
  const [, version = '', namespace = '', name] = path.split('/');
  const part = version === 'v1' ? namespace : 'service';
  const named = name && version === 'v1' ? name : version === 'v1' ? namespace : path.slice(1) || 'console';
  const answer = type
    ? { content: { [type]: { schema: { type: 'string' } } } }
    : output && { content: { ...content(output, 'output', schemas), ...(one.may_stream && EVENTS) } };
  const headers = [...(one.headers ?? []), ...(one.is_tagged ? [IF_NONE_MATCH] : [])];
  const operation = {
    operationId: `${part}.${named}${method === 'post' ? '' : `.${method}`}`,
    summary: about,
    tags: [part],
    ...(one.is_open ? { security: [] } : one.shown && { security: securityOf(one.shown) }),
    ...(headers.length > 0 && { parameters: headers.map(headerNamed) }),
    ...(input && { requestBody: { required: true, content: content(input, 'input', schemas) } }),
    responses: {
      [status]: { description: 'The answer.', ...(one.is_tagged && TAGGED), ...answer },
      ...(accepted && { 202: { description: accepted } }),
      ...(one.is_tagged && { 304: UNCHANGED }),
      ...refusedBy(refusals),
      ...(one.faulty && faultyBy(one.faulty, schemas)),
      ...(failed && { 503: { description: 'Not now.', content: content(failed, 'output', schemas) } }),
    },
  };
  const is_stream = type === EVENT_STREAM;
  return { [method]: operation, ...(method === 'get' && !is_stream && { head: headOf(operation) }) };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, object>>;
}

/** The same without the body of an answer, also of a refusal. */
function headOf({ operationId, responses, ...get }: Operation): Operation {
  const bare = ({ content: _, ...answer }: { readonly content?: unknown; readonly $ref?: string }) =>
    answer.$ref === undefined ? answer : { $ref: `${answer.$ref}-head` };
  const told = Object.entries(responses).map(([status, answer]) => [status, bare(answer)]);
  return {
    ...get,
    operationId: operationId.replace(/\.get$/, '.head'),
    responses: Object.fromEntries(told),
  };
}

const TEXT = { type: 'string' };
const EVENT_STREAM = 'text/event-stream';
const EVENTS = { [EVENT_STREAM]: { schema: TEXT } };
const IF_NONE_MATCH = 'If-None-Match';
const headerNamed = (name: string) => ({ name, in: 'header', schema: TEXT });

const HEADERS = {
  ETag: { description: 'What If-None-Match names to be spared the same answer.', schema: TEXT },
  'Retry-After': { description: 'Seconds until the same can be asked again.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'By what a caller shows who it is.', schema: TEXT },
};
const headersNamed = (name: keyof typeof HEADERS) => ({
  headers: { [name]: { $ref: `#/components/headers/${name}` } },
});
const TAGGED = headersNamed('ETag');
const UNCHANGED = { description: 'It is what If-None-Match names.', ...TAGGED };

function faultyBy({ statuses, says }: NonNullable<Described['faulty']>, schemas: Schemas): object {
  const also = { ...PROBLEM_CONTENT, ...content(says, 'output', schemas) };
  const said = { description: 'It is no message, or none that is taken.', content: also };
  return Object.fromEntries(statuses.map((status) => [status, said]));
}

function refusedBy(statuses: readonly number[]): object {
  const all = statuses.toSorted((a, b) => a - b);
  return Object.fromEntries(
    all.map((status) => [status, { $ref: `#/components/responses/${REFUSALS[status] ?? 'problem'}` }]),
  );
}

/** Refusals that say more in their headers. */
const REFUSALS: Readonly<Record<number, string>> = { 401: 'unproven', 429: 'limited' };

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

const ABOUT =
  'Every verb of Keyturn. An act of a human is asked for twice: first it answers a draft, then it is finished with the proof of its statements.';

const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'number', 'advice', 'facts'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', pattern: '^[A-Z][A-Z0-9_]+$' },
    number: { type: 'integer' },
    advice: { type: 'string' },
    facts: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
  },
};

const PROBLEM_CONTENT = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/problem' } },
};

const REFUSED: Readonly<Record<string, object>> = {
  problem: { description: 'A refusal, with its reason.' },
  unproven: { description: 'A refusal: who asks is not known.', ...headersNamed('WWW-Authenticate') },
  limited: { description: 'A refusal: for now, too much was asked.', ...headersNamed('Retry-After') },
};

const RESPONSES = Object.fromEntries(
  Object.entries(REFUSED).flatMap(([name, answer]) => [
    [name, { ...answer, content: PROBLEM_CONTENT }],
    [`${name}-head`, answer],
  ]),
);

type Schemas = Record<string, unknown>;

function pathOf(route: Route, schemas: Schemas): object {
  const { namespace, name, verb, is_act } = route;
  const result = route.is_streamed
    ? { [STREAM_TYPE]: { schema: TEXT } }
    : content(verb.output(), 'output', schemas);
  const security = securityOf(shownAt(route));
  const about = { summary: verb.about, tags: [namespace], 'x-keyturn-kind': verb.kind, security };
  const whole = content(verb.input(), 'input', schemas);
  const input = route.is_said ? ofSigner(whole) : whole;
  const post = {
    operationId: `${namespace}.${name}`,
    ...about,
    parameters: headersOf(route).map(headerNamed),
    requestBody: {
      required: true,
      content: is_act ? actContent(input, verb.kind === 'act', schemas) : input,
    },
    responses: {
      '200': { description: 'The answer.', content: result },
      ...(is_act && { '202': { description: 'A draft.', content: content(actDraft, 'output', schemas) } }),
      ...refusedBy([...CALLER, ...BODY, ...aboutNamed(route)]),
    },
  };
  return { post, ...getOf(route, about, result) };
}

/** Words are those of the human who signed the request: who that is need not be said. */
function ofSigner({ 'application/json': { schema } }: JsonContent): JsonContent {
  const { required = [], ...rest } = schema as { readonly required?: readonly string[] };
  return {
    'application/json': { schema: { ...rest, required: required.filter((one) => one !== 'user_id') } },
  };
}

/** What the verb says, and of an act: who signs it may not be there, and it may be another one by the time it is finished. */
function aboutNamed({ verb, is_act }: Route): readonly number[] {
  const reasons = [...(verb.refuses ?? []), ...(is_act ? OF_AN_ACT : [])];
  return [...new Set(reasons.map(httpStatusOf))];
}

const OF_AN_ACT = ['PRINCIPAL_UNKNOWN', 'ACT_CHANGED'] as const;

/** A `write` with a signature is asked for as it is by an agent, and as an act by a human. */
function actContent(input: JsonContent, is_only_act: boolean, schemas: Schemas): JsonContent {
  const { schema: request } = input['application/json'];
  const { anyOf } = content(actAsked, 'input', schemas)['application/json'].schema as { anyOf: Asking[] };
  const asked = anyOf.map((one) => ({ ...one, properties: { ...one.properties, request } }));
  return { 'application/json': { schema: { anyOf: is_only_act ? asked : [request, ...asked] } } };
}

interface Asking {
  readonly properties: Readonly<Record<string, unknown>>;
}

function getOf(route: Route, about: object, result: object): object {
  const { namespace, name, query, verb } = route;
  const members = query();
  if (members === null) return {};
  const { required = [] } = z.toJSONSchema(verb.input(), { io: 'input', unrepresentable: 'any' });
  const parameters = Object.entries(members).map(([member, schema]) => ({
    name: member,
    in: 'query',
    required: required.includes(member),
    schema,
  }));
  const headers = [...headersOf(route), IF_NONE_MATCH].map(headerNamed);
  const responses = {
    '200': { description: 'The answer.', ...TAGGED, content: result },
    '304': UNCHANGED,
    ...refusedBy([...CALLER, 400, ...aboutNamed(route)]),
  };
  const get = {
    operationId: `${namespace}.${name}.get`,
    ...{ ...about, parameters: [...parameters, ...headers], responses },
  };
  return { get, head: headOf(get) };
}

function headersOf({ members, verb }: Route): string[] {
  return [
    ...(Object.hasOwn(members(), 'idempotency_key') ? ['Idempotency-Key'] : []),
    ...((verb.here as readonly string[]).includes('signal') ? ['Prefer'] : []),
  ];
}

interface JsonContent {
  readonly 'application/json': { readonly schema: unknown };
}

/** What a schema calls by name is put beside the paths, once for requests and once for answers: they differ in what has a default. */
function content(schema: z.ZodType, io: 'input' | 'output', schemas: Schemas): JsonContent {
  const named = (id: string) => (io === 'output' ? id : `${id}-asked`);
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Record<string, unknown>;
  const text = JSON.stringify(made).replace(
    /"\$ref":"#\/\$defs\/([^"]+)"/g,
    (_, id: string) => `"$ref":"#/components/schemas/${named(id)}"`,
  );
  const { $defs = {}, $schema: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  for (const [id, part] of Object.entries($defs as object)) schemas[named(id)] = part;
  return { 'application/json': { schema: rest } };
}
