import { controllerLine, ELIGIBLE_LINE } from '../gate/lines.ts';
import { BLOCKS } from '../gate/next.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import type { QueueFolder } from './folder.ts';
import { type ExecutedLine, executedForm } from './form.ts';
import { readLines } from './lines.ts';
import { type Claimed, requireForm, verifyApproval } from './verify.ts';

/** The controller's answer: one line that 000 fixes, and the reason behind it. */
export interface CheckAnswer {
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
): Promise<CheckAnswer> {
  // Step 1: both inputs, in their one form.
  const form = await answerOf(() => requireForm(claimed));
  if (form !== null) return denied(controllerLine(form.code), form);

  // Steps 2 and 3: the verifier says yes or no. Anything else is an error, never a yes.
  const approval = await answerOf(() => verifier(claimed), 'VERIFIER_ERROR');
  if (approval !== null)
    return denied(VERIFIER_CODES.has(approval.code) ? controllerLine(approval.code) : NOT_APPROVED, approval);

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

const RECORD_LINE = '[ERROR] Execution record cannot be trusted';
const NOT_APPROVED = controllerLine('APPROVAL_MISSING');

/** Only these say something about the verifier. Every other refusal is its no, for whatever reason. */
const VERIFIER_CODES: ReadonlySet<ReasonCode> = new Set([
  'VERIFIER_NOT_FOUND',
  'VERIFIER_NOT_CALLABLE',
  'VERIFIER_ERROR',
]);

/** `null` when the step passed. An unexpected error is a refusal too. */
async function answerOf(step: () => unknown, unforeseen: ReasonCode = 'INTERNAL'): Promise<Refusal | null> {
  try {
    await step();
    return null;
  } catch (error) {
    return error instanceof Refusal ? error : new Refusal(unforeseen);
  }
}

function denied(line: string, refusal: Refusal, executed_at: string | null = null): CheckAnswer {
  return { ok: false, line, code: refusal.code, message: refusal.message, executed_at };
}

/** A start without an end blocks like one in doubt: the effect may have happened. Any end at all has happened. */
function alreadyExecuted({ timestamp, outcome }: ExecutedLine): CheckAnswer {
  const code = BLOCKS[outcome === 'started' ? 'claimed' : 'happened'] ?? 'INTERNAL';
  // Of the lane 000 says it in one line: whatever stands in the file was executed.
  return denied(controllerLine('ALREADY_EXECUTED', timestamp), new Refusal(code), timestamp);
}
