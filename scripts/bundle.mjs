/** Makes the command line of dist/: `cli.cjs`, `lane-check.cjs`, and one script with all commands and what they need (`src/cli/bundle.ts` runs it). */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './setup.mjs';

const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const nameOf = (path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)[0];

/** These stay packages that are installed. All others become part of dist/. */
const packagesOutside = (outside) => ({
  name: 'packages-outside',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      outside(path) ? { path, external: true } : undefined,
    );
  },
});

export const isInstalled = (path) => Object.hasOwn({ ...dependencies, ...peerDependencies }, nameOf(path));

/** The library takes zod as it is installed: its declarations speak of it. A command starts faster with a copy of its own. */
export const libraryPackages = packagesOutside(isInstalled);
const commandPackages = packagesOutside((path) => isInstalled(path) && nameOf(path) !== 'zod');

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
};

const MAIN = 'src/cli/main.ts';
const isOurs = (path) => path.startsWith('src/');

/**
 * Writes the script to `chunks/`. Returns its name and the source files that it was made of. Each source file is an entry, so that
 * each becomes a part of its own.
 */
async function bundleCommands(outdir) {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: Object.fromEntries(ours().map((path) => [path.replaceAll('/', '-'), path])),
    plugins: [commandPackages],
    // In the other form jsonc-parser asks for its files by names that no bundler sees.
    mainFields: ['module', 'main'],
    outdir,
    write: false,
    splitting: true,
    minify: true,
    define: { 'import.meta.url': '__url' },
    metafile: true,
  });
  const outputs = Object.values(metafile.outputs).map((output, i) => ({ ...output, ...outputFiles[i] }));
  const reached = reachedFromMain(outputs);
  const parts = await Promise.all(reached.map(partOf));
  const script = ascii(`(__url=>({\n${parts.join(',\n')}\n}))`);
  const name = `commands-${createHash('sha256').update(script).digest('hex').slice(0, 16)}.js`;
  mkdirSync(join(outdir, 'chunks'), { recursive: true });
  writeFileSync(join(outdir, 'chunks', name), script);
  return { name, sources: reached.flatMap(({ inputs }) => Object.keys(inputs)) };
}

/** All that a command can be made of; what is in a browser is not. */
function ours() {
  return readdirSync(join(root, 'src'), { recursive: true })
    .map((path) => `src/${path.replaceAll(sep, '/')}`)
    .filter((path) => path.endsWith('.ts') && !/^src\/(console|audit\/browser)\//.test(path));
}

const fileName = (path) => `./${basename(path)}`;

/** What a command can ask for; the first is what every command begins with. */
function reachedFromMain(outputs) {
  const found = new Map(outputs.map((output) => [fileName(output.path), output]));
  const reached = new Set();
  const visit = (output) => {
    if (output === undefined || reached.has(output)) return;
    reached.add(output);
    for (const { path } of output.imports) visit(found.get(fileName(path)));
  };
  visit(outputs.find(({ entryPoint }) => entryPoint === MAIN));
  return [...reached];
}

/** One part. What it imports is asked for where it is used, and not before: a command uses little of all that it could. */
async function partOf(output, number, all) {
  const { transform } = await import('esbuild');
  const to = { platform: 'node', target: 'node20', format: 'cjs', supported: { 'dynamic-import': false } };
  const { code } = await transform(importedLater(exportsGiven(output), output), to);
  const { code: small } = await transform(importedAtUse(code), { ...to, minify: true });
  const numbered = small.trim().replace(/"(\.\/[^"]+\.js)"/g, (name, file) => {
    const found = all.findIndex(({ path }) => fileName(path) === file);
    return found === -1 ? name : `"${found}"`;
  });
  const [source = output.entryPoint] = Object.keys(output.inputs);
  return `${number}(__give,require,__later){/*${source}*/${numbered}}`;
}

/** What a part of ours exports never changes; of a package this is not known. */
function exportsGiven({ text, inputs, exports }) {
  const live = !Object.keys(inputs).every(isOurs);
  // A package that is no module is the default export of its part.
  const named = text.replace(/export default (\w+\(\));\s*$/, 'var __all=$1;export{__all as default};');
  const [code, list = ''] = named.split(/export\{([^}]*)\};\s*$/);
  const members = list === '' ? [] : list.split(',').map((one) => one.split(' as '));
  if (members.length !== exports.length) throw new Error('A part does not export what esbuild says.');
  const given = members.map(([local, name = local]) =>
    live ? `get ${name}(){return ${local}}` : `${name}:${local}`,
  );
  return `${code};__give({${given.join()}});`;
}

function importedLater(code, { imports }) {
  const later = imports.filter(({ kind }) => kind === 'dynamic-import');
  return later.reduce((told, { path, external }) => {
    const name = JSON.stringify(external ? path : fileName(path));
    return told.replaceAll(`import(${name})`, `__later(${name})`);
  }, code);
}

/** What is used only by its members. What is never used by name is not loaded at all: no part of ours does anything by being loaded. */
function importedAtUse(code) {
  let told = code;
  for (const [line, name, asked] of code.matchAll(/^var (import_\w+) = (.*require\("[^"]+"\).*);$/gm)) {
    const uses = told.split(new RegExp(`\\b${name}\\.`));
    if (uses.length + 1 !== told.split(new RegExp(`\\b${name}\\b`)).length) continue;
    told = uses.join(`(${name} ??= ${asked}).`).replace(line, uses.length === 1 ? '' : `var ${name};`);
  }
  return told;
}

/** One byte for each character is read fastest. esbuild leaves other characters only in regular expressions. */
function ascii(text) {
  if (/\\[^\0-\x7f]/.test(text)) throw new Error('A character that is not ASCII has a backslash before it.');
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The text is made here, once, by the code that would print it. */
async function helpText(outdir) {
  const { build } = await import('esbuild');
  const outfile = join(outdir, 'help.mjs');
  await build({ ...OPTIONS, entryPoints: [join(root, 'src/cli/help.ts')], packages: 'external', outfile });
  const { helpText } = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  return helpText();
}

/** What `cli.cjs` finds in the place of a source file. `lane check` is a file of its own: it is asked most often, and needs little. */
const replaced = (help) => ({
  name: 'replaced',
  setup(build) {
    const from = (importer) => importer.endsWith('/cli/cli.ts');
    build.onResolve({ filter: /\/(lane-check|main|help)\.ts$/ }, ({ path, importer }) => {
      if (!from(importer)) return undefined;
      if (path === './lane-check.ts') return { path: './lane-check.cjs', external: true };
      if (path === './main.ts') return { path: join(root, 'src/cli/bundle.ts') };
      return { path, namespace: 'text' };
    });
    build.onLoad({ filter: /./, namespace: 'text' }, () => ({
      contents: `export const helpText = () => ${JSON.stringify(help)};`,
    }));
  },
});

/** Returns the source files of all that was made. */
export async function bundleCommandLine(outdir) {
  const { build } = await import('esbuild');
  const [{ name, sources }, help] = await Promise.all([bundleCommands(outdir), helpText(outdir)]);
  await build({
    ...OPTIONS,
    entryPoints: { cli: join(root, 'src/cli/cli.ts'), 'lane-check': join(root, 'src/cli/lane-check.ts') },
    packages: 'external',
    plugins: [replaced(help)],
    outdir,
    // Modules would start later.
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    supported: { 'dynamic-import': false },
    banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href;" },
    define: { BUNDLE: JSON.stringify(name), 'import.meta.url': '__url' },
    minify: true,
  });
  return sources;
}
