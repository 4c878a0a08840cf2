import { closeSync, fstatSync, realpathSync, statSync } from 'node:fs';
import { type ChildCommand, notStarted, type Outcome, runChild } from '../effect/child.ts';
import { type Confined, openConfined } from '../effect/confine.ts';
import { guardsOf } from '../effect/guards.ts';
import { inspectMachine, type Machine } from '../effect/machine.ts';
import { isStillNamed, type OpenPath, openPath } from '../effect/open-path.ts';
import { createDigests, type Digests, type OpenProgram, openProgram } from '../effect/program.ts';
import { requireReach } from '../effect/reach.ts';
import { lockRun, requireFlock } from '../effect/run-lock.ts';
import { type Confinement, judgeSandboxed, requireSandbox } from '../effect/sandbox.ts';
import { userFor } from '../effect/user.ts';
import { Refusal, refuse } from '../refusal.ts';
import { coveredChanged } from './covers.ts';
import type { Effect } from './effect.ts';
import { needsOf } from './needs.ts';

export interface Surroundings {
  /** Keyturn's own files that no tool may see, and those that it may see but never write. */
  readonly hidden: readonly string[];
  readonly protected: readonly string[];
  /** A file to be locked while anything of a tool without a sandbox runs. `isRunLocked` asks for it. */
  readonly lock?: string;
  readonly machine?: Machine;
  readonly digests?: Digests;
  /** Where the values of `env_pass` come from. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface PreparedRun {
  /** `lock` takes the place of the one in the surroundings: the id of a run is known only when it is claimed. */
  run(options?: { readonly abort?: AbortSignal; readonly lock?: string }): Promise<Outcome>;
  close(): void;
}

/**
 * Everything that can be refused before a run is claimed: the sandbox is there, every program is byte for byte what the
 * effect says, and every folder is the one that was approved. All of them stay open, and in a sandbox it is these open
 * files and folders that the tool gets, whatever is put under their names meanwhile.
 *
 * The windows that remain: whoever may write to the executable's own file can change it in place until it runs. Without
 * a sandbox the executable and its interpreters are started by their paths, and could be swapped in the moment between
 * the last look in `run` and the kernel's own. A link through which a program is called could be turned then. Covered files
 * are hashed once more in `run`, but not held: the tool opens them by their names.
 */
export function prepareRun(effect: Effect, around: Surroundings): PreparedRun {
  const machine = around.machine ?? inspectMachine();
  const user = userFor(effect.run_as);
  requireSandbox(effect.sandbox, effect.limits, machine, user);
  if (around.lock !== undefined && effect.sandbox === 'none') requireFlock(machine);
  const open: Open = { programs: [], cwd: [], confined: [] };
  const close = closeOnce(open);
  const digests = around.digests ?? createDigests();
  try {
    openPrograms(effect, digests, open.programs);
    open.cwd.push(openPath(effect.cwd, 'WORKING_FOLDER_MISSING'));
    const confined = openConfined(confinementOf(effect, around, machine), machine, open.programs);
    open.confined.push(confined);
    requireReach(user, needsOf(effect));
    const env = { ...effect.env, ...passed(effect.env_pass, around.environment ?? process.env) };
    const start = { argv: confined.argv, fds: confined.fds, filter: confined.filter, user, env };
    return {
      close,
      run: async ({ abort, lock = around.lock } = {}) => {
        const changed = coveredChanged(effect.covers, digests);
        if (changed !== null) return notStarted(`${changed} is not what it was`);
        return effect.sandbox === 'none'
          ? runBare(effect, open, { ...start, abort }, lock, machine)
          : runBoxed(effect, open, { ...start, abort });
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** What a prepared run holds open. */
interface Open {
  readonly programs: OpenProgram[];
  readonly cwd: OpenPath[];
  readonly confined: Confined[];
}

type Start = Pick<ChildCommand, 'argv' | 'fds' | 'filter' | 'user' | 'env' | 'abort'>;

function confinementOf(effect: Effect, around: Surroundings, machine: Machine): Confinement {
  const { sandbox: profile, limits, cwd, argv, executables: programs } = effect;
  const guards =
    profile === 'none'
      ? { hidden: [], protected: [] }
      : guardsOf({ ...around, ...profile }, machine.findHidden);
  return { profile, limits, cwd, argv, programs, ...guards };
}

async function runBoxed(effect: Effect, open: Open, start: Start): Promise<Outcome> {
  const changed = whatChanged(open);
  if (changed) return changed;
  return judgeSandboxed(await runChild({ ...start, with_status: true, cwd: '/', ...boundsOf(effect) }));
}

async function runBare(
  effect: Effect,
  open: Open,
  start: Start,
  lock: string | undefined,
  machine: Machine,
): Promise<Outcome> {
  let lock_fd: number | null = null;
  try {
    if (lock !== undefined) lock_fd = await lockRun(lock, machine);
    const changed = whatChanged(open);
    if (changed) return changed;
    // Our own descriptor, by our own pid: the child's numbers are given away anew before it changes its folder.
    const cwd = `/proc/${process.pid}/fd/${open.cwd[0]!.fd}`;
    return await runChild({ ...start, fds: lock_fd === null ? [] : [lock_fd], cwd, ...boundsOf(effect) });
  } catch (error) {
    if (error instanceof Refusal) return notStarted(error.code);
    throw error;
  } finally {
    if (lock_fd !== null) closeSync(lock_fd);
  }
}

/** The run is claimed by now, so this is an outcome and not a refusal. */
function whatChanged({ programs, cwd, confined }: Open): Outcome | null {
  if (!programs.every(stillNamed)) return notStarted('EXECUTABLE_CHANGED');
  const paths = [...cwd, ...confined.flatMap(({ binds, hidden }) => [...binds, ...hidden])];
  const changed = paths.find((one) => !isStillNamed(one));
  return changed ? notStarted(`${changed.path} is not what it was`) : null;
}

function boundsOf({ timeout_ms, stdout_bytes, stderr_bytes }: Effect) {
  return { timeout_ms, stdout_bytes, stderr_bytes };
}

function openPrograms(effect: Effect, digests: Digests, open: OpenProgram[]): void {
  for (const approved of effect.executables) {
    const program = openProgram(approved.called, digests);
    open.push(program);
    if (program.path !== approved.path || program.sha256 !== approved.sha256) {
      refuse('EXECUTABLE_CHANGED', `${approved.called} is not what it was.`, { path: approved.path });
    }
  }
}

function closeOnce(open: Open): () => void {
  let closed = false;
  return () => {
    if (closed) return;
    closed = true;
    for (const { fd } of [...open.programs, ...open.cwd]) closeSync(fd);
    for (const confined of open.confined) confined.close();
  };
}

/** Whether the name still leads to the file that is open. */
function stillNamed({ called, path, fd }: OpenProgram): boolean {
  try {
    const named = statSync(called);
    const ours = fstatSync(fd);
    return named.ino === ours.ino && named.dev === ours.dev && realpathSync.native(called) === path;
  } catch {
    return false;
  }
}

function passed(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined) found[name] = value;
  }
  return found;
}
