import { argument, visible } from '../canonical/visible.ts';
import { showTool } from '../display/tool.ts';
import type { ChildOutcome } from '../effect/child.ts';
import type { Refusal } from '../refusal.ts';
import type { ToolEffect } from '../tool/effect.ts';
import { indented } from './visible.ts';

/** The outcome of one lane run, as it was recorded. */
export interface Finished {
  readonly id: string;
  readonly tool: string;
  readonly timestamp: string;
  readonly outcome: 'success' | 'failure';
  readonly exit_code: number | null;
  /** Why it is no success. */
  readonly failure: Refusal | null;
  readonly run: ChildOutcome;
}

export const QUESTION = 'Ready to execute. Proceed? (y/n)';

/** What 001 leaves out and a yes depends on, as data. */
export const shownOf = showTool;

/** What 001 shows under "Human Role" before the question. */
export function screen(id: string, effect: ToolEffect): string[] {
  const [executable = '', ...parameters] = effect.argv;
  return [
    '[PRE-EXECUTION]',
    `Approved intent UUID: ${id}`,
    `Tool to execute: ${visible(effect.tool)}`,
    `Tool executable: ${visible(executable)}`,
    `Tool parameters: [${parameters.map(argument).join(' ')}]`,
    'Eligibility: CONFIRMED (controller exit 0)',
    'Registry check: PASSED',
    'Parameter validation: PASSED',
  ];
}

export function runReport({ id, tool, timestamp, outcome, exit_code, run }: Finished): string[] {
  const success = outcome === 'success';
  const output = outputLines(success ? run.stdout : run.stderr);
  const recorded = success ? 'in executed.jsonl' : 'in executed.jsonl as failure';
  return reportLines({ success, tool, execution_id: id, timestamp, exit_code, output, recorded });
}

/** A run that ended, wherever it is recorded. */
interface Ended {
  readonly success: boolean;
  readonly tool: string;
  readonly execution_id: string;
  readonly timestamp: string;
  readonly exit_code: number | null;
  /** Indented and harmless: what the tool said when it succeeded, what it complained of when it failed. */
  readonly output: readonly string[];
  readonly recorded: string;
}

/** The two layouts of 001 under "Human Role". */
export function reportLines(ended: Ended): string[] {
  const { success, tool, execution_id, timestamp, exit_code, output, recorded } = ended;
  return [
    success ? `[OK] Execution completed: ${tool}` : `[ERROR] Execution failed: ${tool}`,
    `Execution ID: ${execution_id}`,
    `Timestamp: ${timestamp}`,
    ...(success ? ['Tool output:'] : [`Exit code: ${exit_code ?? 'none'}`, 'Error output:']),
    ...output,
    `Status: Execution recorded ${recorded}`,
  ];
}

/** What a tool said, and how much of it was not kept. */
export function outputLines({ bytes, total }: Pick<ChildOutcome['stdout'], 'bytes' | 'total'>): string[] {
  const lines = indented(bytes);
  return total > bytes.length ? [...lines, `  [${total - bytes.length} more bytes were not kept]`] : lines;
}

/** Before the start: the line of the check that failed, then the precondition report. */
export function denial(refusal: Refusal): string[] {
  const fixed = [refusal.facts.controller, refusal.facts.fixed_line].filter(
    (line) => typeof line === 'string',
  );
  return [...fixed, `[ERROR] Cannot execute: ${refusal.message}`, 'No execution attempted.'].map(visible);
}

/** 001, "If Recording Fails". */
export const RECORDING_FAILED_LINES: readonly string[] = [
  '[ERROR] Execution recording failed',
  'Execution may have happened, may not have.',
  'Status unknown.',
  'Treat entire execution as failed.',
];
