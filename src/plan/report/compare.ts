import { Refusal } from '../../refusal.ts';
import type { PlanOutcome } from '../engine/outcome.ts';
import type { FileState } from '../model.ts';
import { read } from '../state/see.ts';
import { diffOf } from './diff.ts';
import { type DiffSummary, summaryOf, unshown } from './diff-summary.ts';
import type { EditDiffs } from './edit-diffs.ts';

export interface CompareOptions {
  readonly root: string;
  /** Files whose content no report may show. */
  readonly hides: (path: string) => boolean;
  /** What the run itself saw of its edits. */
  readonly edits?: EditDiffs;
}

/**
 * Compares each changed file with its backup, one after the other, where the run itself has not told. A file that is no longer what
 * the run left is not compared: its content is somebody else's.
 */
export async function compareChanges(
  outcome: PlanOutcome,
  { root, hides, edits }: CompareOptions,
): Promise<Map<string, DiffSummary>> {
  const diffs = new Map<string, DiffSummary>();
  const last = new Map(outcome.changes.map(({ path, after }) => [path, after]));
  const undone = outcome.rollback !== null;
  for (const { file_path: path, backup_location, original_hash } of outcome.manifest?.checkpoints ?? []) {
    const after = last.get(path);
    if (after === undefined) continue;
    if (undone) diffs.set(path, unshown('The change was rolled back.'));
    else if (hides(path)) diffs.set(path, unshown('The file is protected, so its content is not shown.'));
    else
      diffs.set(
        path,
        edits?.between(path, original_hash, after) ?? (await compare(root, path, backup_location, after)),
      );
  }
  return diffs;
}

async function compare(
  root: string,
  path: string,
  backup: string | null,
  after: FileState | null,
): Promise<DiffSummary> {
  try {
    const before = backup === null ? null : ((await read(root, backup))?.bytes ?? null);
    const now = after === null ? null : await read(root, path);
    if (now?.state.sha256 !== after?.sha256) return unshown('The file was changed again.');
    return summaryOf(path, diffOf(before, now?.bytes ?? null));
  } catch (error) {
    // The run is over: a report says less rather than fail.
    if (error instanceof Refusal) return unshown(`The file could not be compared: ${error.code}.`);
    throw error;
  }
}
