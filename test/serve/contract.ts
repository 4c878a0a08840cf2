import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly security?: readonly unknown[];
}

interface Answer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { schema: Schema }>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
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
  readonly takes_body: boolean;
  readonly asked: fc.Arbitrary<Asked>;
  /** What is wrong with an answer; null where it is as declared. */
  wrong(status: number, type: string, body: unknown): string | null;
}

export interface Asked {
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
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
  return {
    path,
    method,
    statuses: Object.keys(responses),
    is_open: security?.length === 0,
    takes_body: body !== undefined,
    asked: fc.record({
      query: fc.record(
        Object.fromEntries(
          parameters
            .filter((one) => one.in === 'query')
            .map((one) => [one.name, allowedBy(one.schema, document, 0).map(asText)]),
        ),
        { requiredKeys: [] },
      ),
      body: body
        ? fc.oneof({ weight: 4, arbitrary: allowedBy(body, document, 0) }, { weight: 1, arbitrary: ANYTHING })
        : fc.constant(null),
    }),
    wrong: (status, type, answer) => {
      const declared = responses[String(status)];
      if (declared === undefined) return `answers ${status}, which it does not declare`;
      const { content } = resolved(document, declared);
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
