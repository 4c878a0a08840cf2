import { WORD_FORM } from '../../canonical/form.ts';
import { planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';

export const REPORTS = 'agent_outputs/reports';
export const ARCHIVE = 'agent_outputs/archive';
export const LOGS = 'agent_logs/executor';

export const REPORT_NAME = 'execution_report.json';
export const CHANGE_LOG_NAME = 'change_log.json';
export const SCRIPT_NAME = 'rollback.sh';

/** `agent_outputs/reports/{timestamp}_{task_id}`, relative to the project root. */
export function reportsFolder(started: Date, task_id: string): string {
  if (!WORD_FORM.test(task_id)) refuse('NAME_MALFORMED', 'The task id is no name.');
  return `${REPORTS}/${started.toISOString().replace(/[-:.]/g, '')}_${task_id}`;
}

export function expiryOf(created: Date, ttl_ms: number = planLimits.manifest_ttl_ms_default): string {
  return new Date(created.getTime() + ttl_ms).toISOString();
}
