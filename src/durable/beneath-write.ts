import {
  type BigIntStats,
  closeSync,
  constants,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Refusal, refuse } from '../refusal.ts';
import { componentsBeneath, fileCall, inside, openAt, refuseErrno, WRITING, walk } from './walk.ts';

/**
 * Changing files beneath a root that another process may be changing too.
 *
 * The attacker swaps a folder for a symbolic link while we work, so that our write lands outside. A place is therefore a
 * walked and open folder plus one name in it; every verb acts on that name through the open folder (/proc/self/fd), and
 * no verb follows a link at that name. Who can move a real folder out of the root can still take our write with it: that
 * needs the right to write there anyway. Off Linux the folder is looked up by name again, and the promise is weaker.
 */

const {
  O_NOATIME = 0,
  O_RDONLY,
  O_WRONLY,
  O_APPEND,
  O_CREAT,
  O_EXCL,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_NOCTTY,
} = constants;

export interface Place {
  readonly folder_fd: number;
  /** The folder as it was called; used only where descriptors cannot be. */
  readonly folder: string;
  readonly name: string;
  /** The whole relative path: for people. */
  readonly path: string;
}

/** Walks to the folder of a relative path. The caller closes it. */
export function openPlace(root: string, path: string): Place {
  const components = componentsBeneath(path);
  const name = components.pop()!;
  const folder_fd = walk(root, components, path, WRITING);
  return { folder_fd, folder: join(root, ...components), name, path };
}

export function closePlace(place: Place): void {
  closeSync(place.folder_fd);
}

export async function withPlace<T>(
  root: string,
  path: string,
  act: (place: Place) => Promise<T> | T,
): Promise<T> {
  const place = openPlace(root, path);
  try {
    return await act(place);
  } finally {
    closePlace(place);
  }
}

function entry(place: Place, name: string): string {
  return inside(place.folder_fd, place.folder, name);
}

/** Opens what is at the place for reading; null when nothing is. What was opened must be looked at before it is used. */
export function openToRead(place: Place, name = place.name): number | null {
  const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  try {
    // A look must not change the time of the last access. Only the owner may ask for that.
    return openAt(entry(place, name), place.path, flags | O_NOATIME, WRITING);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'FILE_NOT_FOUND') return null;
    if (error.facts?.errno === 'EPERM') return openAt(entry(place, name), place.path, flags, WRITING);
    throw error;
  }
}

/** Whether the kernel refuses to replace or remove what is at the place, whatever its mode says. */
export function isImmutable(place: Place): boolean {
  try {
    closeSync(openSync(entry(place, place.name), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What is at the place, without following a link; null when nothing is. */
export function statAt(place: Place, name = place.name): BigIntStats | null {
  return (
    fileCall(place.path, () => lstatSync(entry(place, name), { bigint: true, throwIfNoEntry: false })) ?? null
  );
}

const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

/** Creates a file that must not exist. */
export function createAt(place: Place, name: string, mode = 0o600): number {
  return openAt(entry(place, name), place.path, NEW_FILE, WRITING, mode);
}

export function openToAppend(place: Place, mode = 0o600): number {
  const flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  return openAt(entry(place, place.name), place.path, flags, WRITING, mode);
}

/** Puts a finished file under the name of the place, over whatever is there. */
export function putOver(place: Place, temporary: string): void {
  fileCall(place.path, () => renameSync(entry(place, temporary), entry(place, place.name)));
}

/** Puts a finished file under the name of the place, which must be free: a link never replaces what another process put there. */
export function putNew(place: Place, temporary: string): void {
  moveNew({ ...place, name: temporary }, place);
}

/** Moves a file to a name that must be free. A crash between the two steps leaves one file with both names. */
export function moveNew(from: Place, to: Place): void {
  fileCall(to.path, () => {
    try {
      linkSync(entry(from, from.name), entry(to, to.name));
    } catch (error) {
      if (!CANNOT_LINK.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return renameToFree(from, to);
    }
    unlinkSync(entry(from, from.name));
  });
}

/** Not every file system has hard links, and the kernel forbids them on other people's files. */
const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** The window between the look and the rename is as small as it can be here. */
function renameToFree(from: Place, to: Place): void {
  if (statAt(to) !== null) refuse('FILE_EXISTS', `Something is at ${to.path}.`);
  renameSync(entry(from, from.name), entry(to, to.name));
}

/** Moves a file over whatever is at the other place. */
export function moveOver(from: Place, to: Place): void {
  fileCall(to.path, () => renameSync(entry(from, from.name), entry(to, to.name)));
}

export function removeAt(place: Place, name = place.name): void {
  fileCall(place.path, () => unlinkSync(entry(place, name)));
}

export function makeFolderAt(place: Place, mode = 0o755): void {
  fileCall(place.path, () => mkdirSync(entry(place, place.name), mode));
}

/** Removes a folder only when it is empty. */
export function removeFolderAt(place: Place): 'removed' | 'not_empty' {
  try {
    rmdirSync(entry(place, place.name));
    return 'removed';
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code;
    if (errno === 'ENOTEMPTY' || errno === 'EEXIST') return 'not_empty';
    return refuseErrno(error, place.path);
  }
}

export function listFolderOf(place: Place): string[] {
  return fileCall(place.path, () => readdirSync(entry(place, '.')));
}

/** The real path of the folder while it stays open: for a child that cannot take a descriptor. */
export function pathThrough(place: Place, name = place.name): string {
  return inside(place.folder_fd, place.folder, name);
}

/** The same for a child that gets no descriptor of ours: a link that is put on the way leads it nowhere. */
export function pathForChild(place: Place, name = place.name): string {
  return pathThrough(place, name).replace('/proc/self/', `/proc/${process.pid}/`);
}

const fsyncLater = promisify(fsync);

/** Off the main thread, so that several files can reach the disk together. */
export async function syncOpen(fd: number, shown: string): Promise<void> {
  try {
    await fsyncLater(fd);
  } catch (error) {
    refuseErrno(error, shown);
  }
}

/** A new name is durable only when its folder is. */
export function syncFolderOf(place: Place): Promise<void> {
  return syncOpen(place.folder_fd, place.path);
}
