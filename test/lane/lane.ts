import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { scratch } from '../support/scratch.ts';

const root = join(import.meta.dirname, '../..');

export interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface Setting {
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/** The real command line, bundled once for a test file and started as a process each time. */
export function commandLine(): {
  path: () => string;
  keyturn: (words: string[], setting?: Setting) => Promise<Answer>;
} {
  let folder = '';
  beforeAll(async () => {
    const cache = join(root, 'node_modules/.cache');
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, 'keyturn-lane-'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    await bundle(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = () => join(folder, 'cli.js');
  return { path, keyturn: (words, setting = {}) => start(process.execPath, [path(), ...words], setting) };
}

async function bundle(outdir: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: { cli: join(root, 'src/cli/cli.ts') },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
}

/** Without a terminal: setsid takes it away. */
export function start(program: string, args: string[], { input, cwd, env }: Setting = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
      stdio: 'pipe',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ stdout, stderr, code }));
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}

export const ID = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';
export const OTHER_ID = '0c9f2a11-58be-4d0e-9a43-1f6f0d5f2b77';
export const HASH = sha256('back up the photos');
export const OTHER_HASH = sha256('delete the photos');
export const TIME = '2026-01-15T12:00:00Z';

export type Line = Record<string, unknown> | string;

export interface Files {
  readonly pending?: readonly Line[];
  readonly approved?: readonly Line[];
  readonly executed?: readonly Line[];
}

/** A queue folder written by hand. A string is a line as it stands. */
export function folder(files: Files, at: string = scratch()): string {
  for (const [name, lines] of Object.entries(files)) {
    const text = (lines as Line[]).map(
      (line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`,
    );
    writeFileSync(join(at, `${name}.jsonl`), text.join(''));
  }
  return at;
}

export function approval(id: string = ID, hash: string = HASH, timestamp: string = TIME) {
  return { id, timestamp, hash };
}

export function execution(
  id: string = ID,
  outcome = 'success',
  exit_code: number | null = 0,
  timestamp = TIME,
) {
  return { id, timestamp, tool: 'create_backup', exit_code, outcome };
}

export function someone(): string {
  return randomUUID();
}

/** The lines of one queue file; nothing when there is no file. */
export function linesOf(queue: string, name: 'pending' | 'approved' | 'executed'): Record<string, unknown>[] {
  const path = join(queue, `${name}.jsonl`);
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
