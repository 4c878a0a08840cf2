import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/canonical/json.ts';
import { requireHeldSchema, sizeOfSchema, sizeOfValue } from '../../src/journey/grant-schema.ts';
import { limits } from '../../src/limits.ts';
import { expectRefusal } from '../support/refusal.ts';

/** An object with such a member looks like a promise, so it is not written out. */
const THEN = 'then';
const INNER: JsonObject = { type: 'object', properties: { a: { type: 'integer' } } };
const root = (more: JsonObject): JsonObject => ({ type: 'object', properties: {}, ...more });
const member = (schema: Json) => root({ properties: { x: schema } });
const refused = (schema: JsonObject) =>
  expectRefusal('GRANT_BOUNDS_MALFORMED', () => requireHeldSchema(schema));

describe('a schema of a grant', () => {
  it('says nothing that the validator passes over, wherever it stands', async () => {
    for (const ignored of [
      ...[{ format: 'ipv4' }, { contentEncoding: 'base64' }, { contentMediaType: 'application/json' }],
      ...[{ contentSchema: INNER }, { minContains: 1 }, { unevaluatedProperties: false }, { madeUp: 1 }],
    ] as JsonObject[]) {
      const text: JsonObject = { type: 'string', ...ignored };
      for (const schema of [
        ...[{ ...root({}), ...ignored }, member(text), member({ type: 'array', items: [text] })],
        ...[member({ anyOf: [text] }), member({ not: text }), member({ if: text, [THEN]: false })],
        ...[root({ $defs: { a: text } }), root({ patternProperties: { a: text } })],
        root({ dependencies: { a: text } }),
      ])
        await refused(schema);
    }
  });

  it('is refused with every keyword that the validator knows and a grant does not hold', async () => {
    const ajv = new Ajv({ strict: true });
    const not_held: string[] = [];
    for (const keyword of Object.keys(ajv.RULES.keywords)) {
      const value = keyword === '$ref' ? '#/$defs/a' : keyword === '$id' ? 'x' : [];
      try {
        requireHeldSchema(root({ [keyword]: value }));
      } catch {
        not_held.push(keyword);
      }
    }
    expect(not_held.sort()).toEqual(
      [
        '$async',
        '$schema',
        '$vocabulary',
        'contentEncoding',
        'contentMediaType',
        'contentSchema',
        'format',
        'id',
      ].sort(),
    );
  });

  it('may name an argument like any keyword, and hold any value to choose from', () => {
    const names = ['format', '$id', '$ref', 'contentEncoding', '$anchor', 'uniqueItems', 'if'];
    for (const name of names) requireHeldSchema(root({ properties: { [name]: INNER } }));
    for (const keyword of ['const', 'default'])
      requireHeldSchema(member({ [keyword]: { format: 'x', $id: '#/a' } }));
    requireHeldSchema({
      $id: 'https://example.org/a',
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...root({}),
    });
  });

  it('gives itself no other name below its root, and no place of it', async () => {
    const closed = { type: 'object', properties: { x: { type: 'string' } } };
    const named = { $id: '#/definitions/foo', ...closed };
    const to = member({ $ref: '#/definitions/foo' });
    await refused({ ...to, if: named, [THEN]: true });
    await refused({ ...to, not: { not: named } });
    await refused(member(named));
    for (const word of ['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef', 'id'])
      await refused(member({ ...closed, [word]: 'foo' }));
    // The validator looks for names in these, too.
    for (const word of ['deprecated', 'examples', 'readOnly', 'title'])
      await refused(member({ [word]: named }));
    await refused({ ...to, $id: '#/definitions/foo' });
  });

  it('is refused where a reference leads to what is not closed, or is closed and must not be', async () => {
    for (const schema of [
      ...['http://json-schema.org/draft-07/schema#', '#', '#/properties/y/default', '#/properties/y/not'],
      ...['#/$defs/on%65', '#/$defs/a~1b', 7, {}],
    ].map(($ref) => member({ $ref } as JsonObject)))
      await refused({ ...schema, $defs: { one: INNER } });
    for (const schema of [
      member({ not: { $ref: '#/$defs/one' } }),
      member({ if: { allOf: [{ $ref: '#/$defs/one' }] }, [THEN]: false }),
    ])
      await refused({ ...schema, $defs: { one: INNER } });
  });

  it('does not lead back to itself', async () => {
    const again = { $ref: '#/$defs/a' };
    for (const $defs of [
      { a: { ...INNER, properties: { a: again } } },
      { a: { anyOf: [{ type: 'integer' }, { type: 'array', items: again }] } },
      { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: again },
    ] as Readonly<Record<string, JsonObject>>[])
      await expectRefusal('GRANT_BOUNDS_MALFORMED', () => sizeOfSchema({ ...member(again), $defs }));
  });

  it('is as large as all that its references lead to', async () => {
    const twice = (name: string): JsonObject => ({
      allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }],
    });
    const doubled = (times: number) => ({
      ...member(twice('d0')),
      $defs: Object.fromEntries(
        Array.from({ length: times }, (_, n) => [`d${n}`, n === times - 1 ? INNER : twice(`d${n + 1}`)]),
      ),
    });
    expect(sizeOfSchema(doubled(11))).toBeGreaterThan(2 * sizeOfSchema(doubled(10)) - 10);
    await expectRefusal('GRANT_BOUNDS_MALFORMED', () => sizeOfSchema(doubled(30)));
    await expectRefusal('GRANT_BOUNDS_MALFORMED', () => sizeOfSchema(doubled(limits.json_depth + 2)));
    expect(sizeOfSchema(root({ $defs: { unused: twice('unused') } }))).toBeLessThan(10);
  });

  it('compares the items of a list with each other only where they are scalars or few', async () => {
    for (const items of [undefined, {}, INNER, { type: ['string', 'array'] }, [{ type: 'string' }]])
      await refused(member({ type: 'array', uniqueItems: true, ...(items && { items }) } as JsonObject));
    requireHeldSchema(member({ type: 'array', uniqueItems: true, items: { type: ['string', 'null'] } }));
    const few = member({ type: 'array', uniqueItems: true, items: INNER, maxItems: 50 });
    requireHeldSchema(few);
    expect(sizeOfSchema(few)).toBeGreaterThan(50);
  });
});

describe('the size of a value', () => {
  it('counts what is in it, and its characters', () => {
    expect(sizeOfValue([1, true, null])).toBe(4);
    expect(sizeOfValue({ a: 'x'.repeat(320) })).toBeGreaterThan(12);
    expect(sizeOfValue({ a: 'x'.repeat(320) })).toBeLessThan(14);
  });
});
