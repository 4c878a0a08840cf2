/**
 * `npm start`: installs, builds where that is needed, and plays with a project in `.playground/`: the service, an agent that proposes, and
 * you. `--at FOLDER` plays elsewhere; all other options go to `keyturn serve`.
 */

import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from './build.mjs';
import { root, setup } from './setup.mjs';

const modified = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether dist/ is newer than all that it is made of. */
function isBuilt() {
  const sources = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  const newest = Math.max(...['package.json', ...sources].map(modified));
  return ['dist/cli.cjs', 'dist/client.js', 'dist/console/assets.json'].every(
    (made) => modified(made) > newest,
  );
}

const options = process.argv.slice(2);
const at = options.indexOf('--at');
const [, folder = ''] = at === -1 ? ['--at', '.playground'] : options.splice(at, 2);

await setup();
if (!isBuilt()) {
  console.log('Building ...');
  await build({ types: false });
}
const { play } = await import('../demo/playground.mjs');
process.exit(await play(resolve(root, folder), options));
