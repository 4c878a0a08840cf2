import { constants } from 'node:os';
import { refuse } from '../refusal.ts';
import type { Outcome } from './child.ts';
import type { Machine, SystemPath } from './machine.ts';
import { contains, type Guard, mountPlan } from './mounts.ts';

/** What a tool may reach. `none` is no sandbox at all, and is shown loudly to whoever approves. */
export type Profile =
  | 'none'
  | { readonly network: boolean; readonly read: readonly string[]; readonly write: readonly string[] };

/** Limits of the kernel. `null` sets none. */
export interface Limits {
  readonly cpu_s: number;
  readonly file_mb: number;
  readonly open_files: number;
  /** Without a sandbox the kernel counts every process of the user, so it is then off unless asked for. */
  readonly processes: number | null;
  /** Writable private memory of each process (RLIMIT_DATA). The address space is not limited: node reserves a lot. */
  readonly memory_mb: number | null;
}

export interface Confinement {
  readonly profile: Profile;
  readonly limits: Limits | null;
  readonly cwd: string;
  readonly argv: readonly string[];
  /** The file that was hashed and is open as EXECUTABLE_FD, then its interpreters. `called` is how each is named. */
  readonly programs: readonly { readonly called: string; readonly path: string }[];
  /** Keyturn's own files: not even visible, and visible but writable by no tool. They exist. */
  readonly hidden: readonly Guard[];
  readonly protected: readonly Guard[];
}

const EXECUTABLE_FD = 3;
const STATUS_FD = 4;

/** Refuses before anything is claimed when the machine cannot give what the profile asks for. */
export function requireSandbox(profile: Profile, limits: Limits | null, machine: Machine): void {
  if (profile !== 'none' && !machine.bwrap) {
    refuse('SANDBOX_UNAVAILABLE', 'The tool asks for a sandbox, and bubblewrap (bwrap) is not installed.');
  }
  if (limits && !machine.prlimit) {
    refuse('SANDBOX_UNAVAILABLE', 'The tool has limits, and util-linux (prlimit) is not installed.');
  }
}

/** The command line that runs a tool confined. Pure. */
export function sandboxCommand(confinement: Confinement, machine: Machine): string[] {
  const { profile, limits, argv } = confinement;
  requireSandbox(profile, limits, machine);
  const limited = limits ? [machine.prlimit!, ...limitOptions(limits), '--', ...argv] : [...argv];
  if (profile === 'none') return limited;
  // prlimit runs inside: in its own user namespace the kernel counts only the sandbox's processes, so a limit on them
  // neither fails on a busy machine nor lets one tool starve another.
  return [machine.bwrap!, ...bwrapOptions(confinement, profile, machine), '--', ...limited];
}

function limitOptions(limits: Limits): string[] {
  const options = [
    '--core=0',
    `--cpu=${limits.cpu_s}`,
    `--fsize=${limits.file_mb * MiB}`,
    `--nofile=${limits.open_files}`,
  ];
  if (limits.processes !== null) options.push(`--nproc=${limits.processes}`);
  if (limits.memory_mb !== null) options.push(`--data=${limits.memory_mb * MiB}`);
  return options;
}

const MiB = 1024 * 1024;

function bwrapOptions(c: Confinement, profile: Exclude<Profile, 'none'>, machine: Machine): string[] {
  const shown = profile.network ? [...machine.system, ...machine.network] : machine.system;
  const mounts = mountPlan({
    read: profile.read,
    write: profile.write,
    hidden: c.hidden,
    protected: c.protected,
    pinned: c.programs.map((program) => program.path),
  });
  const covered = [...shown.map((s) => s.path), ...mounts.binds.map((b) => b.path)];
  return [
    '--unshare-all',
    ...(profile.network ? ['--share-net'] : []),
    '--die-with-parent',
    '--new-session', // no terminal of ours to type into
    ...['--cap-drop', 'ALL'], // as root a tool would keep them all, and could unmount what hides our files
    ...['--json-status-fd', String(STATUS_FD)],
    ...shown.flatMap(systemOption),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...mounts.options,
    ...interpreterOptions(c.programs.slice(1), covered),
    ...executableOptions(c.programs[0]!, covered),
    ...mounts.seals,
    ...(covered.some((folder) => contains(folder, c.cwd)) ? [] : ['--dir', c.cwd]),
    ...['--remount-ro', '/'],
    ...['--chdir', c.cwd],
  ];
}

function systemOption({ path, link }: SystemPath): string[] {
  return link === undefined ? ['--ro-bind', path, path] : ['--symlink', link, path];
}

/**
 * Binds the open file that was hashed at its own path: whatever name is put there meanwhile, this file runs.
 *
 * `--block-fd` reads one byte of it and then closes it, after all mounts are made. Left open, the tool could write to
 * its own executable through /proc/self/fd, where the read-only bind does not count; with `--sync-fd` it could do so
 * through /proc/1/fd.
 */
function executableOptions(program: Confinement['programs'][number], covered: readonly string[]): string[] {
  return [
    ...['--ro-bind', `/proc/self/fd/${EXECUTABLE_FD}`, program.path],
    ...['--block-fd', String(EXECUTABLE_FD)],
    ...linkOptions(program, covered),
  ];
}

/** Interpreters were approved with the tool, so they are shown wherever they live. */
function interpreterOptions(programs: Confinement['programs'], covered: readonly string[]): string[] {
  return programs.flatMap((program) => [
    ...(covered.some((folder) => contains(folder, program.path))
      ? []
      : ['--ro-bind', program.path, program.path]),
    ...linkOptions(program, covered),
  ]);
}

/** The name by which a program is called may be a link that the sandbox does not show. */
function linkOptions(program: Confinement['programs'][number], covered: readonly string[]): string[] {
  const { called, path } = program;
  if (called === path || covered.some((folder) => contains(folder, called))) return [];
  return ['--symlink', path, called];
}

/**
 * What an outcome of bubblewrap says about the tool. It reports an exit code only for a command that it started; if it
 * ended by itself without one, the tool never ran. It turns a signal into 128 + its number, as shells do.
 */
export function judgeSandboxed(outcome: Outcome): Outcome {
  if (!outcome.started || outcome.timed_out || outcome.aborted || outcome.exit_code === null) return outcome;
  if (!outcome.status?.includes('"exit-code"')) {
    const error = Buffer.from(outcome.stderr.bytes).toString('utf8').trim().split('\n').at(-1)!;
    return { ...outcome, started: false, exit_code: null, error };
  }
  // A tool may say 137 without having been killed. Taken as killed it blocks until a human looks: the safe mistake.
  return { ...outcome, signal: SIGNALS.get(outcome.exit_code - 128) ?? null };
}

const SIGNALS: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);
