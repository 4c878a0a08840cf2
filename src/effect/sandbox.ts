import { constants } from 'node:os';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { ChildOutcome } from './child.ts';
import type { Machine, SystemPath } from './machine.ts';
import { contains, type Guard, mountOptions, mountsFor, ownMounts } from './mounts.ts';
import { callFilter } from './seccomp/filter.ts';
import { sandboxFault } from './trial.ts';
import { ownUser, type RunUser } from './user.ts';

/** What a tool may reach. `none` is no sandbox at all, and is an alarm on the approver's screen. */
export type Profile =
  | 'none'
  | { readonly network: boolean; readonly read: readonly string[]; readonly write: readonly string[] };

/** Limits of the kernel. `null` sets none. */
export interface Limits {
  readonly cpu_s: number | null;
  readonly file_mb: number;
  readonly open_files: number;
  /** Without a sandbox the kernel counts every process of the user, so it is then off unless asked for. */
  readonly processes: number | null;
  /** Writable private memory of each process (RLIMIT_DATA). The address space is not limited: node reserves a lot. */
  readonly memory_mb: number | null;
  /** Of /tmp and of /dev/shm, each a file system of the sandbox's own, in memory. */
  readonly tmp_mb: number | null;
}

export interface Confinement {
  readonly profile: Profile;
  readonly limits: Limits | null;
  readonly cwd: string;
  readonly argv: readonly string[];
  /** The file that was hashed and is open, then its interpreters. `called` is how each is named. */
  readonly programs: readonly { readonly called: string; readonly path: string }[];
  /** Keyturn's own files: not even visible, and visible but writable by no tool. */
  readonly hidden: readonly Guard[];
  readonly protected: readonly Guard[];
  /** The number of the first descriptor that the child has for the sandbox. */
  readonly first_fd?: number;
  /** The child has the lock of its run open, after the filter and the status. */
  readonly has_lock?: boolean;
}

/** A command line, and what the child must have open for it: the sources in their order, then the filter, then the status. */
export interface Command {
  readonly argv: readonly string[];
  readonly sources: readonly BindSource[];
  /** The filter of system calls, for `runChild`. Without a sandbox there is none. */
  readonly filter: Uint8Array | undefined;
}

/** What is bound. Names are looked up again at each use; an open file stays what was looked at. */
export interface BindSource {
  readonly path: string;
  /** One of the programs that were hashed. */
  readonly program: boolean;
}

const FIRST_FD = 3;

/** Refuses before anything is claimed when the machine cannot give what the profile asks for. */
export function requireSandbox(
  profile: Profile,
  limits: Limits | null,
  machine: Machine,
  user: RunUser = ownUser(),
): void {
  if (!machine.proc) {
    refuse(
      'SANDBOX_UNAVAILABLE',
      'Tools run only on Linux with /proc: what is open can be held on to only there.',
    );
  }
  requirePrograms(profile, limits, machine);
  if (profile === 'none') return;
  const fault = (machine.sandboxFault ?? sandboxFault)(machine, user);
  if (fault !== null) refuse('SANDBOX_UNAVAILABLE', fault);
}

function requirePrograms(profile: Profile, limits: Limits | null, machine: Machine): void {
  if (profile !== 'none' && !machine.bwrap) {
    refuse('SANDBOX_UNAVAILABLE', 'The tool asks for a sandbox, and bubblewrap (bwrap) is not installed.');
  }
  if (limits && !machine.prlimit) {
    refuse('SANDBOX_UNAVAILABLE', 'The tool has limits, and util-linux (prlimit) is not installed.');
  }
}

/** The command line that runs a tool confined. Pure. */
export function sandboxCommand(confinement: Confinement, machine: Machine): Command {
  const { profile, argv } = confinement;
  requirePrograms(profile, confinement.limits, machine);
  const limited = confinement.limits
    ? [machine.prlimit!, ...limitOptions(confinement.limits), '--', ...argv]
    : [...argv];
  if (profile === 'none') {
    return { argv: [...untilParentDies(machine), ...limited], sources: [], filter: undefined };
  }
  // prlimit runs inside: in its own user namespace the kernel counts only the sandbox's processes, so a limit on them
  // neither fails on a busy machine nor lets one tool starve another.
  const sources: BindSource[] = [];
  const options = bwrapOptions(confinement, profile, machine, sources);
  const next = (confinement.first_fd ?? FIRST_FD) + sources.length;
  const told = ['--seccomp', String(next), '--json-status-fd', String(next + 1)];
  // bubblewrap itself holds it until the sandbox has ended, and the tool gets nothing of it.
  if (confinement.has_lock) told.push('--sync-fd', String(next + 2));
  const filter = machine.callFilter?.() ?? callFilter(process.arch);
  return {
    argv: [machine.bwrap!, ...options, ...told, '--', ...apart(machine), ...limited],
    sources,
    filter,
  };
}

