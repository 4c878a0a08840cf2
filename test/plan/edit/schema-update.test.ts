import { describe, expect, it } from 'vitest';
import { schemaOperationSchema } from '../../../src/plan/edit/operation.ts';
import { applySchemaUpdate, checkSchema } from '../../../src/plan/edit/schema-update.ts';
import { expectRefusal } from '../../support/refusal.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

async function update(text: string, operation: object, path = 'schema.json'): Promise<string> {
  const result = await applySchemaUpdate(Buffer.from(text), schemaOperationSchema.parse(operation), { path });
  return Buffer.from(result.bytes).toString();
}

const add = (value: unknown) => ({
  type: 'json_add_property',
  path: '$.properties',
  key: 'new_field',
  value,
});

describe('a schema update', () => {
  it.each([null, DRAFT_07, DRAFT_2019, DRAFT_2020])(
    'with the dialect %s keeps the writing of the file',
    async (dialect) => {
      const named = dialect === null ? '' : `\n  "$schema": ${JSON.stringify(dialect)},`;
      const schema = `{${named}\n  "properties": { "id": {"type": "integer"} }\n}\n`;
      expect(await update(schema, add({ type: 'string' }))).toBe(
        schema.replace('"integer"} }', '"integer"}, "new_field": { "type": "string" } }'),
      );
    },
  );

  it.each([null, DRAFT_07, DRAFT_2019, DRAFT_2020])(
    'with the dialect %s refuses what is no schema',
    async (dialect) => {
      const schema = JSON.stringify({ ...(dialect && { $schema: dialect }), properties: {} });
      for (const wrong of [
        { type: 'strng' },
        { required: 'a' },
        { minimum: '1' },
        { pattern: '(' },
        5,
        null,
      ]) {
        await expectRefusal('SCHEMA_INVALID', () => update(schema, add(wrong)));
      }
    },
  );

  it('what one dialect allows another may not', async () => {
    const items = { items: [{ type: 'string' }] };
    await update(JSON.stringify({ $schema: DRAFT_07, properties: {} }), add(items));
    await expectRefusal('SCHEMA_INVALID', () => update('{"properties": {}}', add(items)));
  });

  it('a YAML schema is read as YAML', async () => {
    const yaml = 'type: object # root\nproperties:\n  id:\n    type: integer\n';
    const operation = { type: 'yaml_update', path: 'properties.id.type', value: 'string' };
    expect(await update(yaml, operation, 'schema.yaml')).toBe(yaml.replace('integer', 'string'));
    const wrong = { ...operation, value: 'text' };
    await expectRefusal('SCHEMA_INVALID', () => update(yaml, wrong, 'schema.yaml'));
  });

  it('comments are accepted where the file may have them', async () => {
    const schema = '{ // c\n  "properties": {},\n}';
    expect(await update(schema, add(true), 'schema.jsonc')).toContain('// c');
  });

  it.each(['http://json-schema.org/draft-04/schema#', 'https://example.com/my-dialect', 7])(
    'the dialect %s is not known',
    async (dialect) => {
      const operation = { type: 'json_update_value', path: '$.$schema', value: dialect };
      const bracketed = { ...operation, path: "$['$schema']" };
      await expectRefusal('SCHEMA_DIALECT_UNKNOWN', () => update('{"$schema": "x"}', bracketed));
    },
  );

  it('the edit itself is refused for its own reason', async () => {
    await expectRefusal('EDIT_KEY_EXISTS', () => update('{"properties": {"new_field": true}}', add(true)));
  });

  it('a list whose check would take hours is refused', async () => {
    const values = Array.from({ length: 10_001 }, (_, i) => i);
    await expectRefusal('SCHEMA_INVALID', () => checkSchema({ $schema: DRAFT_07, enum: values }));
    await checkSchema({ $schema: DRAFT_07, enum: values.slice(1) });
  });

  it('a schema is an object or a boolean', async () => {
    await checkSchema(true);
    for (const value of [null, 5, 'x', []]) await expectRefusal('SCHEMA_INVALID', () => checkSchema(value));
  });

  it('a schema is checked and never compiled', async () => {
    // Compiling would follow the reference or run the pattern.
    await checkSchema({ $ref: 'http://127.0.0.1:1/other.json', pattern: '(a+)+$' });
  });
});
