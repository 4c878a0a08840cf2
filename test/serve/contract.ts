import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly security?: readonly Requirement[];
}

/** The schemes that one request shows together. */
type Requirement = Readonly<Record<string, readonly unknown[]>>;

export interface Scheme {
  readonly type: string;
  readonly in?: string;
  readonly name?: string;
  readonly scheme?: string;
}

interface Answer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { schema: Schema }>>;
  readonly headers?: Readonly<Record<string, object>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: readonly Requirement[];
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, Scheme>>;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Answer>>;
  };
}

/** One operation of the document: what to ask, and whether an answer is one that it declares. */
export interface Walked {
  readonly path: string;
  readonly method: string;
  readonly statuses: readonly string[];
  /** Whether every caller is answered. */
  readonly is_open: boolean;
  /** By which schemes a caller shows who it is: all of one list. */
  readonly shown: readonly (readonly string[])[];
  readonly takes_body: boolean;
  readonly asked: fc.Arbitrary<Asked>;
  /** What is wrong with an answer; null where it is as declared. */
  wrong(status: number, headers: Headers, body: unknown): string | null;
  /** Whether the document allows the request. */
  allows(asked: Asked): boolean;
}

export interface Asked {
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export function walk(document: Document): Walked[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'doc', components: document.components });
  const known = new Map<Schema, ValidateFunction>();
  const compiled = (schema: Schema) => {
    const found = known.get(schema) ?? ajv.compile(pointed(schema));
    known.set(schema, found);
    return found;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      walked(document, path, method, operation, compiled),
    ),
  );
}

/** The same schema, with references that lead into the document. */
function pointed(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/'));
}

function walked(
  document: Document,
  path: string,
  method: string,
  { parameters = [], requestBody, responses, security }: Operation,
  compiled: (schema: Schema) => ValidateFunction,
): Walked {
  const body = requestBody?.content['application/json'].schema;
  const inQuery = parameters.filter((one) => one.in === 'query');
  const query: Schema = {
    type: 'object',
    properties: Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema])),
    required: inQuery.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
  return {
    path,
    method,
    statuses: Object.keys(responses),
    is_open: security?.length === 0,
    shown: (security ?? document.security).map((one) => Object.keys(one)),
    takes_body: body !== undefined,
    asked: fc.record({
      query: fc.record(
        Object.fromEntries(inQuery.map((one) => [one.name, allowedBy(one.schema, document, 0).map(asText)])),
        { requiredKeys: [] },
      ),
      headers: headersOf(parameters.filter((one) => one.in === 'header').map(({ name }) => name)),
      body: body
        ? fc.oneof({ weight: 4, arbitrary: allowedBy(body, document, 0) }, { weight: 1, arbitrary: ANYTHING })
        : fc.constant(null),
    }),
    allows: (asked) =>
      body === undefined
        ? compiled(query)(typed(asked.query, inQuery))
        : compiled(body)(JSON.parse(JSON.stringify(asked.body ?? {}))),
    wrong: (status, told, answer) => {
      const declared = responses[String(status)];
      if (declared === undefined) return `answers ${status}, which it does not declare`;
      const { content, headers = {} } = resolved(document, declared);
      const missing = Object.keys(headers).find((name) => !told.has(name));
      if (missing !== undefined) return `answers ${status} without ${missing}`;
      const type = told.get('content-type') ?? '';
      if (method === 'head') return answer === null ? null : 'answers HEAD with a body';
      // Without a content, there is none.
      if (content === undefined) return null;
      const [is, said] = Object.entries(content).find(([one]) => type.startsWith(one)) ?? [];
      if (said === undefined) return `answers ${status} as ${type}`;
      if (!is!.endsWith('json')) return null;
      const check = compiled(said.schema);
      return check(answer) ? null : `answers ${status} with ${JSON.stringify(check.errors?.[0])}`;
    },
  };
}

function resolved(document: Document, { $ref, ...answer }: Answer): Answer {
  return $ref === undefined ? answer : document.components.responses[$ref.split('/').at(-1)!]!;
}

