import type { AppliedChange, PlanOutcome } from '../engine/outcome.ts';
import type { FileState } from '../model.ts';
import { type DiffSummary, unshown } from './diff-summary.ts';
import type { ChangeLog, RecordedChanges } from './schema.ts';

export interface ChangeLogIdentity {
  readonly log_id: string;
  readonly execution_report_id: string;
  readonly created_at: string;
  /** Gives each change an id. */
  readonly newId: () => string;
}

/** What the record keeps of the changes of a run: all of `change_log.json` but the diffs. */
export function recordChanges(outcome: PlanOutcome, identity: ChangeLogIdentity): RecordedChanges {
  const { log_id, execution_report_id, created_at } = identity;
  const modified = new Map(originalTimes(outcome));
  return {
    log_id,
    plan_id: outcome.plan_id,
    execution_report_id,
    created_at,
    changes: withRenamesJoined(outcome.changes).map(({ change, new_path }) => {
      const { action_id, path: file_path, operation, before, after, at } = change;
      const was_modified = modified.get(file_path) ?? null;
      const after_state = stateOf(after, operation === 'RENAME' ? was_modified : at);
      modified.set(new_path ?? file_path, after_state.last_modified);
      return {
        change_id: identity.newId(),
        action_id,
        file_path,
        ...(new_path === undefined ? {} : { new_path }),
        operation,
        before_state: stateOf(before, was_modified),
        after_state,
        timestamp: at,
      };
    }),
    files_affected_count: new Set(outcome.changes.map(({ path }) => path)).size,
    rolled_back: outcome.rollback !== null,
  };
}

/**
 * `change_log.json`: 004 section 4.2. A file that several actions changed is compared once, from before the run to after it, and the
 * comparison stands with its last change: what was there in between is not kept.
 */
export function withDiffs(
  { rolled_back: _, files_affected_count, changes: recorded, ...identity }: RecordedChanges,
  diffs: ReadonlyMap<string, DiffSummary>,
): ChangeLog {
  const changes = recorded.map(({ timestamp, ...change }, i) => {
    const last = !recorded.slice(i + 1).some((later) => later.file_path === change.file_path);
    const diff_summary =
      change.new_path === undefined
        ? diffFor(diffs, change.file_path, last)
        : unshown('The content is the same.');
    return { ...change, diff_summary, timestamp };
  });
  const total_lines_changed = changes.reduce(
    (sum, { diff_summary: d }) => sum + d.lines_added + d.lines_removed,
    0,
  );
  return { ...identity, changes, files_affected_count, total_lines_changed };
}

function diffFor(diffs: ReadonlyMap<string, DiffSummary>, path: string, last: boolean): DiffSummary {
  if (!last) return unshown('A later action changed the file again; see its last change.');
  return diffs.get(path) ?? unshown('There is nothing left to compare.');
}

interface Joined {
  readonly change: AppliedChange;
  readonly new_path?: string;
}

/** A rename is two changes of paths and one change to a reader. */
function withRenamesJoined(changes: readonly AppliedChange[]): Joined[] {
  const joined: Joined[] = [];
  for (let i = 0; i < changes.length; i++) {
    const from = changes[i]!;
    const to = changes[i + 1];
    if (from.operation === 'RENAME' && to?.operation === 'RENAME' && to.action_id === from.action_id) {
      joined.push({ change: { ...from, after: to.after }, new_path: to.path });
      i += 1;
    } else joined.push({ change: from });
  }
  return joined;
}

function* originalTimes({ manifest }: PlanOutcome): Generator<[string, string | null]> {
  for (const { file_path, original_mtime_ns } of manifest?.checkpoints ?? [])
    yield [file_path, original_mtime_ns === null ? null : timeOf(BigInt(original_mtime_ns))];
}

/** A file may carry any time; one that no calendar holds is not told. */
function timeOf(ns: bigint): string | null {
  const date = new Date(Number(ns / 1_000_000n));
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : null;
}

type FileFacts = RecordedChanges['changes'][number]['before_state'];

function stateOf(state: FileState | null, last_modified: string | null): FileFacts {
  if (state === null)
    return { exists: false, hash: null, size_bytes: null, last_modified: null, attributes: null };
  const { sha256: hash, size: size_bytes, attributes = null } = state;
  return { exists: true, hash, size_bytes, last_modified, attributes };
}
