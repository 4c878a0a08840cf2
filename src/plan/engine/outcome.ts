import type { ReasonCode } from '../../refusal.ts';
import type { FileState } from '../model.ts';
import type { ActionType } from '../operation.ts';
import type { RollbackManifest } from '../rollback/manifest.ts';
import type { RollBackOutcome } from '../rollback/outcome.ts';
import type { ErrorRecord } from './failure.ts';

export type PlanRunStatus = 'SUCCESS' | 'PARTIAL' | 'FAILED' | 'ROLLED_BACK' | 'CANCELLED';

/** What became of a run. Everything that the reports of 004 section 4 need. */
export interface PlanOutcome {
  readonly plan_id: string;
  readonly status: PlanRunStatus;
  readonly started_at: string;
  readonly completed_at: string;
  readonly duration_ms: number;
  /** In the order of the effect. */
  readonly actions: readonly ActionOutcome[];
  readonly errors: readonly ErrorRecord[];
  /** What was changed, in the order in which it happened; also when it was rolled back afterwards. */
  readonly changes: readonly AppliedChange[];
  /** null when the run ended before anything could be touched. */
  readonly manifest: RollbackManifest | null;
  /** All that the run wrote into its journal. */
  readonly journal: Uint8Array;
  readonly rollback: RollBackOutcome | null;
  /** What a human must do, or may clean up. */
  readonly instructions: readonly string[];
  /** Whether anything that the run did, or began to do, is still there. */
  readonly left_behind: boolean;
  /** An unexpected error, or a rollback that is stuck: a human must look. */
  readonly escalate: boolean;
}

export type ActionOutcome = CompletedAction | FailedAction | SkippedAction;

interface Named {
  readonly action_id: string;
  readonly action_type: ActionType;
  readonly target: string;
}

export interface CompletedAction extends Named {
  readonly status: 'SUCCESS';
  readonly started_at: string;
  readonly completed_at: string;
  readonly output: string;
}

export interface FailedAction extends Named {
  readonly status: 'FAILED';
  readonly started_at: string;
  readonly completed_at: string;
  readonly error: ErrorRecord;
}

export interface SkippedAction extends Named {
  readonly status: 'SKIPPED';
  readonly reason: string;
  /** Where it was skipped for what it depends on. */
  readonly code?: ReasonCode;
}

export interface AppliedChange {
  readonly action_id: string;
  readonly path: string;
  readonly operation: 'CREATE' | 'MODIFY' | 'DELETE' | 'RENAME';
  readonly before: FileState | null;
  readonly after: FileState | null;
  readonly at: string;
}

export type PlanProgress =
  | { readonly phase: 'checkpoint'; readonly files: number }
  | { readonly phase: 'action'; readonly action_id: string; readonly number: number; readonly of: number }
  | { readonly phase: 'action_done'; readonly action_id: string; readonly status: ActionOutcome['status'] }
  | { readonly phase: 'validation' }
  | { readonly phase: 'rollback' }
  | { readonly phase: 'done'; readonly status: PlanRunStatus };
