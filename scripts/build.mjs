/** Builds dist/: bundles by esbuild, declarations by tsc. `--no-types` leaves the declarations out. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
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

/**
 * Builds beside dist/ and then moves in, so that a command that starts meanwhile finds a whole build, the old one or the
 * new one. Chunks have their content in their names: the new ones are added first, then each entry is replaced by a
 * rename, and what no entry needs any more goes last.
 */
export async function build({ types = true, dist = join(root, 'dist') } = {}) {
  const fresh = mkdtempSync(join(root, 'node_modules/.dist-'));
  try {
    await bundle(fresh);
    if (types) {
      const args = ['-p', 'tsconfig.types.json', '--outDir', join(fresh, 'types')];
      if ((await runBin('typescript', 'tsc', args)) !== 0) throw new Error('tsc could not write the types');
    }
    moveIn(fresh, dist);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function moveIn(fresh, dist) {
  const files = filesIn(fresh).sort((a, b) => rank(a) - rank(b));
  for (const file of files) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(fresh, file), join(dist, file));
  }
  const made = new Set(files);
  for (const file of filesIn(dist)) if (!made.has(file)) retire(join(dist, file), rank(file) === 0);
}

/**
 * A command that began with the old entry may load an old chunk a moment later: so a chunk is marked first, by a time
 * that no build gives it, and goes with a later build. What is packed for others has none of them.
 */
function retire(path, is_chunk) {
  const { mtimeMs, ctimeMs } = statSync(path);
  const is_marked = mtimeMs === 0;
  const is_over = is_marked && ctimeMs < Date.now() - LOADING_MS;
  if (!is_chunk || is_over || process.env.npm_lifecycle_event === 'prepack') rmSync(path, { force: true });
  else if (!is_marked) utimesSync(path, 0, 0);
}

/** How long a command may take from its start to loading its last chunk. */
const LOADING_MS = 10 * 60_000;

/** Chunks before what imports them, and the command line after all that it could load. */
function rank(file) {
  if (file.startsWith('chunks/')) return 0;
  return file === 'cli.js' ? 2 : 1;
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
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
