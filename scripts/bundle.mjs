/** Makes the command line of dist/: `cli.cjs`, `lane-check.cjs`, and one script with all commands and what they need (`src/cli/bundle.ts` runs it). */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Writes the script to `chunks/`. Returns its name and the source files that it was made of. */
async function bundleCommands(outdir) {
  const { build, transform } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: { main: join(root, 'src/cli/main.ts') },
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
  const parts = await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await transform(text, {
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        minify: true,
        supported: { 'dynamic-import': false },
      });
      const name = `./${path.slice(outdir.length + 1)}`;
      return `${JSON.stringify(name)}(exports,require,module){${code.trim()}}`;
    }),
  );
  const script = ascii(`(__url=>({\n${parts.join(',\n')}\n}))`);
  const name = `commands-${createHash('sha256').update(script).digest('hex').slice(0, 16)}.js`;
  mkdirSync(join(outdir, 'chunks'), { recursive: true });
  writeFileSync(join(outdir, 'chunks', name), script);
  return { name, sources: Object.keys(metafile.inputs) };
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
