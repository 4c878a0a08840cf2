import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { refuse } from '../../refusal.ts';
import type { Machine } from '../machine.ts';
import { OWN_MOUNTS } from '../sandbox.ts';

/** What the runner may see of the disk besides the system and itself. All paths are absolute and real. */
export interface Reach {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly cwd: string;
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
const MiB = 1024 * 1024;

/**
 * The command line of the runner. DuckDB's lock-down is the first wall; bubblewrap is the second: no network at all, and
 * nothing on disk but what this SQL needs, whatever DuckDB lets through and wherever a link leads.
 */
export function runnerCommand(machine: Machine | null, reach: Reach, limits: KernelLimits): string[] {
  const runner = findRunner();
  const node = [process.execPath, ...runner.options, runner.path];
  if (machine === null) return node;
  if (!machine.bwrap || !machine.prlimit) {
    refuse(
      'SANDBOX_UNAVAILABLE',
      'SQL runs under bubblewrap (bwrap) and prlimit, and this machine lacks one of them.',
    );
  }
  return [
    machine.bwrap,
    ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...machine.system.flatMap(({ path, link }) =>
      link === undefined ? readOnly(path) : ['--symlink', link, path],
    ),
    ...OWN_MOUNTS,
    ...[...runner.needs, ...reach.read].flatMap(readOnly),
    ...reach.write.flatMap((path) => ['--bind', path, path]),
    ...['--dir', reach.cwd, '--remount-ro', '/', '--chdir', reach.cwd],
    '--',
    machine.prlimit,
    `--data=${(limits.memory_mb + BASE_MEMORY_MB) * MiB}`,
    `--fsize=${limits.file_mb * MiB}`,
    '--core=0',
    '--',
    ...node,
  ];
}

function readOnly(path: string): string[] {
  return ['--ro-bind', path, path];
}

interface Runner {
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
