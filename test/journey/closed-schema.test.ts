import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/canonical/json.ts';
import { closedSchema } from '../../src/journey/closed-schema.ts';

const ajv = new Ajv({ strict: true, strictRequired: false, validateFormats: false });
const KEYWORDS = Object.keys(ajv.RULES.keywords);
/** An object with such a member looks like a promise, so it is not written out. */
const THEN = 'then';
const INNER: JsonObject = { type: 'object', properties: { a: { type: 'integer' } } };

/** Whether a grant with this schema takes the value. */
const takes = (schema: JsonObject, value: Json) => ajv.compile(closedSchema(schema) as JsonObject)(value);
const root = (more: JsonObject): JsonObject => ({ type: 'object', properties: {}, ...more });
const member = (schema: JsonObject) => root({ properties: { x: schema } });

/** For each keyword under which a schema stands: a schema with INNER there, and where a value puts what INNER is for. */
const PLACES: Readonly<Record<string, { readonly schema: JsonObject; readonly put: (inner: Json) => Json }>> =
  {
    properties: { schema: member(INNER), put: (x) => ({ x }) },
    patternProperties: { schema: root({ patternProperties: { '^x': INNER } }), put: (x) => ({ xy: x }) },
    additionalProperties: { schema: root({ additionalProperties: INNER }), put: (x) => ({ any: x }) },
    items: { schema: member({ type: 'array', items: INNER }), put: (x) => ({ x: [x] }) },
    contains: { schema: member({ type: 'array', contains: INNER }), put: (x) => ({ x: [x] }) },
    allOf: { schema: member({ allOf: [INNER] }), put: (x) => ({ x }) },
    anyOf: { schema: member({ anyOf: [{ type: 'string' }, INNER] }), put: (x) => ({ x }) },
    oneOf: { schema: member({ oneOf: [{ type: 'string' }, INNER] }), put: (x) => ({ x }) },
    [THEN]: {
      schema: member({ if: { type: 'object' }, [THEN]: INNER, else: { type: 'string' } }),
      put: (x) => ({ x }),
    },
    else: {
      schema: member({ if: { type: 'string' }, [THEN]: { maxLength: 3, type: 'string' }, else: INNER }),
      put: (x) => ({ x }),
    },
    dependencies: {
      schema: root({ properties: { a: {}, b: {} }, dependencies: { a: INNER } }),
      put: (x) => x,
    },
    $defs: { schema: { ...member({ $ref: '#/$defs/one' }), $defs: { one: INNER } }, put: (x) => ({ x }) },
    definitions: {
      schema: { ...member({ $ref: '#/definitions/one' }), definitions: { one: INNER } },
      put: (x) => ({ x }),
    },
  };

describe('the schema of a grant', () => {
  it('takes no member that it does not name, under any keyword that holds a schema', () => {
    for (const [keyword, { schema, put }] of Object.entries(PLACES)) {
      expect(takes(schema, put({ a: 1 })), keyword).toBe(true);
      expect(takes(schema, put({ a: 1, b: 2 })), keyword).toBe(false);
    }
  });

  it('takes none in a list of schemas for items, or in an object that may be null', () => {
    const items = member({ type: 'array', items: [INNER], minItems: 1, additionalItems: false });
    for (const [schema, put] of [
      [items, (x: Json) => ({ x: [x] })],
      [member({ ...INNER, type: ['object', 'null'] }), (x: Json) => ({ x })],
      [member({ ...INNER, nullable: true }), (x: Json) => ({ x })],
    ] as const) {
      expect(takes(schema, put({ a: 1 }))).toBe(true);
      expect(takes(schema, put({ a: 1, b: 2 }))).toBe(false);
    }
  });

  it('is closed whatever an argument is called, also like a keyword', () => {
    const names = [
      ...KEYWORDS,
      'default',
      'const',
      'enum',
      'examples',
      'constructor',
      'toString',
      '__proto__',
    ];
    for (const name of names) {
      const named = JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(INNER)}}`) as JsonObject;
      const value = (inner: Json) =>
        JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(inner)}}`) as JsonObject;
      const schema = root({ properties: named });
      // The validator reads no property of the name __proto__, so such a member is always outside.
      expect(takes(schema, value({ a: 1 })), name).toBe(name !== '__proto__');
      expect(takes(schema, value({ a: 1, b: 2 })), name).toBe(false);
      // Of a definition with one of these names the validator takes no reference.
      if (name === '__proto__' || name === '$id') continue;
      const defined = { ...member({ $ref: `#/$defs/${name}` }), $defs: named };
      expect(takes(defined, { x: { a: 1 } }), name).toBe(true);
      expect(takes(defined, { x: { a: 1, b: 2 } }), name).toBe(false);
    }
  });

  it('keeps values as they are: what may be chosen is not a schema', () => {
    const chosen = { type: 'object', properties: 1 };
    for (const schema of [{ const: chosen }, { enum: [chosen] }]) {
      expect(takes(member(schema), { x: chosen })).toBe(true);
      expect(takes(member(schema), { x: { ...chosen, additionalProperties: false } })).toBe(false);
    }
    const hints = { default: chosen, examples: [chosen] };
    expect(closedSchema(hints)).toEqual(hints);
  });

  it('refuses under "not" and chooses by "if" just what was signed, and no less', () => {
    const danger: JsonObject = { type: 'object', properties: { how: { const: 'wipe' } }, required: ['how'] };
    const members = { how: { type: 'string' }, more: {} };
    const not = root({ properties: members, not: danger });
    expect(takes(not, { how: 'read', more: 1 })).toBe(true);
    expect(takes(not, { how: 'wipe', more: 1 })).toBe(false);
    const chosen = root({ properties: members, if: danger, [THEN]: false });
    expect(takes(chosen, { how: 'read', more: 1 })).toBe(true);
    expect(takes(chosen, { how: 'wipe', more: 1 })).toBe(false);
  });
});
