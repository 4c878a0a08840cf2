import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { Keyturn } from '../keyturn.ts';
import { ELIGIBLE_LINE } from '../lane/check.ts';
import { type ReasonCode, type Refusal, refuse } from '../refusal.ts';
import { refusalOf } from './tell.ts';

/** What the controller of 000 says: one line, and the reason behind a no. */
export interface Verdict {
  readonly line: string;
  readonly refusal: Refusal | null;
}

/** Asks the store of the project. Reads, answers, writes nothing; whatever goes wrong is a no. */
export async function askController(at: string, intent_id: string, hash: string): Promise<Verdict> {
  try {
    if (!isUuid(intent_id)) refuse('ID_MALFORMED');
    if (!isDigest(hash)) refuse('HASH_MALFORMED');
    await requireEligible(at, intent_id, hash);
    return { line: ELIGIBLE_LINE, refusal: null };
  } catch (error) {
    const refusal = refusalOf(error);
    return { line: controllerLine(refusal), refusal };
  }
}

async function requireEligible(at: string, intent_id: string, hash: string): Promise<void> {
  const keyturn = await Keyturn.open({ at, mode: 'read' });
  try {
    const verdict = await keyturn.check(intent_id, hash);
    if (verdict.eligible) return;
    const { code, executed_at } = verdict;
    refuse(code, undefined, executed_at === null ? {} : { executed_at });
  } finally {
    await keyturn.close();
  }
}

const NOT_APPROVED = '[ERROR] Approval verification failed';
const NOT_FOUND = '[ERROR] Execution verification tool not found';
const NOT_CALLABLE = '[ERROR] Cannot invoke execution verifier';
const TOOL_ERROR = '[ERROR] Verification tool error';
const EXECUTED = '[ERROR] Intent already executed';

/** The lines of 000. In Keyturn the store is the verifier: a store that is missing or closed is one that is. */
const LINES: Readonly<Partial<Record<ReasonCode, string>>> = {
  ID_MALFORMED: '[ERROR] Invalid intent UUID',
  HASH_MALFORMED: '[ERROR] Invalid intent hash',
  INTENT_NOT_FOUND: NOT_APPROVED,
  HASH_MISMATCH: NOT_APPROVED,
  APPROVAL_MISSING: NOT_APPROVED,
  APPROVAL_EXPIRED: NOT_APPROVED,
  INTENT_REJECTED: NOT_APPROVED,
  INTENT_EXPIRED: NOT_APPROVED,
  ALREADY_EXECUTED: EXECUTED,
  RUN_FAILED: EXECUTED,
  RUN_IN_DOUBT: EXECUTED,
  PROJECT_MISSING: NOT_FOUND,
  STORE_MISSING: NOT_FOUND,
  STORE_NEWER: NOT_CALLABLE,
  STORE_BUSY: NOT_CALLABLE,
  STORE_READ_ONLY: NOT_CALLABLE,
  FILE_UNREADABLE: NOT_CALLABLE,
};

/** Anything that is not listed is an error of the verifier, and that is a no. */
export function controllerLine({ code, details }: Refusal): string {
  const line = LINES[code] ?? TOOL_ERROR;
  return line === EXECUTED && typeof details.executed_at === 'string'
    ? `${line} at ${details.executed_at}`
    : line;
}
