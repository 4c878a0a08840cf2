import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Digest } from '../../canonical/digest.ts';
import { syncFolderOf, withPlace } from '../../durable/beneath-write.ts';
import { OpenFiles } from '../../durable/open-files.ts';
import { holdDatabases } from '../../effect/sql/hold.ts';
import { planLimits } from '../../limits.ts';
import type { FileWriter } from '../handler/apply.ts';
import { createHandlers, type Handlers, type Runners } from '../handler/handlers.ts';
import type { PathAccess } from '../input/rules.ts';
import type { ActionEffect, PlanEffect } from '../model.ts';
import type { ActionType } from '../operation.ts';
import { lockFound } from '../rollback/database.ts';
import { openJournal } from '../rollback/journal.ts';
import { leftoverLines } from '../rollback/leftovers.ts';
import { rollBack } from '../rollback/roll-back.ts';
import { Attributes } from '../state/attributes.ts';
import { isPin } from '../state/pin.ts';
import { checkpointAll, historiesOf } from './checkpoint.ts';
import type { ErrorRecord, RecoveryAction } from './failure.ts';
import { type Halt, startHalt, startWatch } from './halt.ts';
import type { ActionOutcome, AppliedChange, PlanOutcome, PlanProgress, PlanRunStatus } from './outcome.ts';
import { PlanRun } from './run.ts';
import { type ActionResult, runInOrder, type Skip } from './schedule.ts';
import { requireRules, requireStates } from './validate.ts';

export interface ExecuteOptions {
  /** Absolute; all paths of the effect are beneath it. */
  readonly root: string;
  /** Relative to the root, new: `agent_outputs/reports/{timestamp}_{task_id}`. Holds backups, manifest and journal. */
  readonly reports_folder: string;
  readonly runners?: Runners;
  /** Left out, no path is protected. */
  readonly protection?: (path: string) => PathAccess;
  /** What was learnt when the plan was simulated, so that it need not be read again. */
  readonly attributes?: Attributes;
  readonly clock?: () => Date;
  /** Ctrl-C, a freeze, a revocation: the run stops and is rolled back. */
  readonly abort?: AbortSignal;
  readonly onProgress?: (progress: PlanProgress) => void;
  /** Records the digest of the manifest, durably. Nothing is changed before it returns, and nothing at all when it throws. */
  readonly onCheckpoint?: (manifest: Digest) => Promise<void>;
  /** Records the digest of the journal, durably. What its last line announces is done only after it returns. */
  readonly onAnnounce?: (journal: Digest) => Promise<void>;
  /** Takes the files that were replaced, open, until the caller closes them. Left out, they are closed when the run ends. */
  readonly replaced?: OpenFiles;
  readonly expires_at?: string;
  readonly auto_rollback_script?: string;
}

/**
 * Does what was approved: all of it or, as the plan says, none of it. Whatever happens in the project is part of the
 * outcome and never thrown. The caller holds the claim that makes this the one run.
 */
export async function executePlan(effect: PlanEffect, options: ExecuteOptions): Promise<PlanOutcome> {
  const { root, clock = () => new Date(), onProgress = () => {} } = options;
  const { protection = () => 'free', attributes = new Attributes(), onAnnounce = async () => {} } = options;
  const replaced = options.replaced ?? new OpenFiles();
  const run = new PlanRun(effect, { root, clock, onProgress, onAnnounce, protection, attributes, replaced });
  const halt = startHalt(options.abort, effect.instructions.timeout_ms);
  try {
    await checkpoint(run, options);
    if (run.manifest) {
      await act(run, halt, options.runners ?? {});
      await validate(run, halt);
      await undoIfNeeded(run);
      await finish(run);
    }
  } finally {
    halt.end();
    run.journal?.close();
    await run.hold?.release();
    await run.lock?.release();
    if (!options.replaced) await replaced.close();
  }
  return outcomeOf(run);
}

/** 004 section 5.1, steps 2 and 3. A failure here has touched nothing. Databases are locked first: a backup is a copy too. */
async function checkpoint(run: PlanRun, options: ExecuteOptions): Promise<void> {
  const { root, clock, attributes } = run.options;
  run.options.onProgress({ phase: 'checkpoint', files: run.effect.actions.length });
  try {
    const surroundings = options.runners?.sql ?? {};
    const databases = databasesOf(run.effect);
    run.hold = await holdDatabases(root, databases, { ...surroundings, max_bytes: planLimits.file_bytes });
    const others = replacedIn(run.effect).filter((path) => !databases.includes(path));
    run.lock = await lockFound(root, others, surroundings);
    const saved = await checkpointAll(run.effect, { ...options, root, clock, attributes });
    run.journal = await openJournal(root, options.reports_folder);
    await options.onCheckpoint?.(saved.digest);
    run.manifest = saved.manifest;
    run.originals = saved.originals;
  } catch (error) {
    run.fail(error);
    for (const action of run.effect.actions) skip(run, action, { reason: 'Nothing was begun' });
  }
}

