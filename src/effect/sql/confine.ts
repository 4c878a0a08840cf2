import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { type Confined, openConfined } from '../confine.ts';
import { guardsOf } from '../guards.ts';
import type { Machine } from '../machine.ts';
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
 * Node 24 on V8 maps several hundred megabytes more, which the kernel counts though nobody uses them.
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

export interface Runner {
  readonly path: string;
  readonly options: readonly string[];
  /** Files and folders that it must be able to read. */
  readonly needs: readonly string[];
}

/** In the source tree the runner is TypeScript beside this file. In a build it is dist/sql-runner.js, maybe one folder up. */
function findRunner(): Runner {
  const here = dirname(fileURLToPath(import.meta.url));
  const source = join(here, 'runner.ts');
  if (existsSync(source)) return fromSource(source);
  const built = [join(here, 'sql-runner.js'), join(dirname(here), 'sql-runner.js')].find((path) =>
    existsSync(path),
  );
  if (!built) return refuse('SQL_RUNNER_FAILED', 'The SQL runner is not part of this installation.');
  const path = realpathSync(built);
  return {
    path,
    options: [],
    needs: [dirname(path), ...packageFolders(path, ['@duckdb/node-api']), nodeItself()],
  };
}

function fromSource(source: string): Runner {
  const loader = createRequire(source).resolve('tsx');
  const root = join(dirname(source), '../../..');
  return {
    path: source,
    options: ['--import', pathToFileURL(loader).href],
    needs: [
      join(root, 'src'),
      ...manifests(root),
      ...packageFolders(source, ['@duckdb/node-api', 'tsx']),
      nodeItself(),
    ],
  };
}

function manifests(root: string): string[] {
  return ['package.json', 'tsconfig.json'].map((name) => join(root, name)).filter((path) => existsSync(path));
}

/** The outermost node_modules that holds each package: with some installers its dependencies are beside, not inside. */
function packageFolders(from: string, packages: readonly string[]): string[] {
  const folders = packages.map((name) => {
    const path = createRequire(from).resolve(name);
    const end = path.indexOf(`${sep}node_modules${sep}`);
    return end < 0 ? dirname(path) : path.slice(0, end + `${sep}node_modules`.length);
  });
  return [...new Set(folders)];
}

function nodeItself(): string {
  return realpathSync(process.execPath);
}
