/** Makes dist/console/: the page, its style and its scripts, each under a name that changes with its content, and the list of them with their digests. */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const FOLDER = join(root, 'src/console');
/** The build has written it already, and the package has it once. */
const AUDIT = '../audit.browser.js';
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** A page has no reasons of its own to explain: the service tells them. `keyturn/audit` is loaded apart, by whoever wants a proof. */
const ofConsole = {
  name: 'of-console',
  setup(build) {
    build.onResolve({ filter: /^\/console\/audit-/ }, ({ path }) => ({ path, external: true }));
    build.onResolve({ filter: /\/refusal\.ts$/ }, () => ({ path: join(FOLDER, 'refusal.ts') }));
  },
};

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
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: join(FOLDER, 'main.tsx') },
    outdir: join(outdir, 'console'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    plugins: [ofConsole, inBrowser],
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
  const main = [...files.keys()].find((path) => path.startsWith('/console/main-'));
  // All that the first screen needs is asked for at once.
  const needed = staticImports(metafile.outputs, main.slice('/console/'.length)).map(
    (name) => `/console/${name}`,
  );
  const page = readFileSync(join(FOLDER, 'page.html'), 'utf8')
    .replace('{{style}}', style)
    .replace('{{main}}', main)
    .replace('{{more}}', needed.map((path) => `<link rel="modulepreload" href="${path}">`).join('\n'));
  files.set('/', { bytes: Buffer.from(page), type: 'text/html; charset=utf-8' });
  write(join(outdir, 'console'), files);
  return Object.keys(metafile.inputs);
}

/** The chunks that this one imports, with theirs. */
function staticImports(outputs, entry) {
  const by_name = new Map(Object.entries(outputs).map(([path, output]) => [path.split('/').pop(), output]));
  const found = new Set();
  const visit = (name) => {
    for (const { path, kind } of by_name.get(name).imports) {
      const other = path.split('/').pop();
      if (kind !== 'import-statement' || found.has(other)) continue;
      found.add(other);
      visit(other);
    }
  };
  visit(entry);
  return [...found].sort();
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
