import type { Json } from '../../canonical/json.ts';
import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { TakeMemory } from '../reused-memory.ts';
import { applyEdit, type EditResult } from './apply.ts';
import { type FormatHints, formatOf } from './format.ts';
import { parsePlain } from './json-plain.ts';
import type { SchemaOperation } from './operation.ts';
import { openText, textOf } from './splice.ts';
import { readYamlJson } from './yaml-document.ts';

/** SCHEMA_UPDATE: one edit of a JSON or YAML schema. The result must be a valid JSON Schema of its dialect. */
export async function applySchemaUpdate(
  bytes: Uint8Array,
  operation: SchemaOperation,
  hints: FormatHints = {},
  take?: TakeMemory,
): Promise<EditResult> {
  const result = applyEdit(bytes, operation, hints, take);
  const text = textOf(openText(result.bytes));
  const schema =
    operation.type === 'yaml_update'
      ? readYamlJson(text, operation.document)
      : parsePlain(text, formatOf(hints) === 'jsonc');
  await checkSchema(schema);
  return result;
}

/** Refuses what is not a JSON Schema. Only the meta-schema is compiled, never the schema: its text is not ours. */
export async function checkSchema(schema: Json): Promise<void> {
  refuseLongArrays(schema);
  const check = await checkerOf(dialectOf(schema));
  if (check(schema) === true) return;
  const [problem] = check.errors ?? [];
  refuse('SCHEMA_INVALID', `At "${problem?.instancePath ?? ''}": ${problem?.message ?? 'not a schema'}.`);
}

const ADDRESSES = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
} as const;

type Dialect = keyof typeof ADDRESSES;

function dialectOf(schema: Json): Dialect {
  if (typeof schema === 'boolean') return '2020-12';
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    refuse('SCHEMA_INVALID', 'A schema is an object or a boolean.');
  if (!Object.hasOwn(schema, '$schema')) return '2020-12';
  const name = (schema as { readonly $schema?: Json }).$schema;
  const address = typeof name === 'string' ? name.replace(/#$/, '') : '';
  const dialect = (Object.keys(ADDRESSES) as Dialect[]).find((known) => ADDRESSES[known] === address);
  return dialect ?? refuse('SCHEMA_DIALECT_UNKNOWN', `The dialect ${JSON.stringify(name)} is not known.`);
}

/**
 * The meta-schema of a dialect, ready to check a schema. The library compiles its own copy without formats, so a
 * broken `pattern` would pass; this compiles it once more as an ordinary schema. Imported late: it is large, and only
 * a schema update needs it.
 */
async function checkerOf(dialect: Dialect) {
  const Library = await libraryOf(dialect);
  const checker = new Library({ ...OPTIONS, meta: false, formats: { regex: isPattern } });
  for (const [id, known] of Object.entries(new Library(OPTIONS).schemas)) {
    if (known !== undefined) checker.addSchema(known.schema, id);
  }
  return checker.getSchema(ADDRESSES[dialect]) ?? refuse('INTERNAL', `No meta-schema for ${dialect}.`);
}

const OPTIONS = { strict: false, logger: false, validateSchema: false } as const;

/** By `default`, which is all that a bundle of a CommonJS module exports. */
async function libraryOf(dialect: Dialect) {
  if (dialect === '2020-12') return (await import('ajv/dist/2020.js')).default.Ajv2020;
  if (dialect === '2019-09') return (await import('ajv/dist/2019.js')).default.Ajv2019;
  return (await import('ajv')).default.Ajv;
}

/** Compiled to see whether it can be, and never run. */
function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Some dialects compare all pairs of a list: half a million values would take hours. */
function refuseLongArrays(schema: Json): void {
  const open: Json[] = [schema];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const inner: readonly Json[] = Array.isArray(value) ? value : Object.values(value);
    if (Array.isArray(value) && inner.length > editLimits.schema_array_items)
      refuse('SCHEMA_INVALID', `A list in the schema has ${inner.length} items.`);
    for (const item of inner) open.push(item);
  }
}
