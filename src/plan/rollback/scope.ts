import { statAt } from '../../durable/beneath-write.ts';
import { OpenFolders } from '../../durable/open-folders.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { PlanEffect } from '../model.ts';
import { Attributes } from '../state/attributes.ts';
import { sameState } from '../state/pin.ts';
import {
  type Checkpoint,
  changesByPath,
  originalOf,
  type RollbackManifest,
  requireManifestOf,
} from './manifest.ts';

export interface ScopeOptions {
  readonly root: string;
  /** Ids of checkpoints; all of them when left out. */
  readonly checkpoints?: readonly string[];
  /** Paths that stay as they are. */
  readonly except?: readonly string[];
  /** The approved effect: the manifest must be its own. Left out only where the manifest was made a moment ago. */
  readonly effect?: PlanEffect;
  /** What the run itself learnt about the files. */
  readonly attributes?: Attributes;
}

/**
 * Everything that refuses a rollback before it touches anything: a manifest of another plan, a checkpoint that is none,
 * a backup that is gone. Returns what would be restored, the last change first.
 */
export async function requireRollBack(
  manifest: RollbackManifest,
  options: ScopeOptions,
): Promise<Checkpoint[]> {
  const { effect, checkpoints } = options;
  if (effect) requireManifestOf(manifest, effect);
  const left = exceptedFrom(manifest, options);
  const scope = scopeOf(manifest, checkpoints).filter((checkpoint) => !left.includes(checkpoint));
  requireWholeChains(manifest, scope);
  await requireBackups(options, scope);
  return scope;
}

/** By size only: each backup is hashed when it is copied, before it replaces anything. */
async function requireBackups(
  { root, attributes = new Attributes() }: ScopeOptions,
  scope: readonly Checkpoint[],
): Promise<void> {
  const folders = new OpenFolders(root);
  try {
    for (const checkpoint of scope) {
      if (hasBackup(folders, checkpoint) || (await isAsBefore(root, checkpoint, attributes))) continue;
      const path = checkpoint.backup_location ?? checkpoint.file_path;
      refuse('BACKUP_CORRUPT', `${path} is gone, or is not the original.`, { path });
    }
  } finally {
    folders.close();
  }
}

function hasBackup(folders: OpenFolders, { backup_location, original_size }: Checkpoint): boolean {
  if (original_size === null) return true;
  if (backup_location === null) return false;
  try {
    const stats = statAt(folders.at(backup_location));
    return stats?.isFile() === true && stats.nlink === 1n && stats.size === BigInt(original_size);
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

async function isAsBefore(root: string, checkpoint: Checkpoint, attributes: Attributes): Promise<boolean> {
  try {
    const seen = await attributes.see(root, checkpoint.file_path);
    return sameState(seen?.state ?? null, originalOf(checkpoint));
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/**
 * A run without a manifest has changed nothing, because the manifest is there before the first change. Or it was removed:
 * the files themselves tell which, and only when all of them are as they were is there nothing to undo.
 */
export async function requireUntouched(effect: PlanEffect, root: string): Promise<void> {
  const attributes = new Attributes();
  const changes = changesByPath(effect);
  await attributes.learnPaths(root, [...changes.keys()]);
  for (const [path, [first]] of changes) {
    const before = first!.before === 'unknown' ? null : first!.before;
    if (!sameState(before, (await attributes.see(root, path))?.state ?? null))
      refuse('MANIFEST_CORRUPT', `There is no manifest, and ${path} is not as it was before the run.`, {
        path,
      });
  }
}

/** The checkpoints to restore, the last change first. A part of a chain is refused: half of a move loses a file. */
function scopeOf(manifest: RollbackManifest, chosen: readonly string[] | undefined): Checkpoint[] {
  const by_id = new Map(manifest.checkpoints.map((checkpoint) => [checkpoint.checkpoint_id, checkpoint]));
  const ordered = manifest.rollback_order.map(
    (id) => by_id.get(id) ?? refuse('MANIFEST_CORRUPT', `The order names ${id}, which is no checkpoint.`),
  );
  if (new Set(ordered).size !== manifest.checkpoints.length)
    refuse('MANIFEST_CORRUPT', 'The order does not name each checkpoint once.');
  if (chosen === undefined) return ordered;
  const unknown = chosen.find((id) => !by_id.has(id));
  if (unknown !== undefined) refuse('CHECKPOINT_UNKNOWN', `There is no checkpoint ${unknown}.`);
  return ordered.filter((checkpoint) => chosen.includes(checkpoint.checkpoint_id));
}

/** The checkpoints of the paths that stay as they are. */
export function exceptedFrom(manifest: RollbackManifest, { except = [] }: ScopeOptions): Checkpoint[] {
  return [...new Set(except)].map(
    (path) =>
      manifest.checkpoints.find(({ file_path }) => file_path === path) ??
      refuse('CHECKPOINT_UNKNOWN', `The plan does not change ${path}.`, { path }),
  );
}

function requireWholeChains(manifest: RollbackManifest, scope: readonly Checkpoint[]): void {
  const chains = new Set(scope.map(({ chain }) => chain));
  const left_out = manifest.checkpoints.filter(
    (checkpoint) => chains.has(checkpoint.chain) && !scope.includes(checkpoint),
  );
  if (left_out.length === 0) return;
  const ids = left_out.map(({ checkpoint_id, file_path }) => `${checkpoint_id} (${file_path})`).join(', ');
  refuse('CHECKPOINT_CHAINED', `These belong to it: ${ids}.`);
}