/** What is in the query, as its members have it. */
function typed(
  query: Asked['query'],
  parameters: readonly { readonly name: string; readonly schema: Schema }[],
): object {
  const texts = parameters.filter(({ schema: { type, enum: some } }) => type === 'string' || some);
  const isText = (name: string) => texts.some((one) => one.name === name);
  const readAs = (text: string) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  };
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => [name, isText(name) ? text : readAs(text!)]),
  );
}

const TEXT = fc.string({ maxLength: 30 }).map((text) => text.trim());

/** Headers that the document names, and others that any client or proxy sends. */
function headersOf(declared: readonly string[]): fc.Arbitrary<Asked['headers']> {
  const made: Record<string, fc.Arbitrary<string>> = {
    ...Object.fromEntries(declared.map((name) => [name.toLowerCase(), TEXT])),
    ...(declared.includes('Prefer') && {
      prefer: fc.constantFrom('wait=0', 'wait=0, x', 'x; y=1, WAIT = 0'),
    }),
    'if-none-match': fc.oneof(TEXT, fc.constantFrom('*', '""', 'W/"x"', '"x", "y"')),
    accept: fc.oneof(TEXT, fc.constantFrom('*/*', 'text/html', 'application/json;q=0')),
    range: fc.constantFrom('bytes=0-1', 'x'),
    'x-forwarded-host': TEXT,
    'x-http-method-override': fc.constantFrom('DELETE', 'GET', 'TRACE'),
    [`x-${'n'.repeat(60)}`]: TEXT,
  };
  const some = fc.record(made, { requiredKeys: [] });
  return fc.oneof(
    { weight: 2, arbitrary: some as fc.Arbitrary<Asked['headers']> },
    { weight: 1, arbitrary: fc.constant({}) },
  );
}

/** As a query has it. An object of `fc` has no method by which it becomes a text. */
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const ANYTHING = fc.jsonValue({ maxDepth: 3 });
const DEPTH = 6;

/** Values that a schema allows, now and then one that it does not. */
function allowedBy(schema: Schema, document: Document, depth: number): fc.Arbitrary<unknown> {
  if (depth > DEPTH) return fc.constant(null);
  const good = goodOf(schema, document, depth + 1);
  return fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: ANYTHING });
}

/** Names and ids that the project has, so that some requests reach further than their form. */
const KNOWN = ['ada', 'bot', 'say', 'success', 'a reason', '10m', '2026-01-01T00:00:00.000Z', '0'.repeat(64)];

function goodOf(schema: Schema, document: Document, depth: number): fc.Arbitrary<unknown> {
  const {
    $ref,
    anyOf,
    oneOf,
    allOf,
    enum: some,
    const: one,
    type,
  } = schema as {
    $ref?: string;
    anyOf?: Schema[];
    oneOf?: Schema[];
    allOf?: Schema[];
    enum?: unknown[];
    const?: unknown;
    type?: string | string[];
  };
  if ($ref) return allowedBy(document.components.schemas[$ref.split('/').at(-1)!] ?? {}, document, depth);
  const several = anyOf ?? oneOf ?? allOf;
  if (several) return fc.oneof(...several.map((each) => allowedBy(each, document, depth)));
  if (some) return fc.constantFrom(...some);
  if (one !== undefined) return fc.constant(one);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return objectOf(schema, document, depth);
    case 'array':
      return fc.array(allowedBy((schema.items ?? {}) as Schema, document, depth), { maxLength: 3 });
    case 'string':
      return fc.oneof(fc.constantFrom(...KNOWN), fc.uuid(), fc.string({ maxLength: 20 }));
    case 'integer':
      return fc.oneof(fc.nat(100), fc.integer());
    case 'number':
      return fc.oneof(fc.nat(100), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return ANYTHING;
  }
}

function objectOf({ properties = {}, required = [] }: Schema, document: Document, depth: number) {
  const members = Object.entries(properties as Record<string, Schema>).map(([name, schema]) => [
    name,
    allowedBy(schema, document, depth),
  ]);
  return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: required as string[],
  });
}
