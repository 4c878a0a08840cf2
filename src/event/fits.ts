import type * as z from 'zod';
import type { $ZodType, $ZodTypes } from 'zod/v4/core';
import { isSameJson } from '../canonical/json.ts';

/** Whether a value that JSON.parse made is one that a schema takes, and leaves as it is. */
export type Fits = (value: unknown) => boolean;

/**
 * The schema as functions that only look: no copy is made, and no issue is collected. A ledger is mostly read, and what was written fits. What
 * does not fit here, the schema itself is asked about; so this must take nothing that the schema refuses, and may leave the rest to it.
 */
export function fitsOf(schema: $ZodType): Fits {
  const { def } = (schema as $ZodTypes)._zod;
  switch (def.type) {
    case 'lazy':
      return later(() => fitsOf(def.getter()));
    case 'nullable':
      return orNull(fitsOf(def.innerType));
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'enum': {
      const known = new Set<unknown>(Object.values(def.entries));
      return (value) => known.has(value);
    }
    case 'union': {
      const options = def.options.map(fitsOf);
      return (value) => options.some((fits) => fits(value));
    }
    case 'string':
      return stringFits(def) ?? asked(schema);
    case 'object':
      return objectFits(def) ?? asked(schema);
    default:
      return asked(schema);
  }
}

/** What it takes and leaves as it is, the schema says itself. */
function asked(schema: $ZodType): Fits {
  return (value) => {
    const { success, data } = (schema as z.ZodType).safeParse(value);
    return success && isSameJson(data, value);
  };
}

function orNull(inner: Fits): Fits {
  return (value) => value === null || inner(value);
}

/** Made when it is first asked: some lists of words are long. */
function later(make: () => Fits): Fits {
  let made: Fits | null = null;
  return (value) => {
    made ??= make();
    return made(value);
  };
}

type Def<T extends $ZodTypes['_zod']['def']['type']> = Extract<$ZodTypes['_zod']['def'], { type: T }>;

/** A text of one pattern, which most are. */
function stringFits(def: Def<'string'>): Fits | null {
  const [check, ...more] = def.checks ?? [];
  const { pattern } = (check?._zod.def ?? {}) as { readonly pattern?: RegExp };
  // A pattern with a flag may look at where it ended before.
  if (pattern?.flags !== '' || more.length > 0 || 'format' in def || 'coerce' in def) return null;
  return (value) => typeof value === 'string' && pattern.test(value);
}

/** An object with these members and no others. */
function objectFits(def: Def<'object'>): Fits | null {
  const is_strict = (def.catchall as $ZodTypes | undefined)?._zod.def.type === 'never';
  const shapes = Object.entries(def.shape);
  const is_whole = shapes.every(([, shape]) => shape._zod.optin === undefined);
  if (!is_strict || !is_whole || (def.checks ?? []).length > 0) return null;
  const names = shapes.map(([name]) => name);
  const members = shapes.map(([, shape]) => fitsOf(shape));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    // A member that is missing is undefined, which no schema here takes.
    for (let i = 0; i < names.length; i++) if (!members[i]!(value[names[i]! as never])) return false;
    return Object.keys(value).length === names.length;
  };
}
