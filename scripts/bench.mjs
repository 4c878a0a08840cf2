/** `npm run bench`: builds, then prints the figures. */

import { build } from './build.mjs';
import { run, setup } from './setup.mjs';

await setup();
await build({ types: false });
const args = ['--expose-gc', '--import', 'tsx', 'bench/main.ts', ...process.argv.slice(2)];
process.exit(await run(process.execPath, args));
