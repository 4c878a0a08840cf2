import { closeSync, fstatSync, realpathSync, statSync } from 'node:fs';
import { type ChildCommand, type ChildOutcome, notStarted } from '../effect/child.ts';
import { type Confined, openConfined } from '../effect/confine.ts';
import { guardsOf } from '../effect/guards.ts';
import { inspectMachine, type Machine } from '../effect/machine.ts';
import { isStillNamed, type OpenPath, openPath } from '../effect/open-path.ts';
import { type Peer, type PeerCommand, startPeer } from '../effect/peer.ts';
import { createDigests, type Digests, type OpenProgram, openProgram } from '../effect/program.ts';
import { requireReach } from '../effect/reach.ts';
import { requireMkfifo } from '../effect/run-locks.ts';
import { type Confinement, judgeSandboxed, requireSandbox } from '../effect/sandbox.ts';
import type { Secrets } from '../effect/secret.ts';
import { Starter } from '../effect/starter.ts';
import { type UserFor, userFor } from '../effect/user.ts';
import { Refusal, refuse } from '../refusal.ts';
import { coveredChanged } from './covers.ts';
import type { ToolEffect } from './effect.ts';
import { needsOf } from './needs.ts';

export interface Surroundings {
  /** Keyturn's own files that no tool may see, and those that it may see but never write. */
  readonly hidden: readonly string[];
  readonly protected: readonly string[];
  /** A file to be locked while anything of the tool runs. `isRunLocked` asks for it. */
  readonly lock?: string;
  readonly machine?: Machine;
  readonly starter?: Starter;
  readonly digests?: Digests;
  readonly userFor?: UserFor;
  /** The values of the secrets that the effect names. */
  readonly secrets?: Secrets;
}

export interface PreparedRun {
  /** `lock` takes the place of the one in the surroundings, where that has one: the id of a run is known only when it is claimed. */
  run(
    options?: { readonly abort?: AbortSignal; readonly lock?: string } & Pick<ChildCommand, 'onOutput'>,
  ): Promise<ChildOutcome>;
  close(): void;
}

/**
 * Everything that can be refused before a run is claimed: the sandbox is there, every program is byte for byte what the
 * effect says, and every folder is the one that was approved. All of them stay open, and in a sandbox it is these open
 * files and folders that the tool gets, whatever is put under their names meanwhile.
 *
 * What remains open: a process with write access to the executable's own file can change it in place until it runs. Without
 * a sandbox the executable and its interpreters are started by their paths, and could be swapped in the moment between
 * the last look in `run` and the kernel's own. A link through which a program is called could be turned then. Covered files
 * are hashed once more in `run`, but not held: the tool opens them by their names.
 */
export function prepareRun(effect: ToolEffect, around: Surroundings): PreparedRun {
  const { close, open, digests, machine, start } = openAll(effect, around);
  const starter = around.starter ?? new Starter();
  return {
    close,
    run: async ({ abort, lock: named = around.lock, onOutput } = {}) => {
      const changed = coveredChanged(effect.covers, digests);
      if (changed !== null) return notStarted(`${changed} is not what it was`);
      // The command line of a sandbox that knows of no lock would pass it on to the tool.
      const lock = around.lock === undefined ? undefined : named;
      const run = effect.sandbox === 'none' ? runBare : runBoxed;
      return run(effect, open, { abort, onOutput, ...start }, { starter, machine, lock });
    },
  };
}

/** Starts a program that is talked to, confined and looked at like a tool. Refuses where it is not what the effect says. */
export function startServer(
  effect: ToolEffect,
  around: Omit<Surroundings, 'lock'>,
  talk: Pick<PeerCommand, 'line_bytes' | 'stderr_bytes' | 'onLine' | 'onEnd'>,
): Peer {
  const { close, open, digests, start } = openAll(effect, around);
  try {
    const changed = coveredChanged(effect.covers, digests);
    if (changed !== null) refuse('EXECUTABLE_CHANGED', `${changed} is not what it was.`);
    const other = whatChanged(open);
    if (other) refuse('EXECUTABLE_CHANGED', other.error);
    const is_boxed = effect.sandbox !== 'none';
    const cwd = is_boxed ? '/' : `/proc/${process.pid}/fd/${open.cwd[0]!.fd}`;
    return startPeer({ ...start, ...talk, cwd, with_status: is_boxed });
  } finally {
    // The child has its own descriptors by now.
    close();
  }
}

