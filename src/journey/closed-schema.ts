import type { Json, JsonObject } from '../canonical/json.ts';

/** Keywords that hold schemas by a name that the schema chooses: an argument may be called like a keyword. */
export const BY_NAME: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'patternProperties',
  'properties',
]);

/** Keywords that hold a schema, or a list of schemas, which a value must fit. */
export const SCHEMAS: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'items',
  'oneOf',
  'propertyNames',
  'then',
]);

/** What fits one of these is refused, or meant for another branch. To close it would let more through, so it stays as it was signed. */
export const REVERSED: ReadonlySet<string> = new Set(['if', 'not']);

/**
 * The same schema, in which whatever an object does not name is outside, unless the schema says what it may be. It goes by the place of a
 * schema and not by its key. Under all other keywords stand values; the validator refuses a keyword that it does not know.
 */
export function closedSchema(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedAt(key, value)]));
  const is_open = isOfObject(schema) && schema.additionalProperties === undefined;
  return is_open ? { ...parts, additionalProperties: false } : parts;
}

function closedAt(keyword: string, value: Json): Json {
  if (BY_NAME.has(keyword) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closedSchema(one)]));
  if (SCHEMAS.has(keyword)) return Array.isArray(value) ? value.map(closedSchema) : closedSchema(value);
  return value;
}

const isOfObject = ({ type }: JsonObject): boolean =>
  Array.isArray(type) ? type.includes('object') : type === 'object';

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
