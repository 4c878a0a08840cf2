import { randomUUID } from 'node:crypto';
import { readFileBeneath } from '../durable/beneath.ts';
import type { OpenFiles } from '../durable/open-files.ts';
import { limits } from '../limits.ts';
import { executePlan } from '../plan/engine/execute.ts';
import type { PlanOutcome } from '../plan/engine/outcome.ts';
import type { Runners } from '../plan/handler/handlers.ts';
import type { PathAccess } from '../plan/input/rules.ts';
import type { PlanEffect } from '../plan/model.ts';
import { archiveRecords } from '../plan/report/archive.ts';
import { recordChanges } from '../plan/report/change-log.ts';
import { buildExecutionReport } from '../plan/report/execution-report.ts';
import { expiryOf, SCRIPT_NAME } from '../plan/report/folder.ts';
import { appendLog, logOf } from '../plan/report/log.ts';
import { changesBytes, reportBytes, writeRollbackScript } from '../plan/report/write.ts';
import { MANIFEST_NAME } from '../plan/rollback/manifest.ts';
import type { Attributes } from '../plan/state/attributes.ts';
import { isReasonCode } from '../refusal.ts';
import type { Context } from './context.ts';
import type { Ended, RunOptions } from './derived.ts';
import { type Recorded, writeMissing } from './plan-report.ts';
import { runLock } from './tool.ts';

const EXECUTOR_VERSION = '1.0.0';

interface PlanRun extends RunOptions {
  /** The folder of the reports. */
  readonly reports: string;
  readonly runners: Runners;
  readonly attributes: Attributes;
  readonly replaced: OpenFiles;
  readonly protection: (path: string) => PathAccess;
}

/** What outlives a step keeps the run from being settled, as what outlives a tool does. */
function lockedBy(runners: PlanRun['runners'], lock: string): PlanRun['runners'] {
  const { pipelines } = runners;
  if (!pipelines) return runners;
  const run: typeof pipelines.run = (action, options) => pipelines.run(action, { ...options, lock });
  return { ...runners, pipelines: { ...pipelines, run } };
}

/** One run of a plan. What the record needs is in memory when it ends; the files that people read are written after the record. */
export async function executeRun(context: Context, effect: PlanEffect, run: PlanRun): Promise<Ended> {
  const { root, clock } = context;
  const { execution_id, reports, runners, protection, attributes, checkpointed, announced } = run;
  const { abort, onStep, replaced } = run;
  // It reaches the disk while the backups do. Where it fails, the checkpoint does, and nothing is begun.
  const script = writeRollbackScript(root, reports, execution_id);
  const written = script.catch(() => {});
  const outcome = await executePlan(effect, {
    root,
    reports_folder: reports,
    runners: lockedBy(runners, runLock(context, execution_id)),
    protection,
    attributes,
    clock,
    replaced,
    expires_at: expiryOf(clock()),
    auto_rollback_script: `${reports}/${SCRIPT_NAME}`,
    onCheckpoint: async (manifest) => {
      await script;
      await checkpointed(manifest);
    },
    onAnnounce: announced,
    ...(abort && { abort }),
    ...(onStep && { onProgress: (progress) => onStep({ ...progress, of: effect.actions.length }) }),
  });
  await written;
  const recorded = recordedOf(context, effect, outcome, run);
  const ended = endedWith(outcome, recorded);
  return {
    ...ended,
    async afterRecord() {
      const closed = replaced.close();
      await writeMissing(root, reports, effect, recorded);
      await appendLog(root, clock(), logOf(outcome, execution_id));
      if (outcome.status === 'SUCCESS') await archiveRecords(root, reports);
      await closed;
    },
  };
}

function recordedOf(
  { root, clock }: Context,
  { task_id }: PlanEffect,
  outcome: PlanOutcome,
  { reports, execution_id }: PlanRun,
): Recorded {
  const report_id = randomUUID();
  const identity = { report_id, execution_id, task_id, executor_version: EXECUTOR_VERSION };
  const log = {
    log_id: randomUUID(),
    execution_report_id: report_id,
    created_at: clock().toISOString(),
    newId: randomUUID,
  };
  return {
    execution_report: reportBytes(buildExecutionReport(outcome, identity)),
    changes: changesBytes(recordChanges(outcome, log)),
    ...(outcome.manifest && {
      rollback_manifest: readFileBeneath(root, `${reports}/${MANIFEST_NAME}`, limits.output_bytes).bytes,
      journal: outcome.journal,
    }),
  };
}

function endedWith(outcome: PlanOutcome, recorded: Recorded): Ended {
  const code = outcome.errors[0]?.error_type;
  const errors = Buffer.from(
    outcome.errors.map((error) => `${error.error_type}: ${error.message}\n`).join(''),
  );
  return {
    result: resultOf(outcome),
    reason_code: code && isReasonCode(code) ? code : null,
    exit_code: null,
    signal: null,
    started_at: outcome.started_at,
    finished_at: outcome.completed_at,
    stdout: whole(recorded.execution_report),
    stderr: whole(errors.subarray(0, limits.output_bytes)),
    reports: { ...recorded },
  };
}

function whole(bytes: Uint8Array) {
  return { bytes, total: bytes.length, truncated: false };
}

/** What was done and not taken back is half done, whatever the plan calls it: that blocks like in doubt. */
function resultOf({ status, left_behind }: PlanOutcome): Ended['result'] {
  if (status === 'SUCCESS') return 'success';
  if (status === 'ROLLED_BACK' || status === 'CANCELLED') return 'rolled_back';
  return left_behind ? 'partial' : 'failure';
}
