import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { listFolderOf, pathThrough, removeAt, statAt, withPlace } from '../../durable/beneath-write.ts';
import type { OpenFolders } from '../../durable/open-folders.ts';
import { fileCall } from '../../durable/walk.ts';
import { Refusal } from '../../refusal.ts';
import { fileId, type SecondNames } from '../state/see.ts';
import type { RollbackManifest } from './manifest.ts';

/**
 * Temporary files that a killed run left behind. Their prefix was random and is known only from the manifest, so what
 * has it is ours.
 */

/** The folders in which this run may have made temporary files. */
function foldersOf(manifest: RollbackManifest): string[] {
  const folders = manifest.checkpoints.map(({ file_path }) => dirname(file_path));
  return [...new Set([...folders, manifest.reports_folder])];
}

/** A path in the folder, as `withPlace` wants one. */
const anyIn = (folder: string) => (folder === '.' ? 'any' : `${folder}/any`);

async function eachLeftover(
  root: string,
  manifest: RollbackManifest,
  act: (place: Parameters<typeof removeAt>[0], name: string) => void,
): Promise<void> {
  for (const folder of foldersOf(manifest)) {
    try {
      await withPlace(root, anyIn(folder), (place) => {
        for (const name of listFolderOf(place))
          if (name.startsWith(manifest.temporary_prefix)) act(place, name);
      });
    } catch (error) {
      // The folder is gone, or something else is in its place: then nothing of ours is in it.
      if (!(error instanceof Refusal)) throw error;
    }
  }
}

/** What cannot be removed stays and stops nothing: `leftoverLines` names it. */
export async function removeLeftovers(root: string, manifest: RollbackManifest): Promise<void> {
  await eachLeftover(root, manifest, (place, name) => {
    try {
      if (statAt(place, name)?.isDirectory())
        fileCall(name, () => rmSync(pathThrough(place, name), { recursive: true, force: true }));
      else removeAt(place, name);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  });
}

/** What is still there, one line for each: a lost permission, for one, keeps it from being removed. */
export async function leftoverLines(root: string, manifest: RollbackManifest): Promise<string[]> {
  const paths: string[] = [];
  await eachLeftover(root, manifest, (place, name) => void paths.push(join(dirname(place.path), name)));
  return paths.map(
    (path) => `${path}: a temporary file of this run, which could not be removed. Remove it by hand.`,
  );
}

/** Files that have two names because a move of ours was cut between its two steps. */
export async function halfMoved(
  root: string,
  manifest: RollbackManifest,
  folders: OpenFolders,
): Promise<SecondNames> {
  const ids: string[] = [];
  await eachLeftover(root, manifest, (place, name) => {
    const stats = statAt(place, name);
    if (stats) ids.push(fileId(stats));
    if (stats?.isDirectory()) ids.push(...idsIn(pathThrough(place, name)));
  });
  for (const { file_path } of manifest.checkpoints) ids.push(...idAt(folders, file_path));
  const once = new Set<string>();
  return new Set(ids.filter((id) => once.size === once.add(id).size));
}

/** SQL works in a private folder, and its files are moved from there. */
function idsIn(folder: string): string[] {
  return readdirSync(folder).map((name) => fileId(lstatSync(join(folder, name), { bigint: true })));
}

function idAt(folders: OpenFolders, path: string): string[] {
  try {
    const stats = statAt(folders.at(path));
    return stats ? [fileId(stats)] : [];
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}
