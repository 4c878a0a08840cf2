import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { limits } from '../../limits.ts';
import { refuseMissing } from '../../optional.ts';
import { refuse } from '../../refusal.ts';
import { type Confined, openConfined } from '../confine.ts';
import { guardsOf } from '../guards.ts';
import type { Machine } from '../machine.ts';
import { ownProgram } from '../own-program.ts';
import { requireSandbox } from '../sandbox.ts';
import { GUARD_FD } from './job.ts';

/** What the runner may see of the disk besides the system and itself. All paths are absolute and real. */
export interface Reach {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly cwd: string;
  /** How many open databases it is given. */
  readonly guards?: number;
}

export interface KernelLimits {
  readonly memory_mb: number;
  readonly file_mb: number;
}

/**
 * Room for node and for DuckDB's code and threads. DuckDB's own limit misses some allocations, so the kernel's is needed. From
 * Node 24 on V8 maps several hundred megabytes more, which the kernel counts though they are unused.
 */
const BASE_MEMORY_MB = Number.parseInt(process.versions.node, 10) >= 24 ? 2048 : 1024;

/** What starts the runner. Without a sandbox nothing is open for it. */
export type RunnerCommand = Pick<Confined, 'argv' | 'fds' | 'filter' | 'close'>;

/**
 * The command line of the runner, with what it needs open. DuckDB's lock-down is the first wall; the sandbox is the
 * second: no network at all, and nothing on disk but what this SQL needs, whatever DuckDB lets through and wherever a link
 * leads. It runs as the user of Keyturn, because the databases are that user's.
 */
export function confineRunner(
  machine: Machine | null,
  reach: Reach,
  kernel: KernelLimits,
  runner: Runner = findRunner(),
): RunnerCommand {
  const argv = [process.execPath, ...runner.options, runner.path];
  if (machine === null) return { argv, fds: [], filter: undefined, close: () => {} };
  const { cwd, read, write, guards = 0 } = reach;
  const profile = { network: false, read: [...runner.needs, ...read], write };
  const bounds = {
    cpu_s: null, // it has a timeout
    file_mb: kernel.file_mb,
    open_files: limits.sandbox_open_files_default,
    processes: limits.sandbox_processes_default,
    memory_mb: kernel.memory_mb + BASE_MEMORY_MB,
    tmp_mb: limits.sandbox_tmp_mb_default,
  };
  requireSandbox(profile, bounds, machine);
  const { hidden } = guardsOf({ hidden: [], protected: [], read, write }, machine.findHidden);
  const confinement = { profile, limits: bounds, cwd, argv, programs: [], hidden, protected: [] };
  return openConfined({ ...confinement, first_fd: GUARD_FD + guards }, machine);
}

interface Runner {
  readonly path: string;
  readonly options: readonly string[];
  /** Files and folders that it must be able to read. */
  readonly needs: readonly string[];
}

/** Refuses where SQL cannot run: DuckDB is installed apart. */
export function requireSqlRunner(): void {
  findRunner();
}

function findRunner(): Runner {
  const program = ownProgram(import.meta.url, 'runner.ts', 'sql-runner.js');
  if (!program) return refuse('SQL_RUNNER_FAILED', 'The SQL runner is not part of this installation.');
  const { path, options } = program;
  const folder = dirname(path);
  const root = join(folder, '../../..');
  const needs = program.is_source
    ? [join(root, 'src'), ...manifests(root), ...packageFolders(path, ['@duckdb/node-api', 'tsx'])]
    : [folder, ...packageFolders(path, ['@duckdb/node-api'])];
  return { path, options, needs: [...needs, nodeItself()] };
}

function manifests(root: string): string[] {
  return ['package.json', 'tsconfig.json'].map((name) => join(root, name)).filter((path) => existsSync(path));
}

/** The outermost node_modules that holds each package: with some installers its dependencies are beside, not inside. */
function packageFolders(from: string, packages: readonly string[]): string[] {
  const folders = packages.map((name) => {
    const path = resolved(name, from);
    const end = path.indexOf(`${sep}node_modules${sep}`);
    return end < 0 ? dirname(path) : path.slice(0, end + `${sep}node_modules`.length);
  });
  return [...new Set(folders)];
}

function resolved(name: string, from: string): string {
  try {
    return createRequire(from).resolve(name);
  } catch (error) {
    return refuseMissing('@duckdb/node-api', error);
  }
}

function nodeItself(): string {
  return realpathSync(process.execPath);
}
