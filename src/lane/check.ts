import { type ReasonCode, Refusal } from '../refusal.ts';
import type { QueueFolder } from './folder.ts';
import { type ExecutedLine, executedForm } from './form.ts';
import { readLines } from './lines.ts';
import { type Claimed, requireForm, verifyApproval } from './verify.ts';

/** The controller's answer: one line that 000 fixes, and the reason behind it. */
export interface Verdict {
  readonly ok: boolean;
  readonly line: string;
  readonly code: ReasonCode | null;
  readonly message: string;
  readonly executed_at: string | null;
}

/** Answers by returning; refuses for no. The in-process one is `verifyApproval`. */
export type Verifier = (claimed: Claimed) => Promise<void>;

/**
 * The controller of 000, step for step. It reads the two files and nothing else, writes nothing, and tries nothing
 * twice. Each step leads to the next or ends with its line.
 */
export async function checkEligibility(
  queue: QueueFolder,
  claimed: Claimed,
  verifier: Verifier = (asked) => verifyApproval(queue, asked),
): Promise<Verdict> {
  // Step 1: both inputs, in their one form.
  const form = await answerOf(() => requireForm(claimed));
  if (form !== null) return denied(FORM_LINES[form.code] ?? INTERNAL_LINE, form);

  // Steps 2 and 3: the verifier says yes or no. Anything else is an error, never a yes.
  const approval = await answerOf(() => verifier(claimed), 'VERIFIER_ERROR');
  if (approval !== null) return denied(VERIFIER_LINES[approval.code] ?? NOT_APPROVED_LINE, approval);

  // Step 4: any record of this id, however old and whatever its outcome, means executed.
  let records: readonly ExecutedLine[] = [];
  const history = await answerOf(async () => {
    records = (await readLines(queue.executed, executedForm, claimed.id)) ?? [];
  });
  if (history !== null) return denied(RECORD_LINE, history);
  const record = records.findLast(({ outcome }) => outcome !== 'started') ?? records.at(-1);
  if (record !== undefined) return alreadyExecuted(record);

  // Step 5.
  return { ok: true, line: ELIGIBLE_LINE, code: null, message: '', executed_at: null };
}

export const ELIGIBLE_LINE = '[OK] Intent eligible for execution';
const NOT_APPROVED_LINE = '[ERROR] Approval verification failed';
const RECORD_LINE = '[ERROR] Execution record cannot be trusted';
const INTERNAL_LINE = '[ERROR] Execution controller failed';

const FORM_LINES: Readonly<Partial<Record<ReasonCode, string>>> = {
  ID_MALFORMED: '[ERROR] Invalid intent UUID',
  HASH_MALFORMED: '[ERROR] Invalid intent hash',
};

const VERIFIER_LINES: Readonly<Partial<Record<ReasonCode, string>>> = {
  VERIFIER_NOT_FOUND: '[ERROR] Execution verification tool not found',
  VERIFIER_NOT_CALLABLE: '[ERROR] Cannot invoke execution verifier',
  VERIFIER_ERROR: '[ERROR] Verification tool error',
};

/** `null` when the step passed. A failure that nobody foresaw is a refusal too. */
async function answerOf(step: () => unknown, unforeseen: ReasonCode = 'INTERNAL'): Promise<Refusal | null> {
  try {
    await step();
    return null;
  } catch (error) {
    return error instanceof Refusal ? error : new Refusal(unforeseen);
  }
}

function denied(line: string, refusal: Refusal, executed_at: string | null = null): Verdict {
  return { ok: false, line, code: refusal.code, message: refusal.message, executed_at };
}

/** A start without an end blocks like an end: the effect may have happened. */
function alreadyExecuted({ timestamp, outcome }: ExecutedLine): Verdict {
  const code = outcome === 'started' ? 'RUN_IN_DOUBT' : 'ALREADY_EXECUTED';
  const line = `[ERROR] Intent already executed at ${timestamp}`;
  return denied(line, new Refusal(code), timestamp);
}
