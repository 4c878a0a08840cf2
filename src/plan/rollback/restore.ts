import { dirname } from 'node:path/posix';
import {
  moveNew,
  moveOver,
  type Place,
  putNew,
  putOver,
  removeAt,
  statAt,
  withPlace,
} from '../../durable/beneath-write.ts';
import type { OpenFolders } from '../../durable/open-folders.ts';
import { refuse } from '../../refusal.ts';
import { type Attributes as Worn, wearAs } from '../state/attributes.ts';
import { makeFolders } from '../state/folders.ts';
import { sameState } from '../state/pin.ts';
import { identityOf, type SecondNames, type Seen, seeAgainAt } from '../state/see.ts';
import { type NewFileAttributes, stageCopy } from '../state/stage.ts';
import type { InspectedPath } from './inspect.ts';
import { type Checkpoint, hasItsTimes, originalOf, type RollbackManifest } from './manifest.ts';

/** What a restore happens in. */
export interface Scene {
  readonly root: string;
  readonly manifest: RollbackManifest;
  readonly attributes: Worn;
  /** Files that a cut move of this run left with two names: while it is taken back, that is no reason to refuse them. */
  readonly second_names: SecondNames;
  /** The folder of the backups stays open: it is ours, and each backup is hashed when it is copied. */
  readonly backups: OpenFolders;
}

/** Brings back what was at the path: content, mode, owner and times, from the backup, in one rename. */
export async function restoreFromBackup(scene: Scene, { checkpoint, seen }: InspectedPath): Promise<void> {
  const { root } = scene;
  const { file_path, backup_location } = checkpoint;
  if (backup_location === null) refuse('MANIFEST_CORRUPT', `${file_path} has no backup.`);
  if (seen === null && file_path.includes('/')) await makeFolders(root, dirname(file_path), 0o755);
  const backup = scene.backups.at(backup_location);
  await withPlace(root, file_path, (place) => copyBack(place, backup, scene, checkpoint, seen));
}

async function copyBack(
  place: Place,
  backup: Place,
  { manifest, second_names, attributes }: Scene,
  checkpoint: Checkpoint,
  seen: Seen | null,
): Promise<void> {
  const now = await requireStill(place, seen, { second_names, attributes });
  const temporary = `${manifest.temporary_prefix}r-${checkpoint.checkpoint_id}`;
  const worn = checkpoint.original_attributes !== null;
  const original = originalOf(checkpoint);
  const corrupt = () => notTheOriginal(backup.path);
  const copied = await stageCopy(
    place,
    temporary,
    backup,
    () => attributesOf(checkpoint),
    async (kept, name) => {
      if (!worn) return;
      // The attacker gave the backup another attribute, or the mode of a program that runs as its owner.
      if (!sameState((await attributes.of(backup, kept)).state, original)) corrupt();
      await wearAs(backup, place, name);
    },
  );
  try {
    if (copied === null || copied.state.sha256 !== original?.sha256 || copied.state.size !== original.size)
      corrupt();
    requireUnmoved(place, now);
    if (now === null) putNew(place, temporary);
    else putOver(place, temporary);
    if (!worn) attributes.noteNone(place);
  } catch (error) {
    if (statAt(place, temporary) !== null) removeAt(place, temporary);
    throw error;
  }
}

/** Refuses a backup that is not the original. */
export async function requireBackup(
  { root, attributes }: Scene,
  { backup_location, original_hash }: Checkpoint,
): Promise<void> {
  const kept = backup_location === null ? null : await attributes.see(root, backup_location);
  if (kept?.state.sha256 !== original_hash) notTheOriginal(backup_location ?? '');
}

function notTheOriginal(path: string): never {
  return refuse('BACKUP_CORRUPT', `${path} is not the original.`, { path });
}

function attributesOf({
  original_mode,
  original_owner,
  original_atime_ns,
  original_mtime_ns,
}: Checkpoint): NewFileAttributes {
  if (original_mode === null || original_atime_ns === null || original_mtime_ns === null)
    return refuse('MANIFEST_CORRUPT', 'A backup without the attributes of its file.');
  return {
    mode: original_mode,
    owner: original_owner ?? undefined,
    times: { atime_ns: BigInt(original_atime_ns), mtime_ns: BigInt(original_mtime_ns) },
  };
}

/** Removes a file that the plan made. */
export function removeMade(scene: Scene, { checkpoint, seen }: InspectedPath): Promise<void> {
  return withPlace(scene.root, checkpoint.file_path, async (place) => {
    const now = await requireStill(place, seen, scene);
    requireUnmoved(place, now);
    removeAt(place);
  });
}

/** Moves a file that the plan renamed back to where it was: the very same file, with all that belongs to it. */
export function moveBack(scene: Scene, from: InspectedPath, to: InspectedPath): Promise<void> {
  return withPlace(scene.root, from.checkpoint.file_path, (source) =>
    withPlace(scene.root, to.checkpoint.file_path, async (target) => {
      const moved = await requireStill(source, from.seen, scene);
      const replaced = await requireStill(target, to.seen, scene);
      requireUnmoved(source, moved);
      requireUnmoved(target, replaced);
      if (replaced === null) moveNew(source, target);
      else moveOver(source, target);
      if (moved?.state.attributes === undefined) scene.attributes.noteNone(target);
    }),
  );
}

/** Whether the file at a path is the one that was at the checkpoint's path, down to its times. */
export async function isTheOriginal(
  { root, second_names, attributes }: Scene,
  path: string,
  checkpoint: Checkpoint,
): Promise<boolean> {
  const found = await attributes.see(root, path, second_names);
  return found !== null && sameState(found.state, originalOf(checkpoint)) && hasItsTimes(found, checkpoint);
}

/** After a restore everything must be as it was. */
export async function verifyRestored(
  { root, second_names, attributes }: Scene,
  checkpoint: Checkpoint,
): Promise<boolean> {
  const found = await attributes.see(root, checkpoint.file_path, second_names);
  if (!sameState(found?.state ?? null, originalOf(checkpoint))) return false;
  return found === null || hasItsTimes(found, checkpoint);
}

/** Another process may have changed the file since it was inspected. */
async function requireStill(
  place: Place,
  seen: Seen | null,
  { second_names, attributes }: Pick<Scene, 'second_names' | 'attributes'>,
): Promise<Seen | null> {
  const again = seeAgainAt(place, seen, second_names);
  const now = again && (await attributes.of(place, again));
  if (!sameState(now?.state ?? null, seen?.state ?? null)) changed(place);
  return now;
}

function requireUnmoved(place: Place, now: Seen | null): void {
  const stats = statAt(place);
  if ((stats === null) !== (now === null)) changed(place);
  if (stats && now && identityOf(stats) !== now.identity) changed(place);
}

function changed(place: Place): never {
  return refuse('CHANGED_SINCE_RUN', `${place.path} was changed just now.`, { path: place.path });
}