/** The databases that are there before the run. One that the plan itself makes is locked when SQL works on it. */
function databasesOf({ actions }: PlanEffect): string[] {
  const mentioned = new Set<string>();
  return actions.flatMap((action) => {
    const first = action.changes.filter(({ path }) => !mentioned.has(path));
    for (const { path } of first) mentioned.add(path);
    if (action.action_type !== 'SQL_EXECUTE') return [];
    return first
      .filter(({ path, before }) => path === action.target && before !== null && before !== 'unknown')
      .map(({ path }) => path);
  });
}

/** The files that are there before the run and that it replaces, moves or removes. */
function replacedIn(effect: PlanEffect): string[] {
  return [...historiesOf(effect).values()].flatMap(({ path, before }) => (before === null ? [] : [path]));
}

/** Steps 4 and 5. */
async function act(run: PlanRun, halt: Halt, runners: Runners): Promise<void> {
  const handlers = createHandlers(runners);
  run.prefetch.begin(run.effect, handlers, { ...run.stager(false), replaced: run.options.replaced }, halt);
  await run.prefetch.ready();
  await runInOrder(run.effect.actions, run.effect.instructions.execution_order, {
    stopped: () => run.stopped ?? haltedBetween(run, halt),
    skip: (action, why) => skip(run, action, why),
    run: async (action) => {
      // It may need room on the disk that the files have which are replaced by now.
      if (!run.prefetch.has(action)) await run.options.replaced.close();

      const outcome = await actOnce(run, halt, action, handlers);
      run.outcomes.set(action.action_id, outcome);
      run.options.onProgress({ phase: 'action_done', action_id: action.action_id, status: outcome.status });
      await nextTurn(); // a signal that arrived meanwhile is heard before the next action
      return outcome.status as ActionResult;
    },
  });
  await run.prefetch.end(run.options.root);
}

function haltedBetween(run: PlanRun, halt: Halt): string | null {
  const reason = halt.reason();
  if (reason) run.fail(reason);
  return run.stopped;
}

function skip(run: PlanRun, { action_id, action_type, target }: ActionEffect, why: Skip): void {
  run.outcomes.set(action_id, { action_id, action_type, target, status: 'SKIPPED', ...why });
}

async function actOnce(
  run: PlanRun,
  halt: Halt,
  action: ActionEffect,
  handlers: Handlers,
): Promise<ActionOutcome> {
  const { action_id, action_type, target } = action;
  const started_at = run.now();
  announce(run, action);
  const watch = startWatch(halt, action.timeout_ms);
  try {
    watch.proceed();
    const output = await executeBy(handlers, action, run.writer(action, watch));
    noteChanges(run, action);
    return { action_id, action_type, target, status: 'SUCCESS', started_at, completed_at: run.now(), output };
  } catch (error) {
    const record = run.fail(watch.explain(error), action);
    return {
      action_id,
      action_type,
      target,
      status: 'FAILED',
      started_at,
      completed_at: run.now(),
      error: record,
    };
  } finally {
    watch.end();
  }
}

function executeBy<T extends ActionType>(handlers: Handlers, action: ActionEffect<T>, writer: FileWriter) {
  return handlers[action.action_type].execute(action, writer);
}

function announce(run: PlanRun, { action_id }: ActionEffect): void {
  const number = run.effect.actions.findIndex((action) => action.action_id === action_id) + 1;
  run.options.onProgress({ phase: 'action', action_id, number, of: run.effect.actions.length });
}

function noteChanges(run: PlanRun, action: ActionEffect): void {
  for (const change of action.changes) {
    if (isPin(change)) continue;
    const { path, before, after } = change;
    const left = run.expected.get(path) ?? null;
    const state = after === 'unknown' ? left : after;
    const was = before === 'unknown' ? null : before;
    run.expected.set(path, after === 'unknown' && !run.touched.has(path) ? was : state);
    run.changes.push({
      action_id: action.action_id,
      path,
      operation: operationOf(action, change),
      before: was,
      after: run.expected.get(path) ?? null,
      at: run.now(),
    });
  }
}

function operationOf(
  { action_type }: ActionEffect,
  { before, after }: ActionEffect['changes'][number],
): AppliedChange['operation'] {
  if (action_type === 'FILE_RENAME') return 'RENAME';
  if (before === null) return 'CREATE';
  return after === null ? 'DELETE' : 'MODIFY';
}

/** Step 6. A plan that will be undone anyway is not judged. */
async function validate(run: PlanRun, halt: Halt): Promise<void> {
  if (run.must_roll_back) return;
  run.options.onProgress({ phase: 'validation' });
  try {
    const reason = halt.reason();
    if (reason) throw reason;
    await requireStates(run.options, run.expected, run.effect.instructions.verify_hashes);
    await requireRules(run.options.root, run.effect.validation);
    await run.lock?.confirm();
    await syncFolders(run);
  } catch (error) {
    run.fail(error);
    run.must_roll_back = true; // 004 section 6.2: a failed validation always does
  }
}

