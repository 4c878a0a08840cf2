import * as z from 'zod';
import type { Verb } from './verb.ts';
import { VERBS } from './verbs.ts';

/** docs/api.md, its first part: every verb with what it takes and what it answers. The rest, scripts/surface.mjs makes. A test fails when it is old. */
export function apiPage(): string {
  const named = new Map<string, Schema>();
  const parts = Object.entries(VERBS).flatMap(([namespace, verbs]) => [
    `## ${namespace}`,
    ...Object.entries(verbs).map(([name, verb]) => verbPart(`${namespace}.${name}`, verb as Verb, named)),
  ]);
  const types = [...named].map(([name, schema]) => `type ${typeName(name)} = ${typeOf(schema, '')};`);
  return `${[HEAD, ...parts, '## Types', block(types.join('\n\n'))].join('\n\n')}\n`;
}

const HEAD = `# The verbs

What a program can ask of Keyturn, as \`keyturn.intents.propose({ … })\` and the like. Each takes one request and returns a promise of
one answer, or rejects with a \`Refusal\`, whose \`code\` \`keyturn explain\` describes. A request that is not what is said here is refused
before anything happens. \`read\` writes nothing; \`act\` is signed by a human, so it takes a \`signer\`; \`write\` is any other change.
\`keyturn.as({ name })\` has the same verbs for one caller. An agent is refused where nothing is said of agents (NOT_FOR_AGENTS), and a human with the
role \`auditor\` may only read.
In TypeScript the types are \`Request<'intents.propose'>\` and \`Result<'intents.propose'>\`. What else the package exports stands at the end.`;

/** As much of a JSON Schema as zod makes of our schemas. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

function verbPart(name: string, verb: Verb, named: Map<string, Schema>): string {
  const { kind, about, here, open_to } = verb;
  const text = (schema: z.ZodType, io: 'input' | 'output') => {
    const { $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema;
    for (const [id, part] of Object.entries($defs)) named.set(id, part);
    return typeOf(rest, '');
  };
  const also = here.length === 0 ? '' : ` It also takes ${here.map((one) => `\`${one}\``).join(' and ')}.`;
  return [
    `### ${name}`,
    `${about} (${kind})${also}${AGENTS[open_to]}`,
    block(`${text(verb.input(), 'input')} => ${text(verb.output(), 'output')}`),
  ].join('\n\n');
}

const AGENTS = {
  people: '',
  proposer: ' An agent may ask, and there is only what it proposed.',
  anyone: ' An agent may ask.',
  delegate:
    ' An agent may ask, under what was delegated to it and about what it proposed, and signs what it changes.',
} as const;

const block = (text: string) => `\`\`\`ts\n${text}\n\`\`\``;

/** A schema as TypeScript would say it. */
function typeOf(schema: Schema, indent: string): string {
  const { $ref, type, const: only, enum: some, anyOf, oneOf, items, properties } = schema;
  if ($ref !== undefined) return typeName($ref.replace('#/$defs/', ''));
  if (only !== undefined) return JSON.stringify(only);
  if (some) return some.map((one) => JSON.stringify(one)).join(' | ');
  const either = anyOf ?? oneOf;
  if (either) return [...new Set(either.map((one) => typeOf(one, indent)))].join(' | ');
  if (type === 'array') return arrayOf(typeOf(items ?? {}, indent));
  if (properties) return objectOf(schema, indent);
  if (type === 'object') return 'Record<string, unknown>';
  const types = [type ?? 'unknown'].flat();
  return types.map((one) => (one === 'integer' ? 'number' : one)).join(' | ');
}

function arrayOf(item: string): string {
  return /^[A-Za-z]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const deeper = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, one]) => `${deeper}${name}${required.includes(name) ? '' : '?'}: ${typeOf(one, deeper)};`,
  );
  return ['{', ...lines, `${indent}}`].join('\n');
}

function typeName(id: string): string {
  return id.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}
