import {
  listFolderOf,
  removeAt,
  removeFolderAt,
  statAt,
  syncFolderOf,
  withPlace,
} from '../../durable/beneath-write.ts';
import { Refusal, refuse } from '../../refusal.ts';

/** Where a run keeps what it replaced or removed: files only, of its own making. */
export function backupsOf(reports_folder: string): string {
  return `${reports_folder}/backups`;
}

export interface Backups {
  readonly files: number;
  readonly bytes: number;
}

/** What the backups of a run take; `null` where they are not here. A link in their place is refused. */
export async function measureBackups(root: string, reports_folder: string): Promise<Backups | null> {
  try {
    return await withPlace(root, `${backupsOf(reports_folder)}/any`, (place) => {
      const sizes = listFolderOf(place).map((name) => statAt(place, name)?.size ?? 0n);
      return { files: sizes.length, bytes: Number(sizes.reduce((sum, size) => sum + size, 0n)) };
    });
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

/** Removes the backups and their folder. A run that was killed here is finished by the next call. */
export async function removeBackups(root: string, reports_folder: string): Promise<void> {
  const backups = backupsOf(reports_folder);
  await withPlace(root, `${backups}/any`, (place) => {
    for (const name of listFolderOf(place)) removeAt(place, name);
  });
  await withPlace(root, backups, async (place) => {
    if (removeFolderAt(place) === 'not_empty')
      refuse('WRITE_FAILED', `Another program put something into ${backups}.`, { path: backups });
    await syncFolderOf(place);
  });
}
