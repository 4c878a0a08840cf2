import { randomBytes } from 'node:crypto';
import { readFileBeneath } from '../../durable/beneath.ts';
import { listFolderOf, putOver, statAt, syncFolderOf, withPlace } from '../../durable/beneath-write.ts';
import { planLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { turnsOf } from '../../turns.ts';
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

/** When the manifest of a folder expires, in milliseconds since 1970, as it said when it was read. */
export type Expiries = Map<string, number>;

/** Writes EXPIRED into each manifest whose time is up, and says which. Nothing is removed. One that is known is not read before its time. */
export async function expireManifests(
  root: string,
  now: Date,
  known: Expiries = new Map(),
): Promise<string[]> {
  const expired: string[] = [];
  const turns = turnsOf();
  const folders = await reportFolders(root);
  for (const folder of folders) {
    if ((known.get(folder) ?? 0) > now.getTime()) continue;
    await turns();
    const manifest = manifestIn(root, folder);
    if (manifest === null) continue;
    const is_over = manifestAt(manifest, now) !== manifest;
    if (is_over) {
      await saveManifest(root, manifestAt(manifest, now));
      await renewArchivedManifest(root, folder);
      expired.push(folder);
    }
    known.set(folder, is_over ? Number.POSITIVE_INFINITY : expiryOf(manifest));
  }
  if (known.size > folders.length) forgetGone(known, new Set(folders));
  return expired;
}

function expiryOf({ status, expires_at }: RollbackManifest): number {
  return status === 'ACTIVE' && expires_at !== null ? Date.parse(expires_at) : Number.POSITIVE_INFINITY;
}

function forgetGone(known: Expiries, folders: ReadonlySet<string>): void {
  for (const folder of known.keys()) if (!folders.has(folder)) known.delete(folder);
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
