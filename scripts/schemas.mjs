/** Writes schemas/cli.json from the schemas in src/cli/schema.ts. A test fails when the two differ. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { register } from 'tsx/esm/api';
import { root } from './setup.mjs';

register();
const { answerJsonSchema } = await import('../src/cli/schema.ts');
mkdirSync(join(root, 'schemas'), { recursive: true });
writeFileSync(join(root, 'schemas', 'cli.json'), `${JSON.stringify(answerJsonSchema(), null, 2)}\n`);
