import { visible } from '../canonical/visible.ts';
import { controllerLine } from '../keyturn.ts';
import { outputLines, RECORDING_FAILED_LINES, reportLines } from '../lane/report.ts';
import type { ReasonCode, Refusal } from '../refusal.ts';
import { planOutcome, type ToldRun } from './plan-lines.ts';

/** The adapter of 001 in its own words: the report of a run, and one fixed line for each precondition. */
export function runLines(report: ToldRun): string[] {
  const { tool, execution_id, finished_at, result, exit_code, folder } = report;
  const success = result === 'success';
  return reportLines({
    success,
    tool,
    execution_id,
    timestamp: finished_at,
    exit_code,
    output: folder === null ? printedLines(report, success ? 'stdout' : 'stderr') : planOutcome(report),
    // A tool that was killed may have done half of its work: the record says `partial`.
    recorded: success ? 'in the ledger' : `in the ledger as ${result}`,
  });
}

/** What the tool said on one of its streams. */
export function printedLines(
  report: Pick<ToldRun, 'stdout' | 'stderr' | 'left_out'>,
  stream: 'stdout' | 'stderr',
): string[] {
  const bytes = Buffer.from(report[stream]);
  return outputLines({ bytes, total: bytes.length + report.left_out[stream] });
}

/** When the run was refused. `opened` is false when the controller could not even be asked. */
export function refusedLines(refusal: Refusal, opened: boolean): string[] {
  if (refusal.code === 'RECORDING_FAILED') return [...RECORDING_FAILED_LINES];
  if (refusal.code === 'CONFIRMATION_DECLINED') return ended(refusal.message);
  if (!opened || ELIGIBILITY.has(refusal.code)) {
    return [controllerLineOf(refusal), `[ERROR] ${NOT_ELIGIBLE}`, ...ended(NOT_ELIGIBLE)].map(visible);
  }
  const reason = preconditionOf(refusal);
  return [`[ERROR] ${reason}`, ...ended(reason)].map(visible);
}

/** The line of 000 for a no. */
export function controllerLineOf({ code, facts }: Refusal): string {
  return controllerLine(code, typeof facts.executed_at === 'string' ? facts.executed_at : null);
}

function ended(reason: string): string[] {
  return [`[ERROR] Cannot execute: ${reason}`, 'No execution attempted.'];
}

const NOT_ELIGIBLE = 'Execution not eligible';

/** Check 1: the reasons of the controller. */
const ELIGIBILITY: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'ID_MALFORMED',
  'HASH_MALFORMED',
  'INTENT_NOT_FOUND',
  'HASH_MISMATCH',
  'APPROVAL_MISSING',
  'APPROVAL_EXPIRED',
  'APPROVER_REVOKED',
  'INTENT_REJECTED',
  'INTENT_WITHDRAWN',
  'INTENT_REPLACED',
  'INTENT_EXPIRED',
  'ALREADY_EXECUTED',
  'RUN_FAILED',
  'RUN_IN_DOUBT',
  'RUN_PARTIAL',
  'CLAIM_TAKEN',
  'ROLLBACK_STUCK',
  'CLOCK_BEHIND',
  'FROZEN',
  'ORDER_MISSING',
  'ORDER_LAPSED',
  'CAPABILITY_EXPIRED',
  'CAPABILITY_REVOKED',
]);

const UNAVAILABLE = 'Tool registry unavailable';
const NOT_IN_REGISTRY = 'Intent not in tool registry';
const AMBIGUOUS = 'Multiple tools defined (ambiguous)';

/** Checks 2 to 5. After the controller said yes, the registry is the one file that is read by its name. */
const PRECONDITIONS: Readonly<Partial<Record<ReasonCode, string>>> = {
  REGISTRY_MISSING: UNAVAILABLE,
  REGISTRY_MALFORMED: UNAVAILABLE,
  TOOL_DUPLICATE: UNAVAILABLE,
  YAML_MALFORMED: UNAVAILABLE,
  INPUT_NOT_UTF8: UNAVAILABLE,
  INPUT_TOO_LARGE: UNAVAILABLE,
  FILE_IS_SYMLINK: UNAVAILABLE,
  FILE_NOT_REGULAR: UNAVAILABLE,
  FILE_UNREADABLE: UNAVAILABLE,
  REGISTRY_WRITABLE: 'Tool registry must be read-only',
  TOOL_UNKNOWN: NOT_IN_REGISTRY,
  BINDING_MISSING: NOT_IN_REGISTRY,
  BINDING_EMPTY: 'No tool defined for this intent',
  BINDING_AMBIGUOUS: AMBIGUOUS,
  BINDING_MISMATCH: AMBIGUOUS,
  EXECUTABLE_MISSING: 'Tool not found',
};

function preconditionOf({ code, message }: Refusal): string {
  if (code.startsWith('ARGUMENT_')) return `Tool arguments invalid: ${message}`;
  return PRECONDITIONS[code] ?? `Precondition failed: ${message}`;
}
