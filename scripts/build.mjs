/** Builds dist/: bundles by esbuild, declarations by tsc. `--no-types` leaves the declarations out. */

import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, runBin, setup } from './setup.mjs';

const ENTRIES = {
  cli: 'src/cli/cli.ts',
  'lane-check': 'src/cli/lane-check.ts',
  keyturn: 'src/keyturn.ts',
  ledger: 'src/ledger/index.ts',
  'sql-runner': 'src/effect/sql/runner.ts',
};

const SHEBANG = '#!/usr/bin/env node\n';

function entryPoints() {
  const found = Object.entries(ENTRIES).filter(([, source]) => existsSync(join(root, source)));
  for (const [name, source] of Object.entries(ENTRIES)) {
    if (!existsSync(join(root, source))) console.warn(`No dist/${name}.js: ${source} does not exist.`);
  }
  return Object.fromEntries(found.map(([name, source]) => [name, join(root, source)]));
}

function makeExecutable(file) {
  if (!existsSync(file)) return;
  const text = readFileSync(file, 'utf8');
  if (!text.startsWith('#!')) writeFileSync(file, SHEBANG + text);
  chmodSync(file, 0o755);
}

/** `lane check` is built apart: its own small bundle starts faster than one that shares chunks with everything else. */
const apart = {
  name: 'lane-check-apart',
  setup(build) {
    build.onResolve({ filter: /\/lane-check\.ts$/ }, ({ importer }) =>
      importer.endsWith('/cli/cli.ts') ? { path: './lane-check.js', external: true } : undefined,
    );
  },
};

async function bundle(outdir) {
  const { 'lane-check': laneCheck, ...entries } = entryPoints();
  await bundleEntries(outdir, entries, [apart]);
  await bundleEntries(outdir, { 'lane-check': laneCheck }, []);
  makeExecutable(join(outdir, 'cli.js'));
}

async function bundleEntries(outdir, entryPoints, plugins) {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints,
    plugins,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    legalComments: 'none',
    logLevel: 'warning',
  });
}

/** Builds beside dist/ and then swaps: a command that runs meanwhile sees the old build or the new one, not half. */
export async function build({ types = true } = {}) {
  const dist = join(root, 'dist');
  const fresh = mkdtempSync(join(root, 'node_modules/.dist-'));
  try {
    chmodSync(fresh, 0o755);
    await bundle(fresh);
    if (types) {
      const args = ['-p', 'tsconfig.types.json', '--outDir', join(fresh, 'types')];
      if ((await runBin('typescript', 'tsc', args)) !== 0) throw new Error('tsc could not write the types');
    }
    rmSync(dist, { recursive: true, force: true });
    renameSync(fresh, dist);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setup();
  try {
    await build({ types: !process.argv.includes('--no-types') });
  } catch (error) {
    console.error(error.message.split('\n', 1)[0]);
    process.exit(1);
  }
}
