import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename } from 'node:path/posix';
import type { Digest } from '../../canonical/digest.ts';
import { pathThrough, syncFolderOf, withPlace } from '../../durable/beneath-write.ts';
import { OpenFolders } from '../../durable/open-folders.ts';
import { planLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { eachAtMost } from '../concurrent.ts';
import type { FileState, PathChange, PlanEffect } from '../model.ts';
import { backupsOf } from '../rollback/backups.ts';
import { type Checkpoint, type RollbackManifest, saveManifest } from '../rollback/manifest.ts';
import { type Attributes, wearAs } from '../state/attributes.ts';
import { makeFolder, makeFolders, missingFolders } from '../state/folders.ts';
import { isPin, sameState } from '../state/pin.ts';
import { type Seen, seeIn } from '../state/see.ts';
import { stageCopy } from '../state/stage.ts';

export interface CheckpointOptions {
  readonly root: string;
  /** Relative to the root: `agent_outputs/reports/{timestamp}_{task_id}`. */
  readonly reports_folder: string;
  readonly clock: () => Date;
  readonly attributes: Attributes;
  readonly expires_at?: string | undefined;
  readonly auto_rollback_script?: string | undefined;
}

export interface Checkpointed {
  readonly manifest: RollbackManifest;
  /** What the ledger keeps of the manifest. */
  readonly digest: Digest;
  /** What was found at each path that was not free. */
  readonly originals: ReadonlyMap<string, Seen>;
}

/** All that the plan does to one path. */
interface PathHistory {
  readonly path: string;
  readonly before: FileState | null;
  readonly states: (FileState | null | 'unknown')[];
  readonly action_ids: string[];
  renamed: boolean;
}

/**
 * Looks at everything, backs everything up and writes the manifest, all of it durably, before anything is touched. The
 * look is the copy: each file is read once, and what was read is compared with what was approved.
 */
export async function checkpointAll(effect: PlanEffect, options: CheckpointOptions): Promise<Checkpointed> {
  const { root, reports_folder } = options;
  const backups = backupsOf(reports_folder);
  await makeFolders(root, reports_folder, 0o700);
  if (!makeFolder(root, backups, 0o700)) refuse('FILE_EXISTS', `${backups} exists.`, { path: backups });
  try {
    const by_path = historiesOf(effect);
    await options.attributes.learnPaths(root, [...by_path.keys()]);
    await requirePins(options, effect, by_path);
    const histories = [...by_path.values()];
    const originals = await backUpAll(options, backups, histories);
    const manifest = manifestOf(effect, options, histories, originals);
    const digest = await saveManifest(root, manifest);
    return { manifest, digest, originals: foundAt(histories, originals) };
  } catch (error) {
    await withPlace(root, backups, (place) => rmSync(pathThrough(place), { recursive: true, force: true }));
    throw error;
  }
}

export function historiesOf(effect: PlanEffect): Map<string, PathHistory> {
  const histories = new Map<string, PathHistory>();
  for (const action of effect.actions) {
    for (const { path, before, after } of action.changes.filter((change) => !isPin(change))) {
      const known = histories.get(path);
      if (!known && before === 'unknown') refuse('PLAN_RESULT_UNKNOWN', `${path} begins unknown.`, { path });
      const history = known ?? {
        path,
        before: before as FileState | null,
        states: [],
        action_ids: [],
        renamed: false,
      };
      history.states.push(after);
      history.action_ids.push(action.action_id);
      history.renamed ||= action.action_type === 'FILE_RENAME';
      histories.set(path, history);
    }
  }
  return histories;
}

/** Files that an action reads. One that the plan itself makes is checked when the action runs. */
async function requirePins(
  { root, attributes }: CheckpointOptions,
  effect: PlanEffect,
  histories: ReadonlyMap<string, PathHistory>,
): Promise<void> {
  const pins = effect.actions.flatMap((action) => action.changes).filter(isPin);
  for (const { path, before } of pins) {
    if (!histories.has(path))
      requireState(path, before as FileState | null, await attributes.see(root, path));
  }
}

function requireState(path: string, before: FileState | null, found: Seen | null): void {
  if (sameState(before, found?.state ?? null)) return;
  refuse('PLAN_DRIFT', `${path} is not what was approved.`, {
    path,
    approved: before?.sha256 ?? 'nothing',
    found: found?.state.sha256 ?? 'nothing',
  });
}

interface Original {
  readonly seen: Seen | null;
  readonly backup: string | null;
}

function foundAt(histories: readonly PathHistory[], originals: readonly Original[]): Map<string, Seen> {
  return new Map(
    originals.flatMap(({ seen }, i) => (seen === null ? [] : [[histories[i]!.path, seen] as const])),
  );
}

/** Each folder is walked to once, not for each file. */
async function backUpAll(
  { root, attributes }: CheckpointOptions,
  backups: string,
  histories: readonly PathHistory[],
): Promise<Original[]> {
  const originals: Original[] = [];
  const folders = new OpenFolders(root);
  try {
    await eachAtMost(planLimits.concurrent_actions, histories, async ({ path, before }, index) => {
      const backup = before === null ? null : `${backups}/${backupName(path, index)}`;
      const seen = backup === null ? seeIn(folders, path) : await backUp(folders, path, backup, attributes);
      requireState(path, before, seen);
      originals[index] = { seen, backup };
    });
    await syncFolderOf(folders.at(`${backups}/any`));
    return originals;
  } finally {
    folders.close();
  }
}

async function backUp(
  folders: OpenFolders,
  path: string,
  backup: string,
  attributes: Attributes,
): Promise<Seen | null> {
  try {
    const [from, place] = [folders.at(path), folders.at(backup)];
    const dressed = ({ state, atime_ns, mtime_ns }: Seen) => ({
      mode: state.mode & 0o777,
      times: { atime_ns, mtime_ns },
    });
    const seen = await stageCopy(place, place.name, from, dressed, async (source, name) => {
      if ((await attributes.of(from, source)).state.attributes !== undefined) await wearAs(from, place, name);
    });
    return seen && (await attributes.of(from, seen));
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

/** Numbered, because two files in different folders may share a name, and a name may fill all that a name can hold. */
function backupName(path: string, index: number): string {
  const name = Buffer.from(basename(path))
    .subarray(0, 200)
    .toString('utf8')
    .replace(/\ufffd$/, '');
  return `${String(index + 1).padStart(3, '0')}_${name}.bak`;
}

function manifestOf(
  effect: PlanEffect,
  options: CheckpointOptions,
  histories: readonly PathHistory[],
  originals: readonly Original[],
): RollbackManifest {
  const chains = chainsOf(effect);
  const checkpoints = histories.map((history, i) =>
    checkpointOf(history, originals[i]!, chains.get(history.path)!),
  );
  return {
    manifest_id: randomUUID(),
    plan_id: effect.plan_id,
    task_id: effect.task_id,
    created_at: options.clock().toISOString(),
    expires_at: options.expires_at ?? null,
    status: 'ACTIVE',
    rolled_back_at: null,
    checkpoints,
    rollback_order: checkpoints.map(({ checkpoint_id }) => checkpoint_id).reverse(),
    auto_rollback_script: options.auto_rollback_script ?? null,
    notes: NOTES,
    reports_folder: options.reports_folder,
    plan_digest: effect.plan_digest,
    folders_created: effect.folders.filter((folder) =>
      missingFolders(options.root, `${folder}/any`).includes(folder),
    ),
    temporary_prefix: `.kt-${randomBytes(16).toString('hex')}-`,
    irreversible: effect.actions.filter(({ undo }) => undo === 'none').map(({ action_id }) => action_id),
  };
}

const NOTES =
  'Roll back with the keyturn command. By hand: undo the checkpoints in rollback_order, but leave a file that was changed after the run.';

function checkpointOf(history: PathHistory, { seen, backup }: Original, chain: number): Checkpoint {
  const { path, states, action_ids } = history;
  return {
    checkpoint_id: randomUUID(),
    file_path: path,
    backup_location: backup,
    original_hash: seen?.state.sha256 ?? null,
    original_size: seen?.state.size ?? null,
    operation_to_reverse: operationOf(history),
    restore_command:
      backup === null ? `Remove ${path}` : `Copy ${backup} to ${path}, with its mode and times`,
    original_mode: seen?.state.mode ?? null,
    original_attributes: seen?.state.attributes ?? null,
    original_owner: seen ? { uid: seen.uid, gid: seen.gid } : null,
    original_mtime_ns: seen?.mtime_ns.toString() ?? null,
    original_atime_ns: seen?.atime_ns.toString() ?? null,
    states,
    action_ids,
    chain,
  };
}

function operationOf({ before, states, renamed }: PathHistory): Checkpoint['operation_to_reverse'] {
  if (renamed) return 'RENAME';
  if (before === null) return 'CREATE';
  return states.at(-1) === null ? 'DELETE' : 'MODIFY';
}

/** Paths that one action changes together, directly or through others, get the same number. */
function chainsOf(effect: PlanEffect): Map<string, number> {
  const chains = new Map<string, number>();
  let next = 0;
  for (const { changes } of effect.actions) {
    const paths = changes.filter((change: PathChange) => !isPin(change)).map(({ path }) => path);
    const joined = new Set(paths.flatMap((path) => chains.get(path) ?? []));
    const chain = next++;
    for (const [path, old] of chains) if (joined.has(old)) chains.set(path, chain);
    for (const path of paths) chains.set(path, chain);
  }
  return chains;
}
