import type { Json, JsonObject } from '../canonical/json.ts';
import { limits, mcpLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { BY_NAME, REVERSED, SCHEMAS } from './closed-schema.ts';

/** Keywords that the validator holds or that limit nothing, with a value that is neither an object nor a schema. */
const PLAIN: ReadonlySet<string> = new Set([
  ...[
    '$comment',
    'deprecated',
    'description',
    'nullable',
    'pattern',
    'readOnly',
    'required',
    'title',
    'type',
  ],
  ...['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf', 'uniqueItems', 'writeOnly'],
  ...['maxItems', 'maxLength', 'maxProperties', 'minItems', 'minLength', 'minProperties'],
]);

/** Keywords with any value. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** Keywords that say something of the whole document. Elsewhere `$id` would change where a reference leads. */
const AT_ROOT: ReadonlySet<string> = new Set(['$id', '$schema']);

/** Of a definition: anything else, such as a value or a schema that the validator brings, is not closed. No escapes: each name has one form. */
const REFERENCE = /^#\/(\$defs|definitions)\/([^/%~]+)$/;

interface Place {
  readonly is_root: boolean;
  /** The keyword under which what fits is refused or meant for another branch, if it stands under one. */
  readonly reversed: string | null;
}

/**
 * Refuses what a grant cannot hold: the validator passes over `format` and what a text is said to contain, so a human would sign for a limit
 * that is none; and `$id`, `$anchor` and their kind lead references to what is not closed.
 */
export function requireHeldSchema(schema: Json, place: Place = { is_root: true, reversed: null }): void {
  if (!isObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) requireHeld(keyword, value, place);
  requireShortLists(schema);
}

function requireHeld(keyword: string, value: Json, { is_root, reversed }: Place): void {
  const inside = { is_root: false, reversed: REVERSED.has(keyword) ? keyword : reversed };
  if (keyword === '$ref') {
    if (typeof value !== 'string' || !REFERENCE.test(value))
      malformed('A $ref of the schema has to be #/$defs/NAME or #/definitions/NAME.');
    // What a reference leads to is closed, since others may mean it, too.
    if (reversed !== null) malformed(`The schema has a $ref under "${reversed}".`);
  } else if (BY_NAME.has(keyword)) {
    if (isObject(value)) for (const one of Object.values(value)) requireHeldSchema(one, inside);
  } else if (SCHEMAS.has(keyword) || REVERSED.has(keyword)) {
    for (const one of Array.isArray(value) ? value : [value]) requireHeldSchema(one, inside);
  } else if (AT_ROOT.has(keyword)) {
    if (!is_root || typeof value !== 'string' || (keyword === '$id' && value.includes('#')))
      malformed(`The schema has "${keyword}" where it may not stand.`);
  } else if (VALUES.has(keyword)) {
    if (keyword === 'examples' && isObject(value)) malformed('"examples" of the schema is no list.');
  } else if (!PLAIN.has(keyword) || isObject(value))
    malformed(`The schema says "${keyword}", and a grant does not hold that.`);
}

/** Each item is compared with every other one, unless all are scalars. */
function requireShortLists({ uniqueItems, maxItems, items }: JsonObject): void {
  if (uniqueItems !== true || typeof maxItems === 'number') return;
  const { type } = isObject(items) ? items : {};
  const types: readonly Json[] = Array.isArray(type) ? type : [type ?? 'object'];
  if (types.length === 0 || types.includes('object') || types.includes('array'))
    malformed('The schema says "uniqueItems" of a list whose items are no scalars, without "maxItems".');
}

/**
 * How many places a value is compared with at most, each reference counted with all that it leads to. A schema that leads back to itself has no
 * such number: one value can then take as many comparisons as there are ways through the schema, so it is refused.
 */
export function sizeOfSchema(root: JsonObject): number {
  const known = new Map<string, number>();
  const within = new Set<string>();
  const sizeOfTarget = (reference: string): number => {
    const found = known.get(reference);
    if (found !== undefined) return found;
    if (within.has(reference)) malformed(`The $ref ${reference} of the schema leads back to itself.`);
    if (within.size >= limits.json_depth) malformed('References of the schema lead too far.');
    within.add(reference);
    const [, defined = '', name = ''] = REFERENCE.exec(reference) ?? [];
    const size = sizeOf((root[defined] as JsonObject | undefined)?.[name] ?? true);
    within.delete(reference);
    known.set(reference, size);
    return size;
  };
  const sizeAt = (keyword: string, value: Json, schema: JsonObject): number => {
    if (keyword === '$ref') return sizeOfTarget(value as string);
    if (keyword === '$defs' || keyword === 'definitions') return 0;
    if (keyword === 'uniqueItems' && typeof schema.maxItems === 'number') return schema.maxItems;
    if (BY_NAME.has(keyword)) return sum(Object.values(value as JsonObject).map(sizeOf));
    if (SCHEMAS.has(keyword) || REVERSED.has(keyword))
      return sum((Array.isArray(value) ? value : [value]).map(sizeOf));
    return sizeOfValue(value);
  };
  const sizeOf = (schema: Json): number => {
    if (!isObject(schema)) return sizeOfValue(schema);
    const size = 1 + sum(Object.entries(schema).map(([keyword, value]) => sizeAt(keyword, value, schema)));
    return size <= mcpLimits.grant_steps
      ? size
      : malformed('The schema is too large with all its references.');
  };
  return sizeOf(root);
}

/** What it costs to look at a value once: each value in it, and its characters, which are looked at faster. */
export function sizeOfValue(value: Json): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS;
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) return 1 + sum(value.map(sizeOfValue));
  return 1 + sum(Object.entries(value).map(([key, one]) => sizeOfValue(key) + sizeOfValue(one)));
}

/** Characters that are counted in the time of one comparison. */
const CHARACTERS = 32;

const sum = (sizes: readonly number[]) => sizes.reduce((all, one) => all + one, 0);

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(words: string): never {
  return refuse('GRANT_BOUNDS_MALFORMED', words);
}
