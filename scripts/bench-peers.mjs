/** `npm run bench:peers`: installs the peers into bench/peers/node_modules on first use, then measures beside them. */

import { run, setup } from './setup.mjs';

await setup();
await setup('bench/peers');
process.exit(await run(process.execPath, ['--import', 'tsx', 'bench/peers/main.ts']));
