import type { ReasonCode } from '../../refusal.ts';
import type { InspectedRun } from './inspect.ts';
import { type Checkpoint, originalOf, type RollbackManifest } from './manifest.ts';

export type RollBackStep = 'nothing' | 'restore' | 'remove' | 'move_back' | 'refuse' | 'except';

export interface RolledBackPath {
  readonly checkpoint_id: string;
  readonly path: string;
  readonly step: RollBackStep;
  /** False after a preview, after a refusal, and when it did not succeed. */
  readonly done: boolean;
  readonly code?: ReasonCode;
  readonly message?: string;
}

export interface RollBackOutcome {
  /** `stuck`: at least one path is not as it was before the run; `instructions` say what a human must do. */
  readonly status: 'rolled_back' | 'stuck' | 'preview';
  readonly paths: readonly RolledBackPath[];
  readonly folders_removed: readonly string[];
  /** Actions that happened and that nothing undoes. */
  readonly not_undone: readonly string[];
  /** What a human must do, or may clean up. */
  readonly instructions: readonly string[];
}

export function said(
  { checkpoint_id, file_path }: Checkpoint,
  step: RollBackStep,
  done: boolean,
  message?: string,
  code?: ReasonCode,
): RolledBackPath {
  return {
    checkpoint_id,
    path: file_path,
    step,
    done,
    ...(message ? { message } : {}),
    ...(code ? { code } : {}),
  };
}

export function summary(
  status: RollBackOutcome['status'],
  paths: readonly RolledBackPath[],
  folders_removed: readonly string[],
  run: InspectedRun,
  manifest: RollbackManifest,
): RollBackOutcome {
  const not_undone = run.actions
    .map(({ action_id }) => action_id)
    .filter((id) => manifest.irreversible.includes(id));
  const stuck = paths.filter(({ done, step }) => (status === 'preview' ? step === 'refuse' : !done));
  return {
    status,
    paths,
    folders_removed,
    not_undone,
    instructions: stuck.map((path) => instructionFor(path, manifest)),
  };
}

function instructionFor(
  { checkpoint_id, path, message, code }: RolledBackPath,
  manifest: RollbackManifest,
): string {
  const checkpoint = manifest.checkpoints.find((one) => one.checkpoint_id === checkpoint_id)!;
  return `${path}: ${message ?? 'not restored'} To restore it by hand: ${wayBack(checkpoint, path, code)}, then roll back again.`;
}

function wayBack(checkpoint: Checkpoint, path: string, code: ReasonCode | undefined): string {
  const original = originalOf(checkpoint);
  if (original === null) return `nothing was there before the run; remove ${path} if the other change may go`;
  const known = `SHA-256 ${original.sha256}, mode ${original.mode.toString(8)}`;
  return code === 'BACKUP_CORRUPT'
    ? `put a copy of the original (${known}) from elsewhere at ${checkpoint.backup_location}, or at ${path}`
    : `the original is ${checkpoint.backup_location} (${known}); copy it to ${path} if the other change may go`;
}

export function withReason(outcome: RollBackOutcome, error: unknown): RollBackOutcome {
  const why = error instanceof Error ? error.message : String(error);
  return {
    ...outcome,
    instructions: [...outcome.instructions, `${why} Correct this, then roll back again.`],
  };
}
