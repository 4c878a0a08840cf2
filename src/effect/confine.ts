import { closeSync } from 'node:fs';
import type { Machine } from './machine.ts';
import { type OpenPath, openPath, requireApart } from './open-path.ts';
import { type BindSource, type Command, type Confinement, sandboxCommand } from './sandbox.ts';

/** A sandbox that can be started: its command line, and what it names by number, open. The caller closes it. */
export interface Confined extends Pick<Command, 'argv' | 'filter'> {
  readonly fds: readonly number[];
  readonly binds: readonly OpenPath[];
  readonly hidden: readonly OpenPath[];
  close(): void;
}

/** Opens what a sandbox binds. `programs` are open already, under the paths of `confinement.programs`. */
export function openConfined(
  confinement: Confinement,
  machine: Machine,
  programs: readonly { readonly path: string; readonly fd: number }[] = [],
): Confined {
  const binds: OpenPath[] = [];
  const hidden: OpenPath[] = [];
  const close = () => {
    for (const { fd } of [...binds.splice(0), ...hidden.splice(0)]) closeSync(fd);
  };
  const descriptorOf = ({ path, program }: BindSource): number => {
    if (program) return programs.find((one) => one.path === path)!.fd;
    const bind = openPath(path, 'SANDBOX_PATH_MISSING');
    binds.push(bind);
    return bind.fd;
  };
  try {
    // Before the binds: what is moved from here to there in between is then known by its own number.
    for (const { path } of confinement.hidden) hidden.push(openPath(path, 'FILE_NOT_FOUND'));
    const { argv, filter, sources } = sandboxCommand(confinement, machine);
    const fds = sources.map(descriptorOf);
    requireApart(binds, hidden);
    return { argv, filter, fds, binds, hidden, close };
  } catch (error) {
    close();
    throw error;
  }
}
