/** What `run` and `lane run` print, as 001 writes it under "Human Role". */

export const QUESTION = 'Ready to execute. Proceed? (y/n) ';

export const NOTHING = 'No execution attempted.\n';

export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The screen before the question. */
export function preScreen({ id, script }: { id: string; script: string }, parameters = ''): string {
  return lines(
    '[PRE-EXECUTION]',
    `Approved intent UUID: ${id}`,
    'Tool to execute: create_backup',
    `Tool executable: ${script}`,
    `Tool parameters: [${parameters}]`,
    'Eligibility: CONFIRMED (controller exit 0)',
    'Registry check: PASSED',
    'Parameter validation: PASSED',
    '',
  );
}

/** What was seen at the terminal without what it shows beyond 001: programs, digests, folder and sandbox. */
export function withoutConfinement(seen: string): string {
  return seen.replace(/^Runs: +[\s\S]*?\n\n/gm, '');
}

export interface Told {
  readonly execution_id: string;
  readonly ended_at: string | null;
}

/** The two reports. `output` is indented by two spaces already. */
export function successReport({ execution_id, ended_at }: Told, output: readonly string[]): string {
  return lines(
    '[OK] Execution completed: create_backup',
    `Execution ID: ${execution_id}`,
    `Timestamp: ${ended_at}`,
    'Tool output:',
    ...output,
    'Status: Execution recorded in the ledger',
  );
}

export function failureReport(
  { execution_id, ended_at }: Told,
  exit_code: string,
  output: readonly string[],
  recorded = 'failure',
): string {
  return lines(
    '[ERROR] Execution failed: create_backup',
    `Execution ID: ${execution_id}`,
    `Timestamp: ${ended_at}`,
    `Exit code: ${exit_code}`,
    'Error output:',
    ...output,
    `Status: Execution recorded in the ledger as ${recorded}`,
  );
}

/** 001, "If Recording Fails". */
export const RECORDING_FAILED = lines(
  '[ERROR] Execution recording failed',
  'Execution may have happened, may not have.',
  'Status unknown.',
  'Treat entire execution as failed.',
);

export function lines(...text: string[]): string {
  return text.map((line) => `${line}\n`).join('');
}
