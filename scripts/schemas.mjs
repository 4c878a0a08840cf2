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

/** One definition a line. The others are one line: they are for programs, and indented they have up to three times the bytes. */
function byLine({ $defs, ...head }) {
  const lines = Object.entries($defs).map(
    ([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(schema)}`,
  );
  return `${JSON.stringify(head).slice(0, -1)},"$defs":{\n${lines.join(',\n')}\n}}`;
}

const schemas = {
  'cli.json': answerJsonSchema(),
  'lane.json': laneJsonSchema(),
  'tools.json': registryJsonSchema(readFileSync(join(root, 'docs', 'tools.md'), 'utf8')),
  ...inputJsonSchemas(),
  ...reportJsonSchemas(),
};
mkdirSync(join(root, 'schemas'), { recursive: true });
for (const [name, schema] of Object.entries(schemas))
  writeFileSync(
    join(root, 'schemas', name),
    `${name === 'cli.json' ? byLine(schema) : JSON.stringify(schema)}\n`,
  );
writeFileSync(join(root, 'schemas', 'keyturn.cedarschema'), CEDAR_SCHEMA);
writeFileSync(join(root, 'docs', 'api.md'), `${apiPage()}${surfacePage()}`);
