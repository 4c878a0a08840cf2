import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Digest } from '../../canonical/digest.ts';
import { componentsBeneath } from '../../durable/beneath.ts';
import { type ReasonCode, Refusal, refuse } from '../../refusal.ts';
import { sqlLimits } from './job.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

const CHUNK_BYTES = 1024 * 1024;
const readAsync = promisify(read);

/** Staging folders that a killed process left behind begin like this. They hold copies and may be removed. */
export const STAGE_PREFIX = '.keyturn-sql-';

/** A name in a folder beneath the root. The folder is open: whoever swaps it for a link meanwhile swaps nothing for us. */
export interface Place {
  readonly shown: string;
  readonly name: string;
  /** The folder by its name, for the runner. */
  readonly folder: string;
  /** A path in the open folder, for ourselves. */
  at(name: string): string;
  sync(): void;
  close(): void;
}

export function openPlace(root: string, relative: string): Place {
  const components = componentsBeneath(relative);
  const name = components.pop()!;
  const { fd, folder } = openFolder(root, components, relative);
  return {
    shown: relative,
    name,
    folder,
    at: (entry) => inside(fd, folder, entry),
    sync: () => fsyncSync(fd),
    close: () => closeSync(fd),
  };
}

/**
 * The absolute path of a folder beneath the root whose files SQL may scan. No link leads to it and none is in it: DuckDB
 * would refuse one that leads out, but in the sandbox such a link leads nowhere, and a scan would silently find nothing.
 */
export function readableFolder(root: string, relative: string): string {
  const { fd, folder } = openFolder(root, componentsBeneath(relative), relative);
  try {
    inspectEntries(inside(fd, folder, '.'), relative);
  } finally {
    closeSync(fd);
  }
  return folder;
}

/** Goes down by hand: node's own recursive listing follows links. */
function inspectEntries(top: string, shown: string): void {
  const folders = [''];
  for (let seen = 0; folders.length > 0; ) {
    const folder = folders.pop()!;
    for (const name of readdirSync(join(top, folder))) {
      const entry = join(folder, name);
      if (++seen > sqlLimits.readable_entries) refuse('INPUT_TOO_LARGE', `${shown} holds too many files.`);
      if (isPlainFolder(join(top, entry), join(shown, entry))) folders.push(entry);
    }
  }
}

/** True for a folder, false for a regular file with one name. Anything else is refused. */
function isPlainFolder(path: string, shown: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isDirectory()) return stats !== undefined;
  const why = stats.isSymbolicLink() ? 'FILE_IS_SYMLINK' : whyOddFile(stats);
  return why !== null && refuse(why, `${shown} is not a regular file with one name.`, { path: shown });
}

function whyOddFile(stats: Stats): ReasonCode | null {
  if (!stats.isFile()) return 'FILE_NOT_REGULAR';
  return stats.nlink > 1 ? 'FILE_HARD_LINKED' : null;
}

