import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..', '..');
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

/** A build of its own for a test file, inside the project, where what stays outside of the bundles is found. */
export interface Dist {
  readonly folder: string;
  /** The command line as package.json names it. */
  readonly cli: string;
  run(words: readonly string[], options?: readonly string[]): Ran;
  /** Which files a command gave to V8 as code. */
  scripts(words: readonly string[], cwd?: string): string[];
}

export function freshDist(): Dist {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.dist-test-'));
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const cli = join(folder, basename(bin.keyturn));
  beforeAll(async () => {
    await ((await import(SCRIPT)) as Builder).build({ types: false, dist: folder });
  }, 60_000);
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
  };
}