/** Opens and compares everything that an effect names. */
function openAll(effect: ToolEffect, around: Surroundings) {
  const machine = around.machine ?? inspectMachine();
  const user = (around.userFor ?? userFor)(effect.run_as);
  requireSandbox(effect.sandbox, effect.limits, machine, user);
  if (around.lock !== undefined) requireMkfifo(machine);
  const open: Open = { programs: [], cwd: [], confined: [] };
  const close = closeOnce(open);
  const digests = around.digests ?? createDigests();
  try {
    openPrograms(effect, digests, open.programs);
    open.cwd.push(openPath(effect.cwd, 'WORKING_FOLDER_MISSING'));
    const confined = openConfined(confinementOf(effect, around, machine), machine, open.programs);
    open.confined.push(confined);
    requireReach(user, needsOf(effect));
    const given = givenSecrets(effect, around.secrets);
    const env = { ...effect.env, ...given.env };
    const { argv, fds, filter } = confined;
    return {
      close,
      open,
      digests,
      machine,
      start: { argv, fds, filter, user, env, redacted: given.redacted },
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

type Start = Pick<
  ChildCommand,
  'onOutput' | 'argv' | 'fds' | 'filter' | 'user' | 'env' | 'redacted' | 'abort'
>;

/** The secrets of a tool in its environment, and what is kept out of its output. */
function givenSecrets({ tool, secrets }: ToolEffect, values: Secrets = new Map()) {
  const given = Object.entries(secrets).map(([variable, name]) => ({
    variable,
    name,
    value:
      values.get(name) ??
      refuse('SECRET_MISSING', `The tool "${tool}" needs the secret ${name}, and there is none here.`, {
        secret: name,
      }),
  }));
  return {
    env: Object.fromEntries(given.map(({ variable, value }) => [variable, value])),
    redacted: given.map(({ name, value }) => ({ name, value })),
  };
}

function confinementOf(effect: ToolEffect, around: Surroundings, machine: Machine): Confinement {
  const { sandbox: profile, limits, cwd, argv, executables: programs } = effect;
  const guards =
    profile === 'none'
      ? { hidden: [], protected: [] }
      : guardsOf({ hidden: around.hidden, protected: around.protected, ...profile }, machine.findHidden);
  return { profile, limits, cwd, argv, programs, ...guards, has_lock: around.lock !== undefined };
}

interface Held {
  readonly starter: Starter;
  readonly machine: Machine;
  readonly lock: string | undefined;
}

/** While the lock of the run is there to be held. The run is claimed by now, so without one nothing is started. */
async function locked(
  { starter, machine, lock }: Held,
  act: () => Promise<ChildOutcome>,
): Promise<ChildOutcome> {
  if (lock === undefined) return act();
  try {
    await starter.lock(lock, machine);
  } catch (error) {
    if (error instanceof Refusal) return notStarted(error.code);
    throw error;
  }
  try {
    return await act();
  } finally {
    starter.release(lock);
  }
}

function runBoxed(effect: ToolEffect, open: Open, start: Start, held: Held): Promise<ChildOutcome> {
  return locked(held, async () => {
    const changed = whatChanged(open);
    if (changed) return changed;
    const { starter, lock } = held;
    const command = { with_status: true, lock, cwd: '/', ...start, ...boundsOf(effect) };
    return judgeSandboxed(await starter.run(command));
  });
}

function runBare(effect: ToolEffect, open: Open, start: Start, held: Held): Promise<ChildOutcome> {
  return locked(held, async () => {
    const changed = whatChanged(open);
    if (changed) return changed;
    // Our own descriptor, by our own pid: the child's numbers are given to other files before it changes its folder.
    const cwd = `/proc/${process.pid}/fd/${open.cwd[0]!.fd}`;
    return held.starter.run({ lock: held.lock, cwd, ...start, ...boundsOf(effect) });
  });
}

/** The run is claimed by now, so this is an outcome and not a refusal. */
function whatChanged({ programs, cwd, confined }: Open): ChildOutcome | null {
  if (!programs.every(stillNamed)) return notStarted('EXECUTABLE_CHANGED');
  const paths = [...cwd, ...confined.flatMap(({ binds, hidden }) => [...binds, ...hidden])];
  const changed = paths.find((one) => !isStillNamed(one));
  return changed ? notStarted(`${changed.path} is not what it was`) : null;
}

function boundsOf({ timeout_ms, stdout_bytes, stderr_bytes }: ToolEffect) {
  return { timeout_ms, stdout_bytes, stderr_bytes };
}

function openPrograms(effect: ToolEffect, digests: Digests, open: OpenProgram[]): void {
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
