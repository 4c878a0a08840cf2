import { type BigIntStats, closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ReasonCode, refuse } from '../refusal.ts';

/** A file or folder that is held open by a descriptor which can name it, but neither read nor write it. */
export interface OpenPath {
  readonly path: string;
  readonly fd: number;
  readonly folder: boolean;
  /** Every folder on the way, from the root on, and the file itself last. */
  readonly steps: readonly Step[];
}

interface Step {
  readonly path: string;
  readonly identity: string;
}

/** Node does not name this flag. All of Linux's platforms that Node runs on give it this value. */
export const O_PATH = 0o10000000;
const ENTRY = O_PATH | constants.O_NOFOLLOW;

/**
 * Opens a real path, one that has no link in it. The attacker puts a link where an approved folder was: so each
 * component is opened from the one before and looked at once it is open. The caller closes it.
 */
export function openPath(path: string, missing: ReasonCode): OpenPath {
  const steps: Step[] = [];
  let fd = openSync('/', ENTRY);
  try {
    let stats = note(fd, '/', steps);
    for (const name of path.split('/').filter(Boolean)) {
      const next = openEntry(fd, name, path, missing);
      closeSync(fd);
      fd = next;
      stats = note(fd, join(steps.at(-1)!.path, name), steps);
      if (stats.isSymbolicLink()) {
        refuse('FILE_IS_SYMLINK', `${steps.at(-1)!.path} is a symbolic link.`, { path });
      }
    }
    return { path, fd, folder: stats.isDirectory(), steps };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openEntry(folder_fd: number, name: string, path: string, missing: ReasonCode): number {
  try {
    return openSync(`/proc/self/fd/${folder_fd}/${name}`, ENTRY);
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (errno === 'ENOENT' || errno === 'ENOTDIR') refuse(missing, `${path} does not exist.`, { path });
    return refuse('FILE_UNREADABLE', `${path} cannot be opened: ${errno}`, { path, errno });
  }
}

function note(fd: number, path: string, steps: Step[]): BigIntStats {
  const stats = fstatSync(fd, { bigint: true });
  steps.push({ path, identity: identityOf(stats) });
  return stats;
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Whether the name still leads to what is open. */
export function isStillNamed({ path, steps }: OpenPath): boolean {
  try {
    return steps.at(-1)!.identity === identityOf(statSync(path, { bigint: true }));
  } catch {
    return false;
  }
}

/**
 * Refuses a bind through which something hidden could be seen: it lies in what is hidden, or holds it under another
 * name than the one that is masked. Names were compared before; here the files themselves are.
 */
export function requireApart(binds: readonly OpenPath[], hidden: readonly OpenPath[]): void {
  for (const bind of binds) {
    for (const guard of hidden) {
      const inside = bind.steps.some(({ identity }) => identity === guard.steps.at(-1)!.identity);
      const above = guard.steps.find(({ identity }) => identity === bind.steps.at(-1)!.identity);
      if (inside || (above && above.path !== bind.path)) {
        refuse('EFFECT_CHANGED', `${bind.path} would show ${guard.path}.`, { path: bind.path });
      }
    }
  }
}
