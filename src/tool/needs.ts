import { statSync } from 'node:fs';
import { contains } from '../effect/mounts.ts';
import type { AccessNeed } from '../effect/reach.ts';
import type { Profile } from '../effect/sandbox.ts';

/** The part of an effect that names paths. */
interface Reached {
  readonly sandbox: Profile;
  readonly executables: readonly { readonly path: string }[];
  readonly cwd: string;
}

/** What the user of a tool must be able to do with the paths that its effect names. */
export function needsOf({ sandbox, executables, cwd }: Reached): AccessNeed[] {
  const binds = sandbox === 'none' ? null : [...sandbox.read, ...sandbox.write];
  // A working folder that no bind shows is made inside the sandbox.
  const enters = binds === null || binds.some((bind) => contains(bind, cwd));
  return [
    // A script is opened by its interpreter.
    ...executables.map(({ path }, i) => ({
      path,
      rights: i === 0 && executables.length > 1 ? 'rx' : 'x',
    })),
    ...(enters ? [{ path: cwd, rights: 'x' }] : []),
    ...(sandbox === 'none' ? [] : sandbox.read.map((path) => need(path, 'r'))),
    ...(sandbox === 'none' ? [] : sandbox.write.map((path) => need(path, 'rw'))),
  ];
}

function need(path: string, rights: string): AccessNeed {
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return { path, rights: folder ? `${rights}x` : rights };
}
