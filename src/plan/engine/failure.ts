import { randomUUID } from 'node:crypto';
import { type Category, explain, type ReasonCode, Refusal } from '../../refusal.ts';

/** 004 section 8.2: one object per failure. */
export interface ErrorRecord {
  readonly error_id: string;
  readonly error_code: number;
  readonly error_category: Category;
  readonly error_type: ReasonCode;
  readonly message: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** Filled in when the run knows how it ended. */
  readonly recovery_action: RecoveryAction;
  readonly timestamp: string;
}

export type RecoveryAction = 'SKIPPED' | 'ROLLED_BACK' | 'MANUAL_REQUIRED';

/** What a failure leads to: the matrix of 004 section 8.3. */
export type Recovery =
  /** This action failed; whether the others go on is for the plan to say. */
  | 'fail'
  /** Stop and roll back, whatever the plan says. */
  | 'stop'
  /** The same, and a human must look: this was never foreseen. */
  | 'escalate';

const STOPS: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'DISK_FULL',
  'WRITE_FAILED',
  'PLAN_DRIFT',
  'SQL_LOCK_LOST',
  'RESULT_MISMATCH',
  'PLAN_RULE_BROKEN',
  'PLAN_TIMED_OUT',
  'PLAN_CANCELLED',
]);

export function recoveryOf(error: unknown): Recovery {
  if (!(error instanceof Refusal) || error.code === 'INTERNAL') return 'escalate';
  return STOPS.has(error.code) ? 'stop' : 'fail';
}

export function errorRecord(
  error: unknown,
  about: { readonly action_id?: string; readonly target?: string; readonly operation?: string },
  at: Date,
): ErrorRecord {
  const code = error instanceof Refusal ? error.code : 'INTERNAL';
  const { number, category } = explain(code);
  return {
    error_id: randomUUID(),
    error_code: number,
    error_category: category,
    error_type: code,
    message: error instanceof Error ? error.message : String(error),
    details: { ...(error instanceof Refusal ? error.facts : {}), ...about },
    recovery_action: 'SKIPPED',
    timestamp: at.toISOString(),
  };
}
