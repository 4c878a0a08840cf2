import type {
  ActionOutcome,
  CompletedAction,
  FailedAction,
  PlanOutcome,
  SkippedAction,
} from '../engine/outcome.ts';
import type { ExecutionReport } from './schema.ts';

export interface ReportIdentity {
  readonly report_id: string;
  readonly execution_id: string;
  readonly task_id: string;
  readonly executor_version: string;
}

/** `execution_report.json`: 004 section 4.1. Every action of the plan is in exactly one of the three lists. */
export function buildExecutionReport(outcome: PlanOutcome, identity: ReportIdentity): ExecutionReport {
  const { plan_id, status, started_at, completed_at, duration_ms, actions, rollback } = outcome;
  const completed = actions.filter((action) => action.status === 'SUCCESS');
  const failed = actions.filter((action) => action.status === 'FAILED');
  const skipped = actions.filter((action) => action.status === 'SKIPPED');
  return {
    report_id: identity.report_id,
    plan_id,
    task_id: identity.task_id,
    execution_id: identity.execution_id,
    executor_version: identity.executor_version,
    status,
    started_at,
    completed_at,
    duration_ms,
    actions_summary: summaryOf(actions, completed, failed, skipped),
    actions_completed: completed.map(completedEntry),
    actions_failed: failed.map(failedEntry),
    actions_skipped: skipped.map(({ action_id, reason }) => ({ action_id, reason })),
    rollback_performed: rollback?.status === 'rolled_back',
    rollback_manifest_id: outcome.manifest?.manifest_id ?? null,
    escalate: outcome.escalate,
    instructions: [...outcome.instructions],
    errors: outcome.errors.map((error) => ({ ...error })),
  };
}

function summaryOf(
  all: readonly ActionOutcome[],
  completed: readonly CompletedAction[],
  failed: readonly FailedAction[],
  skipped: readonly SkippedAction[],
): ExecutionReport['actions_summary'] {
  return {
    total: all.length,
    completed: completed.length,
    failed: failed.length,
    skipped: skipped.length,
  };
}

function completedEntry({ action_id, status, started_at, completed_at, output }: CompletedAction) {
  return { action_id, status, started_at, completed_at, output };
}

function failedEntry({ action_id, status, started_at, completed_at, error }: FailedAction) {
  return {
    action_id,
    status,
    started_at,
    completed_at,
    error_code: error.error_code,
    error_type: error.error_type,
    error_message: error.message,
  };
}
