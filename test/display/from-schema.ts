import fc from 'fast-check';
import type { z } from 'zod';

/** Values of a schema, made from the schema itself: a field that is added to it is in them from then on. */
export function valuesOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = schema._zod as unknown as { def: Def };
  switch (def.type) {
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return fc.oneof(
        fc.string({ minLength: 1, maxLength: 12 }),
        fc.constantFrom('a b', '-x', 'a\\x1b', 'ä\x1b'),
      );
    case 'number':
      return fc.integer({ min: 1, max: 100_000 });
    case 'array':
      return fc.array(valuesOf(def.element), { minLength: 1, maxLength: 3 });
    case 'tuple':
      return fc.tuple(...def.items.map(valuesOf));
    case 'record':
      return fc.dictionary(fc.stringMatching(/^[a-z_]{1,6}$/), valuesOf(def.valueType), {
        minKeys: 1,
        maxKeys: 3,
      });
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(def.shape).map(([key, inner]) => [key, valuesOf(inner)])),
      );
    case 'union':
      return fc.oneof(...def.options.map(valuesOf));
    case 'nullable':
      return fc.option(valuesOf(def.innerType), { nil: null });
    case 'optional':
    case 'default':
    case 'prefault':
    case 'readonly':
      return valuesOf(def.innerType);
    case 'pipe':
      return valuesOf(def.in);
    case 'custom':
    case 'lazy':
      return fc.jsonValue({ maxDepth: 2 });
    default:
      throw new Error(`no values are known for a schema of type ${def.type}`);
  }
}

/** As much of a definition as is read above. */
interface Def {
  readonly type: string;
  readonly values: readonly (string | number)[];
  readonly entries: Readonly<Record<string, string>>;
  readonly element: z.core.$ZodType;
  readonly items: readonly z.core.$ZodType[];
  readonly valueType: z.core.$ZodType;
  readonly shape: Readonly<Record<string, z.core.$ZodType>>;
  readonly options: readonly z.core.$ZodType[];
  readonly innerType: z.core.$ZodType;
  readonly in: z.core.$ZodType;
}

type Path = readonly (string | number)[];

/** Every place of a value that holds no further value, and every list that an entry can be taken from. */
export function placesOf(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value))
    return [...(value.length > 1 ? [path] : []), ...value.flatMap((item, i) => placesOf(item, [...path, i]))];
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => placesOf(item, [...path, key]));
  return value === null || value === undefined ? [] : [path];
}

/** Another value at one place: text stays text, a number a number, and a list loses its last entry. */
export function changedAt<T>(value: T, [key, ...rest]: Path): T {
  if (key === undefined) return other(value) as T;
  const inner = (value as Record<string | number, unknown>)[key];
  const after = changedAt(inner, rest);
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? after : item)) as T;
  return { ...value, [key]: after };
}

function other(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, -1);
  if (typeof value === 'string') return SWITCHED.get(value) ?? `${value}~`;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 1 : -value;
  if (typeof value === 'boolean') return !value;
  return value;
}

/** The same value with one field from another one, for each field in which the two differ. */
export function mixtures<T extends object>(value: T, from: T): [field: string, mixed: T][] {
  const fields = [...new Set([...Object.keys(value), ...Object.keys(from)])] as (keyof T & string)[];
  return fields
    .filter((field) => JSON.stringify(value[field]) !== JSON.stringify(from[field]))
    .map((field) => [field, { ...value, [field]: from[field] }]);
}

/** Words of a closed list: another one of it. */
const SWITCHED: ReadonlyMap<string, string> = new Map([
  ['exact', 'none'],
  ['compensating', 'none'],
  ['none', 'exact'],
]);
