/** Makes dist/console/: the page, its style and its scripts, each under a name that changes with its content, and the list of them with their digests. */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const FOLDER = join(root, 'src/console');
/** The build has written it already, and the package has it once. */
const AUDIT = '../audit.browser.js';
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

const LIMITS = join(root, 'src/limits.ts');

/** The limits that these files ask for, as `list.name`. A file that uses a list in another way is refused: what it asks for is not known. */
async function limitsAskedFor(paths) {
  const { transform } = await import('esbuild');
  const asked = new Set();
  for (const path of paths) {
    const loader = path.endsWith('x') ? 'tsx' : 'ts';
    // Without types and comments.
    const { code } = await transform(readFileSync(path, 'utf8'), { loader, jsx: 'preserve' });
    const [imported, names] = /^import \{([^}]*)\} from "[./]*\/limits\.ts";$/m.exec(code) ?? [];
    if (imported === undefined) throw new Error(`${path} imports limits.ts, but not by name.`);
    for (const list of names.match(/\w+/g))
      for (const [use, name] of code
        .replace(imported, '')
        .matchAll(new RegExp(`(?<![\\w.])${list}\\b(\\.\\w+)?`, 'g'))) {
        if (name === undefined) throw new Error(`${path} uses ${list} as a whole.`);
        asked.add(use);
      }
  }
  return asked;
}

/** The lists with these limits alone. A module is in one script whole, and all lists together are a twentieth of the first screen. */
async function onlyLimits(asked) {
  const { transform } = await import('esbuild');
  const { code } = await transform(readFileSync(LIMITS, 'utf8'), { loader: 'ts' });
  const lists = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return Object.entries(lists)
    .map(([list, all]) => {
      const kept = Object.entries(all).filter(([name]) => asked.has(`${list}.${name}`));
      return `export const ${list} = ${JSON.stringify(Object.fromEntries(kept))};\n`;
    })
    .join('');
}

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** A page has no reasons of its own to explain: the service tells them. `keyturn/audit` is loaded apart, by a page that wants a proof. */
const ofConsole = {
  name: 'of-console',
  setup(build) {
    build.onResolve({ filter: /^\/console\/audit-/ }, ({ path }) => ({ path, external: true }));
    build.onResolve({ filter: /\/refusal\.ts$/ }, () => ({ path: join(FOLDER, 'refusal.ts') }));
  },
};

/**
 * What is loaded later imports all of the first screen. So everything that the first screen needs has the same users, and esbuild
 * puts it into one file: one answer to wait for, which compresses better than twelve.
 */
const firstInOneFile = (later) => ({
  name: 'first-in-one-file',
  setup(build) {
    const main = join(FOLDER, 'main.tsx');
    build.onResolve({ filter: /^first-screen$/ }, () => ({ path: main }));
    build.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (!later.has(path)) return null;
      const contents = `${readFileSync(path, 'utf8')}\nimport 'first-screen';\n`;
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
});

/** Gives the modules of a build these contents for `limits.ts`. */
const shortLimits = (contents) => ({
  name: 'short-limits',
  setup(build) {
    build.onLoad({ filter: /\/src\/limits\.ts$/ }, () => ({ contents, loader: 'js' }));
  },
});

/** `audit` is the text of `keyturn/audit` for a browser. Returns the source files that the console was made of. */
export async function bundleConsole(outdir, inBrowser, audit) {
  const { build, transform } = await import('esbuild');
  const files = new Map();
  const add = (name, bytes) => {
    const path = `/console/${name.replace(/(\.\w+)$/, `-${digestOf(bytes).slice(0, 16)}$1`)}`;
    files.set(path, { bytes: Buffer.from(bytes), type: TYPES[name.split('.').pop()] });
    return path;
  };
  const audit_path = add('audit.js', audit);
  const options = {
    absWorkingDir: root,
    entryPoints: { main: join(FOLDER, 'main.tsx') },
    outdir: join(outdir, 'console'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    inject: [join(root, 'src/audit/browser/buffer.ts')],
    define: { AUDIT_PATH: JSON.stringify(audit_path) },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  };
  const plugins = [ofConsole, inBrowser];
  const apart = await build({ ...options, plugins });
  const later = Object.values(apart.metafile.inputs).flatMap(({ imports }) =>
    imports.flatMap(({ path, kind, external }) =>
      kind === 'dynamic-import' && !external ? [join(root, path)] : [],
    ),
  );
  const users = Object.entries(apart.metafile.inputs).filter(([, { imports }]) =>
    imports.some(({ path }) => path === 'src/limits.ts'),
  );
  const limits = await onlyLimits(await limitsAskedFor(users.map(([path]) => join(root, path))));
  const { outputFiles, metafile } = await build({
    ...options,
    // The import runs nothing, and is there for its users alone.
    logOverride: { 'ignored-bare-import': 'silent' },
    plugins: [shortLimits(limits), firstInOneFile(new Set(later)), ...plugins],
  });
  for (const { path, contents } of outputFiles)
    files.set(`/console/${path.split('/').pop()}`, { bytes: Buffer.from(contents), type: TYPES.js });
  const foreign = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ external, path }) => external && path !== audit_path).map(({ path }) => path),
  );
  if (foreign.length > 0) throw new Error(`The console uses ${foreign.join(', ')}, which no browser has.`);
  const css = await transform(readFileSync(join(FOLDER, 'style.css'), 'utf8'), {
    loader: 'css',
    minify: true,
  });
  const style = add('style.css', css.code);
  // What esbuild calls the entry only imports the one file that holds all of the first screen.
  const entry = Object.keys(metafile.outputs).find((path) => /\/main-\w+\.js$/.test(path));
  const [first, ...others] = metafile.outputs[entry].imports.map(({ path }) => path.split('/').pop());
  if (!first || others.length > 0) throw new Error('The first screen of the console is not one file.');
  files.delete(`/console/${entry.split('/').pop()}`);
  const page = readFileSync(join(FOLDER, 'page.html'), 'utf8')
    .replace('{{style}}', style)
    .replace('{{main}}', `/console/${first}`);
  files.set('/', { bytes: Buffer.from(page), type: 'text/html; charset=utf-8' });
  write(join(outdir, 'console'), files);
  return Object.keys(metafile.inputs);
}

function write(folder, files) {
  mkdirSync(folder, { recursive: true });
  const list = [...files].map(([path, { bytes, type }]) => {
    const file =
      path === '/'
        ? 'page.html'
        : path.startsWith('/console/audit-')
          ? AUDIT
          : path.slice('/console/'.length);
    if (file !== AUDIT) writeFileSync(join(folder, file), bytes);
    return { path, file, type, sha256: digestOf(bytes) };
  });
  list.sort((a, b) => (a.path < b.path ? -1 : 1));
  writeFileSync(join(folder, 'assets.json'), `${JSON.stringify(list, null, 1)}\n`);
}
