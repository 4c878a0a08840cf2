/** `npm run bench`: builds, then prints the figures. */

import { build } from './build.mjs';
import { run, setup } from './setup.mjs';
import { printLoudly, systemPackages } from './system.mjs';

await setup();
printLoudly(await systemPackages({ exhaustive: true }));
await build({ types: false });
const args = ['--expose-gc', '--import', 'tsx', 'bench/main.ts', ...process.argv.slice(2)];
process.exit(await run(process.execPath, args));
