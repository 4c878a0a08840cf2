import * as z from 'zod';
import { VERSION } from '../version.ts';
import { actAsked, actDraft } from './act.ts';
import type { Route } from './route.ts';
import { REFUSED } from './status.ts';

/** The description of the service, from the table of verbs. The schemas are those that requests and answers go through. */
export function openApiOf(routes: readonly Route[], others: readonly Described[] = []): object {
  const schemas: Record<string, unknown> = { problem: PROBLEM };
  const paths = [
    ...routes.map((route) => [route.path, pathOf(route, schemas)]),
    ...others.map((one) => [one.path, otherPath(one, schemas)]),
  ];
  return {
    openapi: '3.1.0',
    info: { title: 'Keyturn', version: VERSION, description: ABOUT },
    security: [{ token: [] }, { session: [] }],
    paths: { ...Object.fromEntries(paths), '/v1/events': EVENTS },
    components: {
      schemas,
      responses: { problem: problemResponse('A refusal, with its reason.') },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'keyturn_session' },
      },
    },
  };
}

/** A path that is no verb of the table. */
export interface Described {
  readonly path: string;
  readonly about: string;
  readonly input: z.ZodType;
  /** Null where it is what the verb answers that is finished. */
  readonly output: z.ZodType | null;
  readonly status?: number;
}

function otherPath({ path, about, input, output, status = 200 }: Described, schemas: Schemas): object {
  const [, , namespace, name] = path.split('/');
  const answer = output === null ? {} : { content: content(output, 'output', schemas) };
  const post = {
    operationId: `${namespace}.${name}`,
    summary: about,
    tags: [namespace],
    requestBody: { required: true, content: content(input, 'input', schemas) },
    responses: { [status]: { description: 'The answer.', ...answer }, ...REFUSALS },
  };
  return { post };
}

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

function problemResponse(description: string) {
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/problem' } } },
  };
}

const REFUSALS = Object.fromEntries(
  REFUSED.map((status) => [String(status), { $ref: '#/components/responses/problem' }]),
);

const EVENTS = {
  get: {
    operationId: 'events',
    summary:
      'The entries of the ledger as they come, as server-sent events. An agent hears of its own intents.',
    parameters: [{ name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } }],
    responses: {
      '200': { description: 'A stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
      ...REFUSALS,
    },
  },
};

type Schemas = Record<string, unknown>;

function pathOf(route: Route, schemas: Schemas): object {
  const { namespace, name, verb, is_act } = route;
  const result = content(verb.output(), 'output', schemas);
  const about = { summary: verb.about, tags: [namespace], 'x-keyturn-kind': verb.kind };
  const input = content(verb.input(), 'input', schemas);
  const post = {
    operationId: `${namespace}.${name}`,
    ...about,
    parameters: headersOf(route),
    requestBody: {
      required: true,
      content: is_act ? actContent(input, verb.kind === 'act', schemas) : input,
    },
    responses: {
      '200': { description: 'The answer.', content: result },
      ...(is_act && { '202': { description: 'A draft.', content: content(actDraft, 'output', schemas) } }),
      ...REFUSALS,
    },
  };
  return { post, ...getOf(route, about, result) };
}

/** A `write` with a signature is asked for as it is by an agent, and as an act by a human. */
function actContent(input: JsonContent, is_only_act: boolean, schemas: Schemas): JsonContent {
  const asked = content(actAsked, 'input', schemas);
  if (is_only_act) return asked;
  const both = [input, asked].map((one) => one['application/json'].schema);
  return { 'application/json': { schema: { anyOf: both } } };
}

function getOf({ namespace, name, query, verb }: Route, about: object, result: JsonContent): object {
  const members = query();
  if (members === null) return {};
  const { required = [] } = z.toJSONSchema(verb.input(), { io: 'input', unrepresentable: 'any' });
  const parameters = Object.entries(members).map(([member, schema]) => ({
    name: member,
    in: 'query',
    required: required.includes(member),
    schema,
  }));
  const responses = {
    '200': { description: 'The answer.', content: result },
    '304': { description: 'It is what If-None-Match names.' },
    ...REFUSALS,
  };
  return { get: { operationId: `${namespace}.${name}.get`, ...about, parameters, responses } };
}

function headersOf({ members, verb }: Route): object[] {
  const names = [
    ...(Object.hasOwn(members(), 'idempotency_key') ? ['Idempotency-Key'] : []),
    ...((verb.here as readonly string[]).includes('signal') ? ['Prefer'] : []),
  ];
  return names.map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
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
