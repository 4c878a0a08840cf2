import { closeSync, fstatSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { notStarted, type Outcome, runChild } from '../effect/child.ts';
import { inspectMachine, type Machine } from '../effect/machine.ts';
import type { Guard } from '../effect/mounts.ts';
import { createDigests, type Digests, type OpenProgram, openProgram } from '../effect/program.ts';
import { judgeSandboxed, requireSandbox, sandboxCommand } from '../effect/sandbox.ts';
import { refuse } from '../refusal.ts';
import type { Effect } from './effect.ts';

export interface Surroundings {
  /** Keyturn's own files that no tool may see, and those that it may see but never write. */
  readonly hidden: readonly string[];
  readonly protected: readonly string[];
  readonly machine?: Machine;
  readonly digests?: Digests;
  /** Where the values of `env_pass` come from. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface PreparedRun {
  run(options?: { readonly abort?: AbortSignal }): Promise<Outcome>;
  close(): void;
}

/**
 * Everything that can be refused before a run is claimed: the sandbox is there, and every program is byte for byte
 * what the effect says. The executable stays open, and in a sandbox it is this open file that runs.
 *
 * The windows that remain: whoever may write to the executable's own file can change it in place until it runs. An
 * interpreter, and without a sandbox the executable too, is started by its path, and could be swapped in the moment
 * between the last look in `run` and the kernel's own. A link through which a program is called could be turned then.
 */
export function prepareRun(effect: Effect, around: Surroundings): PreparedRun {
  const machine = around.machine ?? inspectMachine();
  requireSandbox(effect.sandbox, effect.limits, machine);
  const open = openAll(effect, around.digests ?? createDigests());
  const close = closeOnce(open);
  try {
    const argv = sandboxCommand(
      {
        profile: effect.sandbox,
        limits: effect.limits,
        cwd: effect.cwd,
        argv: effect.argv,
        programs: effect.executables,
        hidden: existing(around.hidden),
        protected: existing(around.protected),
      },
      machine,
    );
    const env = { ...effect.env, ...passed(effect.env_pass, around.environment ?? process.env) };
    return { close, run: ({ abort } = {}) => run(effect, open, { argv, env, abort }) };
  } catch (error) {
    close();
    throw error;
  }
}

interface Start {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly abort: AbortSignal | undefined;
}

async function run(effect: Effect, open: readonly OpenProgram[], start: Start): Promise<Outcome> {
  const sandboxed = effect.sandbox !== 'none';
  // The run is claimed by now, so this is an outcome and not a refusal.
  if (!open.every(stillNamed)) return notStarted('EXECUTABLE_CHANGED');
  const outcome = await runChild({
    ...start,
    ...(sandboxed ? { fds: [open[0]!.fd], with_status: true } : {}),
    cwd: sandboxed ? '/' : effect.cwd,
    timeout_ms: effect.timeout_ms,
    stdout_bytes: effect.stdout_bytes,
    stderr_bytes: effect.stderr_bytes,
  });
  return sandboxed ? judgeSandboxed(outcome) : outcome;
}

function openAll(effect: Effect, digests: Digests): OpenProgram[] {
  const open: OpenProgram[] = [];
  try {
    for (const approved of effect.executables) {
      const program = openProgram(approved.called, digests);
      open.push(program);
      if (program.path !== approved.path || program.sha256 !== approved.sha256) {
        refuse('EXECUTABLE_CHANGED', `${approved.called} is not what it was.`, { path: approved.path });
      }
    }
    return open;
  } catch (error) {
    for (const { fd } of open) closeSync(fd);
    throw error;
  }
}

function closeOnce(open: readonly OpenProgram[]): () => void {
  let closed = false;
  return () => {
    if (!closed) for (const { fd } of open) closeSync(fd);
    closed = true;
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

/** Only what exists can be masked. The paths are made real, because mounts are. */
function existing(paths: readonly string[]): Guard[] {
  return paths.flatMap((path) => {
    const found = lstatSync(resolve(path), { throwIfNoEntry: false });
    if (!found) return [];
    const real = realpathSync.native(path);
    return [{ path: real, folder: statSync(real).isDirectory() }];
  });
}

function passed(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}
