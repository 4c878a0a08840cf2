import type { ReasonCode } from '../refusal.ts';

/** The lines of 000, byte for byte. Both controllers speak them: `check` on the store and `lane check` on the files. */
export const ELIGIBLE_LINE = '[OK] Intent eligible for execution';

const NOT_APPROVED = '[ERROR] Approval verification failed';
const NOT_FOUND = '[ERROR] Execution verification tool not found';
const NOT_CALLABLE = '[ERROR] Cannot invoke execution verifier';
const VERIFIER_ERROR = '[ERROR] Verification tool error';
const EXECUTED = '[ERROR] Intent already executed';
/** What 000 has no line for: the intent is approved, and something else stands in the way. */
const FROZEN = '[ERROR] Frozen';
const NOT_ORDERED = '[ERROR] Not ordered to run';
const FAILED = '[ERROR] Execution failed';
const PARTIAL = '[ERROR] Execution stopped half way';
const STUCK = '[ERROR] Rollback stuck';

/** Lines about a run: they say when it began. */
const ABOUT_RUN: ReadonlySet<string> = new Set([EXECUTED, FAILED, PARTIAL, STUCK]);

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
  INTENT_WITHDRAWN: NOT_APPROVED,
  INTENT_REPLACED: NOT_APPROVED,
  INTENT_EXPIRED: NOT_APPROVED,
  VERIFIER_DENIED: NOT_APPROVED,
  FROZEN,
  ORDER_MISSING: NOT_ORDERED,
  ORDER_LAPSED: NOT_ORDERED,
  CAPABILITY_EXPIRED: '[ERROR] Capability expired',
  CAPABILITY_REVOKED: '[ERROR] Capability revoked',
  CAPABILITY_NOT_YET: '[ERROR] Capability not valid yet',
  ALREADY_EXECUTED: EXECUTED,
  CLAIM_TAKEN: EXECUTED,
  // It began, and that is recorded: 000 asks for no more.
  RUN_IN_DOUBT: EXECUTED,
  RUN_FAILED: FAILED,
  RUN_PARTIAL: PARTIAL,
  ROLLBACK_STUCK: STUCK,
  PROJECT_MISSING: NOT_FOUND,
  STORE_MISSING: NOT_FOUND,
  VERIFIER_NOT_FOUND: NOT_FOUND,
  STORE_NEWER: NOT_CALLABLE,
  STORE_OLDER: NOT_CALLABLE,
  STORE_BUSY: NOT_CALLABLE,
  STORE_READ_ONLY: NOT_CALLABLE,
  FILE_UNREADABLE: NOT_CALLABLE,
  VERIFIER_NOT_CALLABLE: NOT_CALLABLE,
};

/** The controller's line for a no. Whatever is not listed is an error of the verifier, and that is a no. */
export function controllerLine(code: ReasonCode, executed_at: string | null = null): string {
  const line = LINES[code] ?? VERIFIER_ERROR;
  return ABOUT_RUN.has(line) && executed_at !== null ? `${line} at ${executed_at}` : line;
}
