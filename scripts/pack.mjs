/**
 * `npm run package`: writes keyturn-VERSION.tgz, for `npm publish keyturn-VERSION.tgz`. It packs a copy, in which the links of README are whole
 * addresses: on the page of a registry there are no files beside it. The tree stays as it is, whatever fails.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { root, setup } from './setup.mjs';

/** The package as npm publishes it, as `tools.yaml` of a new project names it too. A folder there ends in a slash. */
export function withAddresses(page, version, isFolder) {
  const at = `https://unpkg.com/keyturn@${version}`;
  return page.replaceAll(
    /\]\((?![a-z]+:|#)([^)#]+)(#[^)]*)?\)/g,
    (_, path, part = '') => `](${at}/${path}${isFolder(path) ? '/' : ''}${part})`,
  );
}

/** Returns what npm tells of the file that it wrote. `beforePacking` may do something with the copy. */
export async function packInto(folder, { types = true, beforePacking = () => {} } = {}) {
  const stage = mkdtempSync(join(root, 'node_modules/.package-'));
  try {
    const { version, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const name of ['package.json', ...files])
      if (existsSync(join(root, name)) && name !== 'dist')
        cpSync(join(root, name), join(stage, name), { recursive: true });
    const readme = readFileSync(join(stage, 'README.md'), 'utf8');
    const isFolder = (path) => statSync(join(stage, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
    writeFileSync(join(stage, 'README.md'), withAddresses(readme, version, isFolder));
    await build({ types, dist: join(stage, 'dist') });
    beforePacking(stage);
    const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    return JSON.parse(execFileSync('npm', words, { cwd: stage, encoding: 'utf8' }))[0];
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--from-the-tree')) {
    console.error(
      'README of the tree has links that no registry follows. Run: npm run package, then npm publish FILE',
    );
    process.exit(1);
  }
  await setup();
  const { filename } = await packInto(root);
  console.log(filename);
}
