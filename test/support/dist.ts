import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { cliPath } from './pty.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const DIST = join(ROOT, 'dist');
const SCRIPT: string = join(ROOT, 'scripts/build.mjs');
const PROBE = join(import.meta.dirname, 'scripts-loaded.cjs');

interface Builder {
  build(options: { types: boolean; dist: string }): Promise<void>;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether dist/ was made from what is there now. */
function isCurrent(): boolean {
  const made = join(DIST, 'cli.cjs');
  const scripts = readdirSync(dirname(SCRIPT)).map((name) => statSync(join(dirname(SCRIPT), name)).mtimeMs);
  return cliPath() === made && statSync(made).mtimeMs > Math.max(...scripts);
}

/** Not the compiled code, and not what an older build left for commands that had begun. */
function isOfThisBuild(path: string): boolean {
  return !path.includes('.js.cache') && statSync(path).mtimeMs !== 0;
}

/** A dist/ of its own for a test file, inside the project, where what stays outside of the bundles is found. */
export interface Dist {
  readonly folder: string;
  /** The command line as package.json names it. */
  readonly cli: string;
  run(words: readonly string[], options?: readonly string[]): Ran;
  /** Which files a command gave to V8 as code. */
  scripts(words: readonly string[], cwd?: string): string[];
  /** Which source files a command ran, by what it keeps of its code. */
  sources(words: readonly string[]): string[];
}

export function freshDist(): Dist {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.dist-test-'));
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const cli = join(folder, basename(bin.keyturn));
  beforeAll(async () => {
    if (isCurrent()) cpSync(DIST, folder, { recursive: true, filter: isOfThisBuild });
    else await ((await import(SCRIPT)) as Builder).build({ types: false, dist: folder });
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const start = (args: readonly string[], cwd = folder): Ran => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    return { code: status, stdout, stderr };
  };
  return {
    folder,
    cli,
    run: (words, options = []) => start([...options, cli, ...words]),
    scripts: (words, cwd) => JSON.parse(start(['--require', PROBE, cli, ...words], cwd).stderr),
    sources: (words) => sourcesRun(cli, () => start([cli, ...words])),
  };
}

function sourcesRun(cli: string, run: () => Ran): string[] {
  const [name] = /commands-[0-9a-f]+\.js/.exec(readFileSync(cli, 'utf8'))!;
  const script = join(dirname(cli), 'chunks', name);
  rmSync(`${script}.cache`, { force: true });
  const { code, stderr } = run();
  if (code !== 0) throw new Error(stderr);
  const DIGEST_BYTES = 32;
  const [parts] = readFileSync(`${script}.cache`).subarray(DIGEST_BYTES).toString('latin1').split('\n', 1);
  const ran = new Set<string>(JSON.parse(parts!));
  const named = readFileSync(script, 'latin1').matchAll(/^(\d+)\([^)]*\)\{\/\*(.*?)\*\//gm);
  return [...named].filter(([, part]) => ran.has(part!)).map(([, , source]) => source!);
}
