/** `npm run demo`: installs, builds, and shows the whole journey in a scratch folder. */

import { build } from './build.mjs';
import { run, setup } from './setup.mjs';

await setup();
console.log('Building ...');
await build({ types: false });
process.exit(await run(process.execPath, ['demo/demo.mjs', ...process.argv.slice(2)]));
