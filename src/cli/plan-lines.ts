import { visible } from '../canonical/visible.ts';
import type { McpEffect, PlanEffect, Result } from '../keyturn.ts';

/** What 001 shows before the question, for a plan: its executor is Keyturn itself, its parameters are its actions. */
export function planScreen(id: string, effect: PlanEffect): string[] {
  const actions = effect.actions.map(
    ({ action_id, action_type, target }) => `${action_id} ${action_type} ${target}`,
  );
  return [
    '[PRE-EXECUTION]',
    `Approved intent UUID: ${id}`,
    `Tool to execute: plan ${visible(effect.plan_id)}`,
    'Tool executable: keyturn',
    `Tool parameters: [${actions.map(visible).join(', ')}]`,
    'Eligibility: CONFIRMED (controller exit 0)',
    'Registry check: PASSED',
    'Parameter validation: PASSED',
  ];
}

/** The same for a call to an MCP server: its executable is the server. */
export function callScreen(id: string, effect: McpEffect): string[] {
  return [
    '[PRE-EXECUTION]',
    `Approved intent UUID: ${id}`,
    `Tool to execute: ${visible(effect.called)}`,
    `Tool executable: ${visible(startOf(effect))} (the MCP server ${visible(effect.server)})`,
    `Tool parameters: [${visible(JSON.stringify(effect.arguments))}]`,
    'Eligibility: CONFIRMED (controller exit 0)',
    'Registry check: PASSED',
    'Parameter validation: PASSED',
  ];
}

function startOf({ start }: McpEffect): string {
  return start.kind === 'url' ? start.url : start.argv[0]!;
}

interface ExecutionReport {
  readonly status: string;
  readonly actions_completed: readonly { action_id: string; output: string }[];
  readonly actions_failed: readonly { action_id: string; error_code: number; error_message: string }[];
  readonly actions_skipped: readonly { action_id: string; reason: string }[];
  readonly instructions: readonly string[];
}

/** What is told of a run, by the process that ran it or from the record of an executor. */
export type ToldRun = Omit<
  Result<'runs.run'>,
  'intent_id' | 'capability_id' | 'reason_code' | 'signal' | 'started_at'
>;

/** What became of each action, in one line each. */
export function planOutcome({ stdout, folder, execution_id, reports_missing }: ToldRun): string[] {
  // Erased, or never recorded.
  if (stdout === '') return [];
  const report = JSON.parse(stdout) as ExecutionReport;
  return [
    ...report.actions_completed.map(({ action_id, output }) => `${action_id}: ${output}`),
    ...report.actions_failed.map(
      (failed) => `${failed.action_id}: FAILED ${failed.error_code} ${failed.error_message}`,
    ),
    ...report.actions_skipped.map(({ action_id, reason }) => `${action_id}: skipped, ${reason}`),
    ...report.instructions,
    `Plan status: ${report.status}`,
    `Reports: ${folder ?? 'none'}`,
    ...(reports_missing === null
      ? []
      : [`Reports are missing (${reports_missing}). Make them again: keyturn plan report ${execution_id}`]),
  ].map((line) => `  ${visible(line)}`);
}
