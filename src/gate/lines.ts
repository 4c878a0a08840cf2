import type { ReasonCode } from '../refusal.ts';

/** The lines of 000, byte for byte. Both controllers speak them: `check` on the store and `lane check` on the files. */
export const ELIGIBLE_LINE = '[OK] Intent eligible for execution';

const NOT_APPROVED = '[ERROR] Approval verification failed';
const NOT_FOUND = '[ERROR] Execution verification tool not found';
const NOT_CALLABLE = '[ERROR] Cannot invoke execution verifier';
const VERIFIER_ERROR = '[ERROR] Verification tool error';
const EXECUTED = '[ERROR] Intent already executed';

/**
 * In the lane the verifier is a function or a program; with a store, the store is the verifier, and one that is missing
 * or closed is one that cannot be found or called.
 */
const LINES: Readonly<Partial<Record<ReasonCode, string>>> = {
  ID_MALFORMED: '[ERROR] Invalid intent UUID',
  HASH_MALFORMED: '[ERROR] Invalid intent hash',
  INTENT_NOT_FOUND: NOT_APPROVED,
  HASH_MISMATCH: NOT_APPROVED,
  APPROVAL_MISSING: NOT_APPROVED,
  APPROVAL_EXPIRED: NOT_APPROVED,
  APPROVER_REVOKED: NOT_APPROVED,
  INTENT_REJECTED: NOT_APPROVED,
  INTENT_EXPIRED: NOT_APPROVED,
  VERIFIER_DENIED: NOT_APPROVED,
  FROZEN: NOT_APPROVED,
  CAPABILITY_MISSING: NOT_APPROVED,
  CAPABILITY_EXPIRED: NOT_APPROVED,
  CAPABILITY_REVOKED: NOT_APPROVED,
  ALREADY_EXECUTED: EXECUTED,
  RUN_FAILED: EXECUTED,
  RUN_IN_DOUBT: EXECUTED,
  ROLLBACK_STUCK: EXECUTED,
  CLAIM_TAKEN: EXECUTED,
  PROJECT_MISSING: NOT_FOUND,
  STORE_MISSING: NOT_FOUND,
  VERIFIER_NOT_FOUND: NOT_FOUND,
  STORE_NEWER: NOT_CALLABLE,
  STORE_BUSY: NOT_CALLABLE,
  STORE_READ_ONLY: NOT_CALLABLE,
  FILE_UNREADABLE: NOT_CALLABLE,
  VERIFIER_NOT_CALLABLE: NOT_CALLABLE,
};

/** The controller's line for a no. Whatever is not listed is an error of the verifier, and that is a no. */
export function controllerLine(code: ReasonCode, executed_at: string | null = null): string {
  const line = LINES[code] ?? VERIFIER_ERROR;
  return line === EXECUTED && executed_at !== null ? `${line} at ${executed_at}` : line;
}
