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
import { bundleCommandLine, isInstalled, libraryPackages } from './bundle.mjs';
import { bundleConsole } from './console.mjs';
import { root, runBin, setup } from './setup.mjs';

const AUDIT = 'src/audit/index.ts';

const ENTRIES = {
  keyturn: 'src/index.ts',
  audit: AUDIT,
  'sql-runner': 'src/effect/sql/runner.ts',
  'plan-aside': 'src/plan/aside/process.ts',
  'store-aside': 'src/journey/store-process.ts',
  'starter-process': 'src/effect/starter-process.ts',
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

async function bundle(outdir) {
  const sources = [...(await bundleEntries(outdir, entryPoints())), ...(await bundleCommandLine(outdir))];
  await bundleForBrowser(join(outdir, 'audit.browser.js'));
  const audit = readFileSync(join(outdir, 'audit.browser.js'));
  sources.push(...(await bundleConsole(outdir, inBrowser, audit)));
  addLicences(join(outdir, 'LICENSES.txt'), sources);
  await bundleClient(join(outdir, 'client.js'));
  makeExecutable(join(outdir, 'cli.cjs'));
}

const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Returns the source files that it was made of. */
async function bundleEntries(outdir, entryPoints) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    plugins: [libraryPackages],
    // In the other form jsonc-parser asks for its files by names that no bundler sees.
    mainFields: ['module', 'main'],
    // Some packages ask for modules of Node by "require", which a module does not have.
    banner: { js: REQUIRE },
    // Names stay and lines are short, so that a stack trace can be read: indented, the package would take more than 60 MB.
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return Object.keys(metafile.inputs);
}

/**
 * What a browser has not is taken from `src/audit/browser/`. A module of Node that only signing or a file needs falls away with what
 * imports it; where one is really used, the build fails.
 */
const inBrowser = {
  name: 'in-browser',
  setup(build) {
    build.onResolve({ filter: /\/primitive\.ts$/ }, () => ({
      path: join(root, 'src/audit/browser/primitive.ts'),
    }));
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
  },
};

/** `keyturn/audit` as one file that a page can load, with all that it needs. Returns what esbuild tells of its parts. */
export async function bundleForBrowser(outfile) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, AUDIT)],
    outfile,
    plugins: [inBrowser],
    inject: [join(root, 'src/audit/browser/buffer.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const [output] = Object.values(metafile.outputs);
  const used = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const missing = output.imports.map(({ path }) => path);
  if (missing.length > 0) throw new Error(`keyturn/audit uses ${missing.join(', ')}, which no browser has.`);
  addLicences(
    `${outfile}.LICENSES.txt`,
    used.map(([path]) => path),
  );
  return { reached: Object.keys(metafile.inputs), used: used.map(([path]) => path) };
}

/** `keyturn/client` as one file for Node, a browser and whatever else has fetch. All that it imports is types, or the build fails. */
async function bundleClient(outfile) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'src/client/client.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    metafile: true,
    logLevel: 'warning',
  });
  const foreign = Object.keys(metafile.inputs).filter((path) => !path.startsWith('src/client/'));
  if (foreign.length > 0) throw new Error(`keyturn/client contains ${foreign.join(', ')}.`);
}

/** The licences of the packages that a bundle contains ask to be passed on with it. */
function addLicences(file, sources) {
  const names = sources.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const texts = [...new Set(names.filter((name) => name !== undefined))].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const licence = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${licence ? readFileSync(join(folder, licence), 'utf8').trim() : license}`;
  });
  writeFileSync(file, `${texts.join('\n\n\n')}\n`);
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
      keepPublicTypes(join(fresh, 'types'));
    }
    moveIn(fresh, dist);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Leaves the declarations that those of the library, the audit and the client speak of. One that names a package which is not installed is not checked. */
function keepPublicTypes(folder) {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(join(folder, file), 'utf8');
    const names = [...text.matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)].map(([, name]) => name);
    const is_checked = names.every((name) => /^(\.|node:)/.test(name) || isInstalled(name));
    writeFileSync(join(folder, file), `${is_checked ? '' : '// @ts-nocheck\n'}${shortened(text)}`);
    for (const name of names)
      if (name.startsWith('.')) visit(join(dirname(file), name).replace(/\.[jt]s$/, '.d.ts'));
  };
  for (const entry of ['index.d.ts', 'audit/index.d.ts', 'client/client.d.ts']) visit(entry);
  for (const file of filesIn(folder)) if (!reached.has(file)) rmSync(join(folder, file));
}

/** The same declarations, of which a third was indentation and the name of one package. */
function shortened(text) {
  const short = text.replaceAll(/^ +(?! \*)/gm, '').replaceAll('import("zod").', 'zod_.');
  return short.includes('zod_.') ? `import type * as zod_ from 'zod';\n${short}` : short;
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
  if (file.startsWith('chunks/') || /^console\/.*\.(js|css)$/.test(file)) return 0;
  return file === 'cli.cjs' ? 2 : 1;
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
