import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fsyncSync, read, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Digest } from '../../canonical/digest.ts';
import {
  closePlace,
  createAt,
  makeFolderAt,
  moveNew,
  moveOver,
  openPlace,
  type Place,
  pathForChild,
  pathThrough,
  syncFolderOf,
} from '../../durable/beneath-write.ts';
import { fileCall } from '../../durable/walk.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { copyAttributes, readAttributes } from '../attributes.ts';
import { openFile } from './database.ts';

const readAsync = promisify(read);

/** Staging folders that a killed process left behind begin like this. They hold copies and may be removed. */
export const STAGE_PREFIX = '.keyturn-sql-';

/** A private folder beside a file, on the same disk, so that its file can be renamed to its real place at the end. */
export interface Stage {
  /** As the runner names them: absolute. */
  readonly folder: string;
  readonly path: string;
  /** The staged file, through the open folder. */
  readonly place: Place;
  remove(): void;
}

/** The file keeps its name: DuckDB calls the database by it, and SQL may use that name. */
export function makeStage(root: string, path: string, name = stageName()): Stage {
  const folder = join(dirname(path), name);
  const outer = openPlace(root, folder);
  const remove = () => {
    rmSync(pathThrough(outer), { recursive: true, force: true });
    closePlace(outer);
  };
  try {
    makeFolderAt(outer, 0o700);
    const place = openPlace(root, join(folder, basename(path)));
    return {
      folder: join(root, folder),
      path: join(root, folder, basename(path)),
      place,
      remove() {
        closePlace(place);
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function stageName(): string {
  return `${STAGE_PREFIX}${randomBytes(12).toString('hex')}`;
}

/** Copies an open file to its stage; the digest is that of the bytes that were copied. */
export async function copyToStage(fd: number, { place }: Stage, max_bytes: number): Promise<Digest> {
  const target = createAt(place, place.name);
  try {
    return await readWhole(fd, place.path, max_bytes, (chunk) =>
      fileCall(place.path, () => {
        for (let done = 0; done < chunk.length; ) done += writeSync(target, chunk, done);
      }),
    );
  } finally {
    closeSync(target);
  }
}

export function digestOfOpenFile(fd: number, shown: string, max_bytes: number): Promise<Digest> {
  return readWhole(fd, shown, max_bytes, () => {});
}

async function readWhole(
  fd: number,
  shown: string,
  max_bytes: number,
  take: (chunk: Uint8Array) => void,
): Promise<Digest> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(limits.hash_piece_bytes);
  // Not a stream: a stream that is left half way closes the descriptor, and then it would be closed twice.
  for (let size = 0; ; ) {
    const { bytesRead } = await readAsync(fd, buffer, 0, limits.hash_piece_bytes, size);
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

/** What a staged file gets before it is put in its place. */
export interface StageAttributes {
  readonly mode: number;
  /** The file that it replaces. Its owner, access control list and extended attributes are kept too. */
  readonly of: { readonly place: Place; readonly uid: bigint; readonly gid: bigint } | null;
}

export interface Settled {
  readonly sha256: Digest;
  readonly size_bytes: number;
}

/** What the runner left in the stage, ready to be published: one regular file, on the disk, with its attributes. */
export async function settleStage(
  { place }: Stage,
  { mode, of }: StageAttributes,
  max_bytes: number,
): Promise<Settled> {
  const { fd, stats } = openFile(place) ?? refuse('SQL_RUNNER_FAILED', 'The runner left no file.');
  try {
    const sha256 = await digestOfOpenFile(fd, place.path, max_bytes);
    fileCall(place.path, () => {
      // The owner first: changing it clears bits of the mode.
      if (of && (stats.uid !== of.uid || stats.gid !== of.gid))
        fchownSync(fd, Number(of.uid), Number(of.gid));
      fchmodSync(fd, mode);
    });
    if (of) await wear(place, of.place);
    fileCall(place.path, () => fsyncSync(fd));
    return { sha256, size_bytes: Number(stats.size) };
  } finally {
    closeSync(fd);
  }
}

/** A file system may know no attributes at all, so they are copied only where there are some. */
async function wear(place: Place, from: Place): Promise<void> {
  const [found = []] = await readAttributes([pathForChild(from)]);
  if (found.length > 0) await copyAttributes(pathForChild(from), pathForChild(place));
}

/** Puts the staged file in its place, all or nothing. A file that must be new is never put over another. */
export async function publish(stage: Stage, place: Place, must_be_new: boolean): Promise<void> {
  if (must_be_new) moveNew(stage.place, place);
  else moveOver(stage.place, place);
  await syncFolderOf(place);
}
