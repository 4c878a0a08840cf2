import * as z from 'zod';
import { refuse } from '../refusal.ts';
import { registrySchema } from './schema.ts';

type Schema = { readonly [key: string]: unknown };

/**
 * The JSON Schema of `tools.yaml`, for editors. It is made from the schema that decides, and says a little less: what one key says
 * about another is checked by `tool lint` only. Its descriptions are the lines of `docs/tools.md`, so each key must have one there.
 */
export function registryJsonSchema(page: string): Schema {
  const schema = z.toJSONSchema(registrySchema, { io: 'input', unrepresentable: 'any' }) as Schema;
  return {
    $schema: schema.$schema,
    $id: 'https://keyturn.dev/schemas/tools.json',
    title: 'tools.yaml of Keyturn',
    ...described(schema, '', meanings(page)),
  };
}

/**
 * What the tables of the page say, by the path of the key, such as `tools[].sandbox.read`. The heading above a table has the path of
 * the object; `[]` stands for an item and `NAME` for a name that the file chooses.
 */
export function meanings(page: string): Map<string, string> {
  const found = new Map<string, string>();
  let object = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) object = /: `(.+)`$/.exec(line)?.[1] ?? '';
    const [, key, meaning] = /^\| `(\w+)` \| (.+?) \|/.exec(line) ?? [];
    if (key !== undefined) found.set(below(object, key), meaning!.replaceAll('`', ''));
  }
  return found;
}

function below(object: string, key: string): string {
  return object === '' ? key : `${object}.${key}`;
}

function described(schema: Schema, path: string, words: ReadonlyMap<string, string>): Schema {
  const inner = (value: unknown, at: string) => described(value as Schema, at, words);
  const { properties, items, additionalProperties, anyOf } = schema;
  return {
    ...schema,
    ...(properties ? { properties: describedKeys(properties as Schema, path, words) } : {}),
    ...(items ? { items: inner(items, `${path}[]`) } : {}),
    ...(additionalProperties ? { additionalProperties: inner(additionalProperties, `${path}.NAME`) } : {}),
    ...(anyOf ? { anyOf: (anyOf as Schema[]).map((value) => inner(value, path)) } : {}),
  };
}

function describedKeys(properties: Schema, object: string, words: ReadonlyMap<string, string>): Schema {
  const entries = Object.entries(properties).map(([key, value]) => {
    const path = below(object, key);
    const description = words.get(path);
    if (description === undefined) refuse('SHAPE_INVALID', `docs/tools.md has no line about ${path}.`);
    return [key, { description, ...described(value as Schema, path, words) }];
  });
  return Object.fromEntries(entries);
}
