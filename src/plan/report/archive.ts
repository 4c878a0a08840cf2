import { randomBytes } from 'node:crypto';
import { readFileBeneath } from '../../durable/beneath.ts';
import { listFolderOf, putOver, statAt, syncFolderOf, withPlace } from '../../durable/beneath-write.ts';
import { planLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { loadManifest, MANIFEST_NAME, type RollbackManifest, saveManifest } from '../rollback/manifest.ts';
import { nothingIfMissing } from '../state/see.ts';
import { stageBytes } from '../state/stage.ts';
import { ARCHIVE, CHANGE_LOG_NAME, REPORT_NAME, REPORTS } from './folder.ts';
import { writeAll } from './write.ts';

/** The manifest as it stands at a time. Only an active one expires: what was executed stays executed. */
export function manifestAt(manifest: RollbackManifest, now: Date): RollbackManifest {
  const { status, expires_at } = manifest;
  const over = status === 'ACTIVE' && expires_at !== null && Date.parse(expires_at) <= now.getTime();
  return over ? { ...manifest, status: 'EXPIRED' } : manifest;
}

/** Writes EXPIRED into each manifest whose time is up, and says which. Nothing is removed. */
export async function expireManifests(root: string, now: Date): Promise<string[]> {
  const expired: string[] = [];
  for (const folder of await reportFolders(root)) {
    const manifest = manifestIn(root, folder);
    if (manifest === null || manifestAt(manifest, now) === manifest) continue;
    await saveManifest(root, manifestAt(manifest, now));
    await renewArchivedManifest(root, folder);
    expired.push(folder);
  }
  return expired;
}

async function reportFolders(root: string): Promise<string[]> {
  try {
    const names = await withPlace(root, `${REPORTS}/any`, listFolderOf);
    return names.sort().map((name) => `${REPORTS}/${name}`);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return [];
    throw error;
  }
}

/** A folder without a manifest, or with one that is damaged, is left for a human. */
function manifestIn(root: string, folder: string): RollbackManifest | null {
  try {
    return loadManifest(root, folder);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** 004 section 5.1, step 8: a copy of the three records of a finished run. The originals stay: a rollback needs them. */
export async function archiveRecords(root: string, folder: string): Promise<string> {
  const names = [REPORT_NAME, CHANGE_LOG_NAME, MANIFEST_NAME];
  const archive = archiveOf(folder);
  await writeAll(
    root,
    archive,
    names.map(
      (name) =>
        [name, readFileBeneath(root, `${folder}/${name}`, planLimits.report_bytes).bytes, 0o600] as const,
    ),
  );
  return archive;
}

/** The archived copy of a manifest says what the manifest itself says. A run that failed has none. */
export async function renewArchivedManifest(root: string, folder: string): Promise<void> {
  const archive = `${archiveOf(folder)}/${MANIFEST_NAME}`;
  const { bytes } = readFileBeneath(root, `${folder}/${MANIFEST_NAME}`, planLimits.report_bytes);
  await withPlace(root, archive, async (place) => {
    if (statAt(place) === null) return;
    const temporary = `.${randomBytes(16).toString('hex')}`;
    await stageBytes(place, temporary, bytes, { mode: 0o600 });
    putOver(place, temporary);
    await syncFolderOf(place);
  }).catch(nothingIfMissing);
}

/** The manifest of a run whose backups go. One that is missing or damaged is left for a human. */
export async function expireManifest(root: string, folder: string): Promise<void> {
  const manifest = manifestIn(root, folder);
  if (manifest === null) return;
  if (manifest.status === 'ACTIVE') await saveManifest(root, { ...manifest, status: 'EXPIRED' });
  await renewArchivedManifest(root, folder);
}

/** Anything but the folder of a report is refused. */
export function archiveOf(folder: string): string {
  const name = folder.startsWith(`${REPORTS}/`) ? folder.slice(REPORTS.length + 1) : '';
  if (name === '' || name.includes('/')) refuse('PATH_ESCAPES', `${folder} is not the folder of a report.`);
  return `${ARCHIVE}/${name}`;
}
