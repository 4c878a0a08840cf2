import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { derivePlan } from '../../../src/plan/derive.ts';
import { executePlan } from '../../../src/plan/engine/execute.ts';
import type { PlanOutcome } from '../../../src/plan/engine/outcome.ts';
import { requirePlan } from '../../../src/plan/input/parse.ts';
import type { PathAccess } from '../../../src/plan/input/rules.ts';
import type { PlanEffect } from '../../../src/plan/model.ts';
import { Collector } from '../../../src/plan/preview/collect.ts';
import { recordChanges, withDiffs } from '../../../src/plan/report/change-log.ts';
import { compareChanges } from '../../../src/plan/report/compare.ts';
import { buildExecutionReport } from '../../../src/plan/report/execution-report.ts';
import { expiryOf, reportsFolder, SCRIPT_NAME } from '../../../src/plan/report/folder.ts';
import type { ChangeLog, ExecutionReport } from '../../../src/plan/report/schema.ts';
import {
  changeLogBytes,
  reportBytes,
  writeReports,
  writeRollbackScript,
} from '../../../src/plan/report/write.ts';
import { scratch } from '../../support/scratch.ts';

export { create, remove, rename, replace } from '../written.ts';

/** A project with these files. */
export function projectWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = scratch();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

export const EXECUTION_ID = '0f0e0d0c-0b0a-4908-8706-050403020100';

export async function derived(
  root: string,
  action_plan: readonly object[],
  more: object = {},
  protection?: (path: string) => PathAccess,
): Promise<{ effect: PlanEffect; collector: Collector }> {
  const plan = requirePlan(JSON.stringify({ plan_id: 'plan-001', action_plan, ...more }), {
    task_id: 'task-7',
  });
  const collector = new Collector();
  const effect = await derivePlan({
    plan,
    root,
    config_digest: null,
    visit: collector.visit,
    ...(protection ? { protection } : {}),
  });
  return { effect, collector };
}

export interface Ran {
  readonly root: string;
  readonly folder: string;
  readonly outcome: PlanOutcome;
  readonly report: ExecutionReport;
  readonly change_log: ChangeLog;
}

/** Derives, runs and reports a plan, with real files all the way. `meddle` runs between approval and run. */
export async function ran(
  root: string,
  action_plan: readonly object[],
  more: object = {},
  meddle: () => void = () => {},
): Promise<Ran> {
  const { effect } = await derived(root, action_plan, more);
  const started = new Date('2026-02-03T10:15:30.123Z');
  const folder = reportsFolder(started, effect.task_id);
  await writeRollbackScript(root, folder, EXECUTION_ID);
  const outcome = await executePlan(effect, {
    root,
    reports_folder: folder,
    auto_rollback_script: `${folder}/${SCRIPT_NAME}`,
    expires_at: expiryOf(started),
    onProgress: ({ phase }) => {
      if (phase === 'action') meddle();
    },
  });
  const report = buildExecutionReport(outcome, {
    report_id: randomUUID(),
    execution_id: EXECUTION_ID,
    task_id: effect.task_id,
    executor_version: '1.0.0',
  });
  const changes = recordChanges(outcome, {
    log_id: randomUUID(),
    execution_report_id: report.report_id,
    created_at: outcome.completed_at,
    newId: randomUUID,
  });
  const checkpoints = outcome.manifest?.checkpoints ?? [];
  const diffs = await compareChanges(changes, { root, checkpoints, hides: (path) => path === '.env' });
  const change_log = withDiffs(changes, diffs);
  await writeReports(root, folder, {
    'execution_report.json': reportBytes(report),
    'change_log.json': changeLogBytes(change_log),
  });
  return { root, folder, outcome, report, change_log };
}

export function readJson(root: string, path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}
