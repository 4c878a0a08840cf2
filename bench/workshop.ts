import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Jobs } from './worker.ts';

export const ROOT = resolve(import.meta.dirname, '..');
/** The helper that starts children. It is found beside the bundle. */
export const STARTER = join(ROOT, 'src/effect/starter-process.ts');
export const CLI = join(ROOT, 'dist', 'cli.cjs');

export interface Workshop {
  /** On the disk of the project: a folder in memory would sync for nothing. */
  readonly folder: string;
  /** Does one job in a fresh process, perhaps under another program such as strace. */
  ask<J extends keyof Jobs>(
    job: J,
    options: Parameters<Jobs[J]>[0],
    under?: readonly string[],
  ): Promise<Awaited<ReturnType<Jobs[J]>>>;
}

/** Bundles the jobs with the library as dist/ is bundled. The folder is gone when the process is. */
export async function openWorkshop(): Promise<Workshop> {
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const worker = await bundled(join(import.meta.dirname, 'worker.ts'), join(folder, 'worker.mjs'));
  await bundled(STARTER, join(folder, 'starter-process.js'));
  return {
    folder,
    ask: async (job, options, under = []) => {
      const argv = [...under, process.execPath, worker, job, JSON.stringify(options)];
      return JSON.parse(await outputOf(argv));
    },
  };
}

/** As scripts/build.mjs makes dist/: what is imported by a call is a file of its own, loaded by that call. The packages stay outside. */
export async function bundled(entry: string, outfile: string): Promise<string> {
  const { dir, name, ext } = parse(outfile);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outdir: dir,
    entryNames: name,
    outExtension: { '.js': ext },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  return outfile;
}

function outputOf([program, ...args]: readonly string[]): Promise<string> {
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => {
      if (code === 0) done(Buffer.concat(chunks).toString());
      else failed(new Error(`${args.at(-2)} ended with ${code}`));
    });
  });
}