function openFolder(
  root: string,
  components: readonly string[],
  shown: string,
): { fd: number; folder: string } {
  let fd = openOrRefuse(root, O_RDONLY | O_DIRECTORY, shown);
  let folder = root;
  for (const name of components) {
    const above = fd;
    try {
      fd = openOrRefuse(inside(above, folder, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, shown);
    } finally {
      closeSync(above);
    }
    folder = join(folder, name);
  }
  return { fd, folder };
}

function inside(fd: number, folder: string, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}/${name}` : join(folder, name);
}

function openOrRefuse(path: string, flags: number, shown: string): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    return refuse(
      isLink ? 'FILE_IS_SYMLINK' : (WHY[errno] ?? 'FILE_UNREADABLE'),
      `${shown} cannot be opened.`,
      {
        path: shown,
        errno,
      },
    );
  }
}

const WHY: Readonly<Record<string, ReasonCode>> = {
  ENOENT: 'FILE_NOT_FOUND',
  ENOTDIR: 'FILE_NOT_REGULAR',
  ENXIO: 'FILE_NOT_REGULAR',
};

/** Opens the file at this place for reading; null where there is none. It is regular and has one name. */
export function openFileAt(place: Place): number | null {
  if (!lstatSync(place.at(place.name), { throwIfNoEntry: false })) return null;
  const fd = openOrRefuse(place.at(place.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, place.shown);
  const why = whyOddFile(fstatSync(fd));
  if (why === null) return fd;
  closeSync(fd);
  return refuse(why, `${place.shown} is not a regular file with one name.`, { path: place.shown });
}

export interface Stage {
  /** As the runner names it, and as we do. */
  readonly folder: string;
  readonly path: string;
  readonly own: string;
  remove(): void;
}

/** A private folder beside the place, on the same disk, so that its file can be renamed to the place at the end. */
export function makeStage(place: Place): Stage {
  const name = `${STAGE_PREFIX}${randomBytes(12).toString('hex')}`;
  // The file keeps its name: DuckDB calls the database by it, and SQL may use that name.
  const own = join(place.at(name), place.name);
  writing(place.shown, () => mkdirSync(place.at(name), 0o700));
  const folder = join(place.folder, name);
  return {
    folder,
    path: join(folder, place.name),
    own,
    remove: () => rmSync(place.at(name), { recursive: true, force: true }),
  };
}

/** Copies an open file to its stage; the digest is that of the bytes that were copied. */
export async function copyToStage(fd: number, stage: Stage, max_bytes: number): Promise<Digest> {
  const target = openSync(stage.own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    return await readWhole(fd, stage.path, max_bytes, (chunk) => {
      writing(stage.path, () => {
        for (let done = 0; done < chunk.length; ) done += writeSync(target, chunk, done);
      });
    });
  } finally {
    closeSync(target);
  }
}

export async function digestOf(fd: number, shown: string, max_bytes: number): Promise<Digest> {
  return readWhole(fd, shown, max_bytes, () => {});
}

async function readWhole(
  fd: number,
  shown: string,
  max_bytes: number,
  take: (chunk: Uint8Array) => void,
): Promise<Digest> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  // Not a stream: a stream that is left half way closes the descriptor, and then it would be closed twice.
  for (let size = 0; ; ) {
    const { bytesRead } = await readAsync(fd, buffer, 0, CHUNK_BYTES, size);
    if (bytesRead === 0) return hash.digest('hex');
    size += bytesRead;
    if (size > max_bytes) {
      refuse('SQL_FILE_TOO_LARGE', `${shown} has more than ${max_bytes} bytes.`, { path: shown });
    }
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    take(chunk);
  }
}

export interface Published {
  readonly sha256: Digest;
  readonly size_bytes: number;
}

/** What the runner left in the stage, ready to be published: one regular file, on the disk, with its mode. */
export async function settleStage(stage: Stage, mode: number, max_bytes: number): Promise<Published> {
  const fd = openOrRefuse(stage.own, O_RDWR | O_NOFOLLOW | O_NONBLOCK, stage.path);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.nlink !== 1)
      refuse('FILE_NOT_REGULAR', 'The runner left something else than a file.');
    const sha256 = await digestOf(fd, stage.path, max_bytes);
    writing(stage.path, () => {
      fchmodSync(fd, mode);
      fsyncSync(fd);
    });
    return { sha256, size_bytes: stats.size };
  } finally {
    closeSync(fd);
  }
}

/** Puts the staged file in its place, all or nothing. A file that must be new is never put over another. */
export function publish(stage: Stage, place: Place, must_be_new: boolean): void {
  writing(place.shown, () => {
    if (must_be_new) linkSync(stage.own, place.at(place.name));
    else renameSync(stage.own, place.at(place.name));
    if (must_be_new) rmSync(stage.own);
    place.sync();
  });
}

function writing(shown: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const full = errno === 'ENOSPC' || errno === 'EDQUOT';
    refuse(
      full ? 'DISK_FULL' : errno === 'EEXIST' ? 'SQL_DATABASE_CHANGED' : 'WRITE_FAILED',
      `${shown}: ${errno}`,
      {
        path: shown,
        errno,
      },
    );
  }
}
