import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';

/**
 * How every file beneath a root is reached, and how an error of the file system becomes a refusal.
 *
 * The attacker swaps a folder for a symbolic link between our check and our open. So nothing is checked by name: each
 * component is opened with O_NOFOLLOW from the descriptor of the one before, through /proc/self/fd. Off Linux there is no such
 * folder: components are then looked up by name again, and the promise is weaker.
 */

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/** Reason codes of errno values. The fallback is for those that are not listed. */
export interface Errnos {
  readonly codes: Readonly<Record<string, ReasonCode>>;
  readonly fallback: ReasonCode;
}

const SHARED: Readonly<Record<string, ReasonCode>> = {
  ENOENT: 'FILE_NOT_FOUND',
  ELOOP: 'FILE_IS_SYMLINK',
  ENOTDIR: 'FILE_NOT_REGULAR',
  ENXIO: 'FILE_NOT_REGULAR', // a socket
};

export const READING: Errnos = { codes: SHARED, fallback: 'FILE_UNREADABLE' };

export const WRITING: Errnos = {
  codes: {
    ...SHARED,
    EISDIR: 'FILE_NOT_REGULAR',
    EEXIST: 'FILE_EXISTS',
    EACCES: 'PERMISSION_DENIED',
    EPERM: 'PERMISSION_DENIED',
    EROFS: 'PERMISSION_DENIED',
    ENOSPC: 'DISK_FULL',
    EDQUOT: 'DISK_FULL',
    ENAMETOOLONG: 'PATH_ESCAPES',
  },
  fallback: 'WRITE_FAILED',
};

export function refuseErrno(
  error: unknown,
  shown: string,
  { codes, fallback }: Errnos = WRITING,
  what = shown,
): never {
  const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
  return refuse(codes[errno] ?? fallback, `${what}: ${errno}`, { path: shown, errno });
}

/** Runs calls of the file system. An error that is no refusal becomes one, with its reason. */
export function fileCall<T>(shown: string, act: () => T, errnos: Errnos = WRITING): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return refuseErrno(error, shown, errnos);
  }
}

/** Refuses a relative path that is not one plain walk downwards. Returns its components. */
export function componentsBeneath(relative: string): string[] {
  if (relative === '') refuse('PATH_ESCAPES', 'The path is empty.');
  if (/[\x00-\x1f\x7f]/.test(relative)) refuse('PATH_ESCAPES', 'The path has a control character.');
  const components = relative.split('/');
  for (const name of components) {
    if (name === '' || name === '.' || name === '..') {
      refuse('PATH_ESCAPES', `${JSON.stringify(relative)} is not a plain relative path.`);
    }
  }
  return components;
}

/** Opens the folder that the components lead to; none of them may be a link. The caller closes it. */
export function walk(root: string, components: readonly string[], shown: string, errnos: Errnos): number {
  // The root itself is ours to choose, so a link may lead to it.
  let fd = openAt(root, root, O_RDONLY | O_DIRECTORY, errnos);
  let folder = root;
  for (const name of components) {
    try {
      const next = openAt(inside(fd, folder, name), shown, FOLDER, errnos);
      closeSync(fd);
      fd = next;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    folder = join(folder, name);
  }
  return fd;
}

/** A name in an open folder. */
export function inside(fd: number, folder: string, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}/${name}` : join(folder, name);
}

/** Linux says ENOTDIR for a link that should have been a folder. Only the reason is looked up by name. */
export function openAt(path: string, shown: string, flags: number, errnos: Errnos, mode?: number): number {
  try {
    return openSync(path, flags, mode);
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code;
    if (errno === 'ENOTDIR' && isLink(path)) refuse('FILE_IS_SYMLINK', `${shown} goes through a link.`);
    return refuseErrno(error, shown, errnos, `${shown} cannot be opened`);
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
