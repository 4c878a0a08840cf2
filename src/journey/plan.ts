import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes, canonicalText } from '../canonical/json.ts';
import { showPlan } from '../display/plan.ts';
import type { Shown } from '../display/shown.ts';
import { readFileBeneath } from '../durable/beneath.ts';
import { limits } from '../limits.ts';
import { type DeriveOptions, derivePlan } from '../plan/derive.ts';
import { executePlan } from '../plan/engine/execute.ts';
import type { Runners } from '../plan/engine/handler/handlers.ts';
import type { PlanOutcome, Progress as PlanProgress } from '../plan/engine/outcome.ts';
import { requireContent } from '../plan/input/content.ts';
import { type Problem, Problems } from '../plan/input/problem.ts';
import { standingOf } from '../plan/input/rules.ts';
import type { PlanEffect } from '../plan/model.ts';
import { type PipelineSetting, registeredPipelines } from '../plan/pipelines.ts';
import { Collector } from '../plan/preview/collect.ts';
import { archiveRecords, expireManifests } from '../plan/report/archive.ts';
import { buildChangeLog } from '../plan/report/change-log.ts';
import { compareChanges } from '../plan/report/compare.ts';
import type { DiffSummary } from '../plan/report/diff-summary.ts';
import { EditDiffs } from '../plan/report/edit-diffs.ts';
import { buildExecutionReport } from '../plan/report/execution-report.ts';
import { CHANGE_LOG_NAME, expiryOf, REPORT_NAME, reportsFolder } from '../plan/report/folder.ts';
import { appendLog, logOf } from '../plan/report/log.ts';
import { writeReports, writeRollbackScript } from '../plan/report/write.ts';
import { MANIFEST_NAME, manifestDigest } from '../plan/rollback/manifest.ts';
import {
  actionsIn,
  openPlanSpec,
  type PlanSource,
  type PlanSpec,
  type ReadSpec,
  readPlanSpec,
} from '../plan/spec.ts';
import { Attributes } from '../plan/state/attributes.ts';
import { Sight } from '../plan/state/sight.ts';
import { isReasonCode, type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import type { Derived, Ended, RunOptions } from './derived.ts';

const EXECUTOR_VERSION = '1.0.0';

/** A plan: parsed, simulated over the files as they are now, and checked for what no plan may contain. */
export async function derivePlanRun(context: Context, spec: PlanSpec, look: boolean): Promise<Derived> {
  // Before a new plan begins, old ones whose time is up are marked; they are kept all the same.
  if (look) await expireManifests(context.root, context.clock());
  const collector = new Collector();
  const sight = new Sight(context.root);
  const attributes = new Attributes();
  const effect = await simulate(context, spec, {
    ...(look && { visit: collector.visit }),
    sight,
    attributes,
  });
  requireContent(collector.findings);
  const registry = context.registry();
  return {
    effect,
    registry_digest: registry.digest,
    registry_bytes: registry.bytes,
    name: effect.plan_id,
    // Protected files want a second pair of eyes.
    approvals_needed: effect.elevated.length > 0 ? 2 : 1,
    requireSame: (approved) => requireSamePlan(approved as PlanEffect, effect),
    // A pipeline is more than the files of the project, so it is always looked at whole.
    isStillTrue: () =>
      effect.actions.every(({ action_type }) => action_type !== 'PIPELINE_RUN') &&
      context.registry().digest === registry.digest &&
      sight.isUnchanged(),
    prepare() {
      const reports = reportsFolder(context.clock(), effect.task_id);
      return {
        reports,
        run: (options) => execute(context, { spec, effect, reports, attributes }, options),
        close: () => {},
      };
    },
  };
}

/** What a plan would do. Touches nothing. */
async function simulate(
  context: Context,
  spec: PlanSpec,
  onlookers: Pick<DeriveOptions, 'visit' | 'sight' | 'attributes' | 'onProblem'>,
): Promise<PlanEffect> {
  const { plan, config, protection } = opened(context, spec);
  return derivePlan({
    plan,
    root: context.root,
    config_digest: config?.digest ?? null,
    protection,
    runners: runnersOf(context),
    ...onlookers,
  });
}

function opened(context: Context, spec: PlanSpec) {
  const { plan, config, rules } = openPlanSpec(spec, registriesOf(context));
  return { plan, config, protection: (path: string) => standingOf(path, rules) };
}

/** The same for a plan that was proposed: refuses when it would no longer do what was proposed. */
export async function previewSamePlan(
  context: Context,
  spec: PlanSpec,
  proposed: PlanEffect,
): Promise<Shown> {
  const { effect, shown } = await previewPlan(context, spec);
  requireSamePlan(proposed, effect);
  return shown;
}

/** What a plan would do to the files as they are now, as a person reads it. */
export async function previewPlan(context: Context, spec: PlanSpec) {
  const collector = new Collector();
  const effect = await simulate(context, spec, { visit: collector.visit });
  return { effect, shown: showPlan(effect, collector), findings: collector.findings };
}

export interface Validation {
  readonly plan_id: string | null;
  readonly actions: number;
  /** Those of the form name the file that they are in. */
  readonly problems: readonly (Problem & { readonly source: 'plan' | 'config' })[];
}

/** Everything that is wrong with a plan: its form, and then what the files as they are now do not allow. */
export async function validatePlan(
  context: Context,
  source: Pick<PlanSource, 'plan' | 'config'>,
): Promise<Validation> {
  const read = readPlan(context, source);
  if ('problems' in read) return { plan_id: null, actions: 0, problems: read.problems };
  const { plan } = openPlanSpec(read.spec, registriesOf(context));
  const { file, base } = actionsIn(source.plan);
  const problems = new Problems();
  const tell = (action_id: string, code: ReasonCode, message: string) => {
    const index = plan.actions.findIndex((action) => action.action_id === action_id);
    problems.at(
      file,
      index < 0 ? base : [...base, index],
      code,
      index < 0 ? message : `${action_id}: ${message}`,
    );
  };
  const collector = new Collector();
  try {
    await simulate(context, read.spec, {
      visit: collector.visit,
      onProblem: ({ action_id }, { code, message }) => tell(action_id, code, message),
    });
    for (const { action_id, severity, code, path, line, message } of collector.findings)
      if (severity === 'refuse')
        tell(action_id, code ?? 'CONTENT_CREDENTIAL', `${path}, line ${line}: ${message}`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell('', error.code, error.message);
  }
  const found = problems.list().map((problem) => ({ ...problem, source: 'plan' as const }));
  return { plan_id: plan.plan_id, actions: plan.actions.length, problems: found };
}

export function readPlan(context: Context, source: Pick<PlanSource, 'plan' | 'config'>): ReadSpec {
  return readPlanSpec({ ...source, registries: registriesOf(context), now: context.clock() });
}

/** The registry and its like, as a plan would name them: no plan may change them, by whichever name it calls them. */
function registriesOf({ root, protected_paths }: Context): string[] {
  const named = protected_paths.flatMap((path) => [
    relative(root, path),
    relative(realOf(root), realOf(path)),
  ]);
  return [...new Set(named.filter((path) => path !== '..' && !path.startsWith('../')))];
}

/** Also of what does not exist yet. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path === '/' ? path : join(realOf(dirname(path)), basename(path));
  }
}

function runnersOf(context: Context): Runners {
  return { pipelines: registeredPipelines(pipelineSetting(context)) };
}

export function pipelineSetting(context: Context): PipelineSetting {
  const { root, registry, hidden_paths, protected_paths, digests, machine } = context;
  const surroundings = { hidden: hidden_paths, protected: protected_paths, machine: machine(), digests };
  return { root, registry, surroundings };
}

/** Drift is found here, before anything is touched: some file is not what the approver saw. */
function requireSamePlan(approved: PlanEffect, now: PlanEffect): void {
  if (sha256(canonicalBytes(approved)) === sha256(canonicalBytes(now))) return;
  const states = ({ actions }: PlanEffect) =>
    new Map(actions.flatMap((a) => a.changes).map((c) => [c.path, c.before]));
  const before = states(approved);
  const [first] = [...states(now)].filter(
    ([path, state]) => canonicalText(before.get(path) ?? null) !== canonicalText(state),
  );
  if (first)
    refuse('PLAN_DRIFT', `${first[0]} is not what it was when the plan was proposed.`, { path: first[0] });
  refuse('EFFECT_CHANGED', 'The plan would do something else than what was approved.');
}

interface Simulated {
  readonly spec: PlanSpec;
  readonly effect: PlanEffect;
  readonly reports: string;
  readonly attributes: Attributes;
}

async function execute(
  context: Context,
  { spec, effect, reports, attributes }: Simulated,
  { execution_id, checkpointed, abort, onProgress }: RunOptions,
): Promise<Ended> {
  const { root, clock } = context;
  const script = await writeRollbackScript(root, reports, execution_id);
  // What is protected is shown in no report.
  const hides = (path: string) => effect.elevated.includes(path);
  const edits = new EditDiffs(hides);
  const outcome = await executePlan(effect, {
    root,
    reports_folder: reports,
    runners: runnersOf(context),
    protection: opened(context, spec).protection,
    attributes,
    clock,
    expires_at: expiryOf(clock()),
    auto_rollback_script: script,
    onEdit: edits.see,
    onCheckpoint: (manifest) => checkpointed(manifestDigest(manifest)),
    ...(abort && { abort }),
    ...(onProgress && { onProgress: (progress) => tell(effect, progress, onProgress) }),
  });
  const diffs = await compareChanges(outcome, { root, hides, edits });
  await report(context, outcome, diffs, { reports, execution_id, task_id: effect.task_id });
  return ended(root, outcome, reports);
}

function tell(
  effect: PlanEffect,
  progress: PlanProgress,
  onProgress: NonNullable<RunOptions['onProgress']>,
): void {
  const of = effect.actions.length;
  if (progress.phase === 'action') onProgress({ done: progress.number - 1, of, what: progress.action_id });
  else if (progress.phase !== 'action_done')
    onProgress({ done: progress.phase === 'done' ? of : 0, of, what: progress.phase });
}

async function report(
  { root, clock }: Context,
  outcome: PlanOutcome,
  diffs: ReadonlyMap<string, DiffSummary>,
  { reports, execution_id, task_id }: { reports: string; execution_id: string; task_id: string },
): Promise<void> {
  const report_id = randomUUID();
  const identity = { report_id, execution_id, task_id, executor_version: EXECUTOR_VERSION };
  const log = {
    log_id: randomUUID(),
    execution_report_id: report_id,
    created_at: clock().toISOString(),
    newId: randomUUID,
  };
  await writeReports(root, reports, {
    report: buildExecutionReport(outcome, identity),
    change_log: buildChangeLog(outcome, log, diffs),
  });
  await appendLog(root, clock(), logOf(outcome, execution_id));
  if (outcome.status === 'SUCCESS') await archiveRecords(root, reports);
}

function ended(root: string, outcome: PlanOutcome, reports: string): Ended {
  const read = (name: string) => readFileBeneath(root, `${reports}/${name}`, limits.output_bytes).bytes;
  const report = read(REPORT_NAME);
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
    stdout: whole(report),
    stderr: whole(errors.subarray(0, limits.output_bytes)),
    reports: {
      execution_report: report,
      change_log: read(CHANGE_LOG_NAME),
      ...(outcome.manifest && { rollback_manifest: read(MANIFEST_NAME) }),
    },
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
