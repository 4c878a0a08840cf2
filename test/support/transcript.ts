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
