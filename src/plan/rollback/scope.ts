import { refuse } from '../../refusal.ts';
import type { Checkpoint, RollbackManifest } from './manifest.ts';

/** The checkpoints to restore, the last change first. A part of a chain is refused: half of a move loses a file. */
export function scopeOf(manifest: RollbackManifest, chosen: readonly string[] | undefined): Checkpoint[] {
  const by_id = new Map(manifest.checkpoints.map((checkpoint) => [checkpoint.checkpoint_id, checkpoint]));
  const ordered = manifest.rollback_order.map(
    (id) => by_id.get(id) ?? refuse('MANIFEST_CORRUPT', `The order names ${id}, which is no checkpoint.`),
  );
  if (new Set(ordered).size !== manifest.checkpoints.length)
    refuse('MANIFEST_CORRUPT', 'The order does not name each checkpoint once.');
  if (chosen === undefined) return ordered;
  const unknown = chosen.find((id) => !by_id.has(id));
  if (unknown !== undefined) refuse('CHECKPOINT_UNKNOWN', `There is no checkpoint ${unknown}.`);
  const scope = ordered.filter((checkpoint) => chosen.includes(checkpoint.checkpoint_id));
  requireWholeChains(manifest, scope);
  return scope;
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
