import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCRIPT } from './plan-crash.ts';

/** What a run or a rollback writes, told by the path beneath the root. Most of it is written under a temporary name. */
const KINDS: Readonly<Record<string, RegExp>> = {
  archive: /^agent_outputs\/archive\//,
  backup: /^agent_outputs\/reports\/[^/]+\/backups\//,
  head: /^\.keyturn\/head$/,
  journal: /\/journal\.jsonl$/,
  ledger: /^\.keyturn\/store\.db(-wal)?$/,
  log: /^agent_logs\//,
  manifest: /\.kt-[0-9a-f]+-manifest-[0-9a-f]+$/,
  'new file': /\.kt-[0-9a-f]+-\d+$/,
  report: /^agent_outputs\/reports\/[^/]+\/\.[0-9a-f]+$/,
  'restored file': /\.kt-[0-9a-f]+-r-[0-9a-f-]+$/,
};

const PRELOAD = fileURLToPath(new URL('../support/full-disk.mjs', import.meta.url));

export interface FileWrite {
  /** Null for a file that a run has beside what it keeps, such as a lock. */
  readonly kind: string | null;
  readonly failed: boolean;
}

/** The nth write of a kind, and how it finds the disk full: see full-disk.mjs. */
export interface Full {
  readonly kind: string;
  readonly nth: number;
  readonly how: 'once' | 'short' | 'lasting';
}

/** The writes of a task by node to files of the project, in order. SQLite writes the ledger by itself. */
export function writesOf(root: string, task: readonly string[], full?: Full): FileWrite[] {
  return withFolder((folder) => {
    const FULL_LIST = join(folder, 'writes');
    const at = full && JSON.stringify({ ...full, pattern: KINDS[full.kind]!.source });
    spawnSync(process.execPath, ['--import', PRELOAD, SCRIPT, root, ...task], {
      stdio: 'ignore',
      env: { ...process.env, FULL_ROOT: realpathSync(root), FULL_LIST, ...(at && { FULL_AT: at }) },
    });
    const lines = readFileSync(FULL_LIST, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const { path, failed } = JSON.parse(line) as { path: string; failed: boolean };
      return { kind: kindOf(path), failed };
    });
  });
}

/** The same as the kernel sees it: the kinds of files that a task writes to, in each of its processes. */
export function kindsWritten(root: string, task: readonly string[]): string[] {
  return withFolder((folder) => {
    const trace = join(folder, 'calls');
    const calls = 'trace=write,writev,pwrite64,pwritev,pwritev2,copy_file_range,sendfile';
    spawnSync('strace', [
      '-f',
      '-qq',
      '-y',
      '-o',
      trace,
      '-e',
      calls,
      process.execPath,
      SCRIPT,
      root,
      ...task,
    ]);
    const within = `<${realpathSync(root)}/`;
    const paths = readFileSync(trace, 'utf8')
      .split('\n')
      .flatMap((line) => line.split(within)[1]?.split('>')[0] ?? []);
    return kindsOf(paths.map((path) => ({ kind: kindOf(path) })));
  });
}

export const kindsOf = (writes: readonly Pick<FileWrite, 'kind'>[]): string[] =>
  [...new Set(writes.flatMap(({ kind }) => kind ?? []))].sort();

function withFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-writes-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function kindOf(path: string): string | null {
  return Object.keys(KINDS).find((kind) => KINDS[kind]!.test(path)) ?? null;
}
