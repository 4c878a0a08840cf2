import { accessSync, constants } from 'node:fs';
import {
  closePlace,
  makeFolderAt,
  openPlace,
  pathThrough,
  removeFolderAt,
  statAt,
  syncFolderOf,
  withPlace,
} from '../../durable/beneath-write.ts';
import { fileCall } from '../../durable/walk.ts';
import { Refusal, refuse } from '../../refusal.ts';

/** The folders above a path, outermost first: `a/b/c.txt` is in `a` and `a/b`. */
export function foldersAbove(path: string): string[] {
  const components = path.split('/');
  return components.slice(1).map((_, i) => components.slice(0, i + 1).join('/'));
}

/** Those of the folders above a path that do not exist, outermost first. Something else at such a name is refused. */
export function missingFolders(root: string, path: string): string[] {
  const above = foldersAbove(path);
  const first = above.findIndex((folder) => !folderExists(root, folder));
  return first < 0 ? [] : above.slice(first);
}

export function folderExists(root: string, folder: string): boolean {
  const place = openPlace(root, folder);
  try {
    const stats = statAt(place);
    if (stats === null) return false;
    if (stats.isSymbolicLink()) refuse('FILE_IS_SYMLINK', `${folder} is a link.`, { path: folder });
    if (!stats.isDirectory()) refuse('FILE_NOT_REGULAR', `${folder} is not a folder.`, { path: folder });
    return true;
  } finally {
    closePlace(place);
  }
}

/** A folder in which we cannot change names is refused. The root is the empty path. */
export function requireWritableFolder(root: string, folder: string): void {
  const place = openPlace(root, folder === '' ? 'any' : `${folder}/any`);
  try {
    fileCall(folder, () => accessSync(pathThrough(place, '.'), constants.W_OK | constants.X_OK));
  } finally {
    closePlace(place);
  }
}

/** The file system that a folder is on. The root is the empty path. */
export function deviceOf(root: string, folder: string): bigint | undefined {
  const place = openPlace(root, folder === '' ? 'any' : `${folder}/any`);
  try {
    return statAt(place, '.')?.dev;
  } finally {
    closePlace(place);
  }
}

/** Makes one folder; false when it exists already. */
export function makeFolder(root: string, folder: string, mode = 0o755): boolean {
  const place = openPlace(root, folder);
  try {
    makeFolderAt(place, mode);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_EXISTS') return false;
    throw error;
  } finally {
    closePlace(place);
  }
}

/** Makes all folders that are missing on the way to a folder, and makes them durable. */
export async function makeFolders(root: string, folder: string, mode: number): Promise<void> {
  for (const missing of missingFolders(root, `${folder}/any`)) {
    makeFolder(root, missing, mode);
    await withPlace(root, missing, syncFolderOf);
  }
}

/** Removes a folder if it is there and empty. */
export async function removeEmptyFolder(
  root: string,
  folder: string,
): Promise<'removed' | 'not_empty' | 'missing'> {
  try {
    return await withPlace(root, folder, removeFolderAt);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return 'missing';
    throw error;
  }
}
