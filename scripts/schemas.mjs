/** Writes schemas/ and docs/api.md from the schemas in src/; what the keys of tools.yaml mean is read from docs/tools.md. Tests fail when they differ. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { register } from 'tsx/esm/api';
import { root } from './setup.mjs';
import { surfacePage } from './surface.mjs';

register();
const { answerJsonSchema } = await import('../src/cli/schema.ts');
const { laneJsonSchema } = await import('../src/cli/lane-schema.ts');
const { inputJsonSchemas } = await import('../src/plan/input/json-schema.ts');
const { reportJsonSchemas } = await import('../src/plan/report/json-schema.ts');
const { apiPage } = await import('../src/face/api.ts');
const { registryJsonSchema } = await import('../src/tool/json-schema.ts');
const { CEDAR_SCHEMA } = await import('../src/policy/schema.ts');

const schemas = {
  'cli.json': answerJsonSchema(),
  'lane.json': laneJsonSchema(),
  'tools.json': registryJsonSchema(readFileSync(join(root, 'docs', 'tools.md'), 'utf8')),
  ...inputJsonSchemas(),
  ...reportJsonSchemas(),
};
mkdirSync(join(root, 'schemas'), { recursive: true });
for (const [name, schema] of Object.entries(schemas))
  writeFileSync(join(root, 'schemas', name), `${JSON.stringify(schema, null, 2)}\n`);
writeFileSync(join(root, 'schemas', 'keyturn.cedarschema'), CEDAR_SCHEMA);
writeFileSync(join(root, 'docs', 'api.md'), `${apiPage()}${surfacePage()}`);