/** A tool that signals its own process group must not reach bubblewrap, which is in the group that a stop kills. */
function apart({ setsid }: Machine): string[] {
  return setsid ? [setsid] : [];
}

/**
 * Without a sandbox nothing else ends a tool whose Keyturn was killed. It reaches only the tool's first process, and not
 * one that changed its user: so `effect/run-lock.ts` tells whether something still runs.
 */
function untilParentDies({ setpriv }: Machine): string[] {
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}

function limitOptions(limits: Limits): string[] {
  const options = ['--core=0', `--fsize=${limits.file_mb * MiB}`, `--nofile=${limits.open_files}`];
  if (limits.cpu_s !== null) options.push(`--cpu=${limits.cpu_s}`);
  if (limits.processes !== null) options.push(`--nproc=${limits.processes}`);
  if (limits.memory_mb !== null) options.push(`--data=${limits.memory_mb * MiB}`);
  return options;
}

const MiB = 1024 * 1024;

/** Adds to `sources` what must be open. bwrap closes each when it is bound, so the tool inherits none of them. */
function bwrapOptions(
  c: Confinement,
  profile: Exclude<Profile, 'none'>,
  machine: Machine,
  sources: BindSource[],
): string[] {
  const first = c.first_fd ?? FIRST_FD;
  const open = (program: boolean) => (path: string) => String(first - 1 + sources.push({ path, program }));
  const shown = profile.network ? [...machine.system, ...machine.network] : machine.system;
  const mounts = mountsFor({
    read: profile.read,
    write: profile.write,
    hidden: c.hidden,
    protected: c.protected,
    pinned: c.programs.map((program) => program.path),
    system: shown.map((s) => s.path),
  });
  const system = shown.map((s) => s.path);
  const covered = [...system, ...mounts.binds.map((b) => b.path)];
  const bound = c.programs.filter(({ path }, i) => i === 0 || !isInAny(system, path));
  return [
    '--unshare-all',
    ...(profile.network ? ['--share-net'] : []),
    '--die-with-parent',
    // Not --new-session: `runChild` starts a session without a terminal, and kills its group. bubblewrap would leave that group
    // before it asks to die with its parent; a kill in between would leave the sandbox running.
    ...['--cap-drop', 'ALL'], // as root a tool would keep them all, and could unmount what hides our files
    ...shown.flatMap(systemOption),
    ...ownMounts(c.limits?.tmp_mb ?? limits.sandbox_tmp_mb_default, machine.key_lists),
    ...mounts.binds.flatMap((bind) => mountOptions(bind, open(false))),
    // At their own paths: whatever name is put there meanwhile, the files that were hashed run. Interpreters were
    // approved with the tool, so they are shown wherever they live.
    ...bound.flatMap(({ path }) => ['--ro-bind-fd', open(true)(path), path]),
    ...c.programs.flatMap((program) => linkOptions(program, covered)),
    ...mounts.seals,
    ...(isInAny(covered, c.cwd) ? [] : ['--dir', c.cwd]),
    ...['--remount-ro', '/'],
    ...['--chdir', c.cwd],
  ];
}

function systemOption({ path, link }: SystemPath): string[] {
  return link === undefined ? ['--ro-bind', path, path] : ['--symlink', link, path];
}

function isInAny(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => contains(folder, path));
}

/** The name by which a program is called may be a link that the sandbox does not show. */
function linkOptions(program: Confinement['programs'][number], covered: readonly string[]): string[] {
  const { called, path } = program;
  if (called === path || isInAny(covered, called)) return [];
  return ['--symlink', path, called];
}

/**
 * What an outcome of bubblewrap says about the tool. It reports an exit code only for a command that it started; if it
 * ended by itself without one, the tool never ran. It turns a signal into 128 + its number, as shells do.
 */
export function judgeSandboxed(outcome: ChildOutcome): ChildOutcome {
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
