import { Refusal } from '../../refusal.ts';
import type { Checkpoint } from '../rollback/manifest.ts';
import { readContent } from '../state/see.ts';
import { diffOf } from './diff.ts';
import { type DiffSummary, summaryOf, unshown } from './diff-summary.ts';
import type { RecordedChanges } from './schema.ts';

export interface CompareOptions {
  readonly root: string;
  /** What was there before the run, and where its backup is. */
  readonly checkpoints: readonly Checkpoint[];
  /** Files whose content no report may show. */
  readonly hides: (path: string) => boolean;
}

/**
 * Compares each changed file with its backup, one after the other. A file that is no longer what the run left is not compared: its
 * content comes from another process.
 */
export async function compareChanges(
  { changes, rolled_back }: RecordedChanges,
  { root, checkpoints, hides }: CompareOptions,
): Promise<Map<string, DiffSummary>> {
  const diffs = new Map<string, DiffSummary>();
  const left = new Map(changes.map(({ file_path, after_state }) => [file_path, after_state.hash]));
  for (const { file_path: path, backup_location } of checkpoints) {
    const hash = left.get(path);
    if (hash === undefined) continue;
    if (rolled_back) diffs.set(path, unshown('The change was rolled back.'));
    else if (hides(path)) diffs.set(path, unshown('The file is protected, so its content is not shown.'));
    else diffs.set(path, await compare(root, path, backup_location, hash));
  }
  return diffs;
}

async function compare(
  root: string,
  path: string,
  backup: string | null,
  left: string | null,
): Promise<DiffSummary> {
  try {
    const before = backup === null ? null : ((await readContent(root, backup))?.bytes ?? null);
    if (backup !== null && before === null) return unshown('The backup is gone.');
    const now = left === null ? null : await readContent(root, path);
    if ((now?.state.sha256 ?? null) !== left) return unshown('The file was changed again.');
    return summaryOf(path, diffOf(before, now?.bytes ?? null));
  } catch (error) {
    // The run is over: a report says less rather than fail.
    if (error instanceof Refusal) return unshown(`The file could not be compared: ${error.code}.`);
    throw error;
  }
}
