import { closeSync } from 'node:fs';
import { openToAppend, syncFolderOf, withPlace } from '../../durable/beneath-write.ts';
import { appendDurably } from '../../durable/file.ts';
import type { ReasonCode } from '../../refusal.ts';
import type { ActionOutcome, PlanOutcome } from '../engine/outcome.ts';
import { makeFolders } from '../state/folders.ts';
import { LOGS } from './folder.ts';

/** One line of `agent_logs/executor/{day}.jsonl`. */
export interface LogLine {
  readonly timestamp: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly execution_id: string;
  readonly plan_id: string;
  readonly event: 'started' | 'action' | 'rollback' | 'finished';
  readonly action_id?: string;
  readonly status?: string;
  readonly code?: ReasonCode;
  readonly message: string;
}

/** The story of a run, line by line, failures included. */
export function logOf(outcome: PlanOutcome, execution_id: string): LogLine[] {
  const { plan_id, status, started_at, completed_at, rollback, escalate } = outcome;
  const own = { execution_id, plan_id };
  const lines: LogLine[] = [
    { ...own, timestamp: started_at, level: 'info', event: 'started', message: 'The run started.' },
    ...outcome.actions.map((action) => actionLine(action, own, completed_at)),
  ];
  if (rollback)
    lines.push({
      ...own,
      timestamp: completed_at,
      level: rollback.status === 'stuck' ? 'error' : 'warn',
      event: 'rollback',
      status: rollback.status,
      message: rollback.instructions.join(' ') || 'Everything the run changed was restored.',
    });
  const level = status === 'SUCCESS' ? 'info' : escalate ? 'error' : 'warn';
  lines.push({
    ...own,
    timestamp: completed_at,
    level,
    event: 'finished',
    status,
    message: `The run ended as ${status}.`,
  });
  return lines;
}

function actionLine(
  action: ActionOutcome,
  own: { execution_id: string; plan_id: string },
  ended_at: string,
): LogLine {
  const { action_id, status } = action;
  const common = { ...own, event: 'action', action_id, status } as const;
  if (action.status === 'SUCCESS')
    return { ...common, timestamp: action.completed_at, level: 'info', message: action.output };
  if (action.status === 'SKIPPED')
    return { ...common, timestamp: ended_at, level: 'warn', message: action.reason };
  const { error_type: code, message } = action.error;
  return { ...common, timestamp: action.completed_at, level: 'error', code, message };
}

/** Appends lines in one write: lines of two runs at the same time do not mix. */
export async function appendLog(root: string, at: Date, lines: readonly LogLine[]): Promise<void> {
  await makeFolders(root, LOGS, 0o700);
  await withPlace(root, `${LOGS}/${at.toISOString().slice(0, 10)}.jsonl`, async (place) => {
    const fd = openToAppend(place);
    try {
      appendDurably(fd, Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
    } finally {
      closeSync(fd);
    }
    await syncFolderOf(place);
  });
}