/** Each folder once: then every new name is on the disk. */
async function syncFolders(run: PlanRun): Promise<void> {
  for (const folder of run.changedFolders()) {
    await withPlace(run.options.root, folder === '.' ? 'any' : `${folder}/any`, syncFolderOf);
  }
}

async function undoIfNeeded(run: PlanRun): Promise<void> {
  if (!run.must_roll_back) return;
  const { root, clock, attributes, replaced } = run.options;
  run.options.onProgress({ phase: 'rollback' });
  try {
    await replaced.close(); // a rollback needs room
    disownUntouched(run);
    run.rollback = await rollBack(run.manifest!, { root, clock, attributes, journal: run.journal! });
    if (run.rollback.status === 'rolled_back')
      run.manifest = { ...run.manifest!, status: 'EXECUTED', rolled_back_at: run.now() };
  } catch (error) {
    run.fail(error);
    run.escalate = true;
  }
  if (run.rollback?.status !== 'rolled_back') run.escalate = true;
}

/** A path that we never came to may be changed by others, now or later: it is not ours to restore. */
function disownUntouched(run: PlanRun): void {
  const paths = run.manifest!.checkpoints.map(({ file_path }) => file_path);
  const untouched = paths.filter((path) => !run.touched.has(path));
  if (untouched.length > 0) run.say({ kind: 'untouched', at: run.now(), paths: untouched });
}

async function finish(run: PlanRun): Promise<void> {
  try {
    if (!run.must_roll_back) disownUntouched(run);
    // A run without a failure has moved each of its temporary files to its place.
    if (run.manifest && run.errors.length > 0 && !run.rollback)
      run.leftovers = await leftoverLines(run.options.root, run.manifest);
    run.say({ kind: 'finished', at: run.now(), status: statusOf(run) });
  } catch (error) {
    run.fail(error);
    run.escalate = true;
  }
}

function statusOf(run: PlanRun): PlanRunStatus {
  if (run.must_roll_back && run.manifest) return statusUndone(run);
  const all = [...run.outcomes.values()];
  if (all.every(({ status }) => status === 'SUCCESS')) return 'SUCCESS';
  return all.some(({ status }) => status === 'SUCCESS') ? 'PARTIAL' : 'FAILED';
}

function statusUndone({ rollback, cancelled }: PlanRun): PlanRunStatus {
  if (rollback?.status !== 'rolled_back') return 'FAILED';
  if (rollback.not_undone.length > 0) return 'PARTIAL';
  return cancelled ? 'CANCELLED' : 'ROLLED_BACK';
}

function outcomeOf(run: PlanRun): PlanOutcome {
  const status = statusOf(run);
  const completed = run.options.clock();
  run.options.onProgress({ phase: 'done', status });
  return {
    plan_id: run.effect.plan_id,
    status,
    started_at: run.started.toISOString(),
    completed_at: completed.toISOString(),
    duration_ms: completed.getTime() - run.started.getTime(),
    actions: run.effect.actions.map(({ action_id }) => withRecovery(run.outcomes.get(action_id)!, run)),
    errors: run.errors.map((error) => recovered(error, run)),
    changes: run.changes,
    manifest: run.manifest,
    journal: run.journal?.bytes() ?? new Uint8Array(),
    rollback: run.rollback,
    instructions: run.rollback?.instructions ?? run.leftovers,
    left_behind: leftBehind(run),
    escalate: run.escalate,
  };
}

/** What cannot be undone counts from the moment it began: a pipeline that was killed may have done half of its work. */
function leftBehind({ manifest, rollback, must_roll_back, touched, begun }: PlanRun): boolean {
  if (!manifest) return false;
  if (rollback) return rollback.status !== 'rolled_back' || rollback.not_undone.length > 0;
  return must_roll_back || touched.size > 0 || manifest.irreversible.some((id) => begun.has(id));
}

function withRecovery(outcome: ActionOutcome, run: PlanRun): ActionOutcome {
  return outcome.status === 'FAILED' ? { ...outcome, error: recovered(outcome.error, run) } : outcome;
}

function recovered(error: ErrorRecord, run: PlanRun): ErrorRecord {
  return { ...error, recovery_action: recoveryAction(run) };
}

function recoveryAction({ must_roll_back, manifest, rollback, escalate }: PlanRun): RecoveryAction {
  if (escalate && rollback?.status !== 'rolled_back') return 'MANUAL_REQUIRED';
  if (!must_roll_back || !manifest) return 'SKIPPED';
  // What nothing undoes may be half done, and a human must look.
  const undone = rollback?.status === 'rolled_back' && rollback.not_undone.length === 0;
  return undone ? 'ROLLED_BACK' : 'MANUAL_REQUIRED';
}
