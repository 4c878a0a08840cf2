import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, canonicalText } from '../canonical/json.ts';
import { isUtf8 } from '../canonical/primitive.ts';
import type { DiffRoom } from '../display/diff.ts';
import { charsIn, type DiffText } from '../display/diff-check.ts';
import { showPlan } from '../display/plan.ts';
import type { Shown } from '../display/shown.ts';
import { OpenFiles } from '../durable/open-files.ts';
import type { Secrets } from '../effect/secret.ts';
import { limits } from '../limits.ts';
import { type DeriveOptions, derivePlan, takesContent, type Visited } from '../plan/derive.ts';
import type { Runners } from '../plan/handler/handlers.ts';
import { requireContent } from '../plan/input/content.ts';
import { type PlanProblem, Problems } from '../plan/input/problem.ts';
import { type PathAccess, pathAccessOf } from '../plan/input/rules.ts';
import type { PlanEffect } from '../plan/model.ts';
import { type PipelineSetting, registeredPipelines } from '../plan/pipelines.ts';
import { Collector } from '../plan/preview/collect.ts';
import { expireManifests } from '../plan/report/archive.ts';
import { reportsFolder } from '../plan/report/folder.ts';
import {
  actionsIn,
  type OpenedSpec,
  openPlanSpec,
  type PlanSource,
  type PlanSpec,
  type ReadSpec,
  readPlanSpec,
} from '../plan/spec.ts';
import { isPin } from '../plan/state/pin.ts';
import { StatCache } from '../plan/state/stat-cache.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { editFaults, requireUntold, type Simulating, untoldOf } from './agent-plan.ts';
import { attributesOf } from './attributes.ts';
import type { Context } from './context.ts';
import type { Derived } from './derived.ts';
import { executeRun } from './plan-run.ts';
import { requireSqlEngine } from './reach.ts';

/** A plan: parsed, simulated over the files as they are now, and checked for what no plan may contain. */
export async function derivePlanRun(context: Context, spec: PlanSpec, look: boolean): Promise<Derived> {
  // Before a new plan begins, old ones whose time is up are marked; they are kept all the same.
  if (look) await expireManifests(context.root, context.clock(), context.memory.expiries);
  const collector = new Collector(context.aside.onlooker);
  const stat_cache = new StatCache(context.root);
  const contents: Uint8Array[] = [];
  const visit = async (visited: Visited) => {
    await collector.visit(visited);
    const { action, change } = visited;
    if (takesContent(action) && change.path === action.target) contents.push((await visited.after())!);
  };
  const derived = async (looking?: Simulating) => {
    const onBegin = looking?.begin;
    const found = await simulate(context, spec, {
      stat_cache,
      ...(look && { visit }),
      ...(onBegin && { onBegin }),
    });
    requireContent(collector.findings);
    return found;
  };
  const effect = await (context.untold === undefined ? derived() : untoldPlan(context, spec, derived));
  const registry = context.registry();
  return {
    effect,
    registry_digest: registry.digest,
    registry_bytes: registry.bytes,
    name: effect.plan_id,
    contents,
    // Protected files want a second pair of eyes.
    approvals_needed: effect.elevated.length > 0 ? 2 : 1,
    requireSame: (approved) => requireSamePlan(approved as PlanEffect, effect),
    // A pipeline is more than the files of the project, so it is always looked at whole.
    isStillTrue: () =>
      effect.actions.every(({ action_type }) => action_type !== 'PIPELINE_RUN') &&
      context.registry().digest === registry.digest &&
      stat_cache.isUnchanged(),
    prepare(_, secrets) {
      requireSqlEngine(effect);
      const reports = reportsFolder(unusedTime(context), effect.task_id);
      const replaced = new OpenFiles();
      return {
        reports,
        run: (options) =>
          executeRun(context, effect, {
            ...options,
            reports,
            attributes: attributesOf(context),
            replaced,
            runners: runnersOf(context, secrets),
            protection: protectionBy(openedOf(context, spec)),
          }),
        close: () => void replaced.close(),
      };
    },
  };
}

function untoldPlan(
  context: Context,
  spec: PlanSpec,
  derived: (looking: Simulating) => Promise<PlanEffect>,
): Promise<PlanEffect> {
  const opened = openedOf(context, spec);
  requireUntold(opened.plan, protectionBy(opened));
  return untoldOf(derived);
}

/** Reports are in a folder named after the time: two plans of one task that begin at once must not get the same one. */
function unusedTime({ clock, memory }: Context): Date {
  memory.reports_ms = Math.max(clock().getTime(), memory.reports_ms + 1);
  return new Date(memory.reports_ms);
}

/** What a plan would do. Touches nothing. */
async function simulate(
  context: Context,
  spec: PlanSpec,
  onlookers: Pick<DeriveOptions, 'visit' | 'stat_cache' | 'onBegin' | 'onProblem'>,
): Promise<PlanEffect> {
  const opened = openedOf(context, spec);
  const { plan, config } = opened;
  return derivePlan({
    plan,
    root: context.root,
    attributes: attributesOf(context),
    config_digest: config?.digest ?? null,
    protection: protectionBy(opened),
    runners: runnersOf(context),
    ...onlookers,
  });
}

function protectionBy({ rules }: OpenedSpec): (path: string) => PathAccess {
  return (path) => pathAccessOf(path, rules);
}

/** The same for a plan that was proposed: refuses when it would no longer do what was proposed. */
export async function previewSamePlan(
  context: Context,
  spec: PlanSpec,
  proposed: PlanEffect,
  room?: DiffRoom,
): Promise<{ readonly shown: Shown; readonly seen: Collector }> {
  const { effect, shown, seen } = await previewPlan(context, spec, room);
  requireSamePlan(proposed, effect);
  return { shown, seen };
}

/** The contents behind the diffs of a plan that was proposed, as far as they are text and there is room for them. */
export async function textsOfPlan(
  context: Context,
  spec: PlanSpec,
  proposed: PlanEffect,
): Promise<readonly DiffText[]> {
  const texts: DiffText[] = [];
  let room = limits.diff_text_bytes;
  const visit = async ({ action: { action_id }, change, before, after }: Visited) => {
    const bytes = charsIn(change);
    if (isPin(change) || bytes > room) return;
    const [was, becomes] = [await before(), await after()];
    const is_known =
      (was === null) === (change.before === null) && (becomes === null) === (change.after === null);
    if (!is_known || !isUtf8(was ?? NOTHING) || !isUtf8(becomes ?? NOTHING)) return;
    room -= bytes;
    texts.push({ action_id, path: change.path, before: textOf(was), after: textOf(becomes) });
  };
  requireSamePlan(proposed, await simulate(context, spec, { visit }));
  return texts;
}

const NOTHING = new Uint8Array();

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

/** What a plan would do to the files as they are now, as a person reads it. */
export async function previewPlan(context: Context, spec: PlanSpec, room?: DiffRoom) {
  const seen = new Collector(context.aside.onlooker);
  const effect = await simulate(context, spec, { visit: seen.visit });
  const { findings } = seen;
  const changeOf = (action_id: string, path: string) => seen.changeOf(action_id, path);
  return {
    effect,
    shown: showPlan(effect, { changeOf, findings, ...(room && { diff_room: room }) }),
    findings,
    seen,
  };
}

export interface Validation {
  readonly plan_id: string | null;
  readonly actions: number;
  /** `form`: an agent asked, and no file of the project was looked at. */
  readonly checked: 'form' | 'files';
  /** Those of the form name the file that they are in. */
  readonly problems: readonly (PlanProblem & { readonly source: 'plan' | 'config' })[];
}

/** Everything that is wrong with a plan: its form, and then what the files as they are now do not allow. An agent is told of its form alone. */
export async function validatePlan(
  context: Context,
  source: Pick<PlanSource, 'plan' | 'config'>,
): Promise<Validation> {
  const read = readPlan(context, source);
  const checked = context.untold === undefined ? 'files' : 'form';
  if ('problems' in read) return { plan_id: null, actions: 0, checked, problems: read.problems };
  const { plan } = read.opened;
  const named = { plan_id: plan.plan_id, actions: plan.actions.length, checked } as const;
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
  const collector = new Collector(context.aside.onlooker);
  try {
    if (checked === 'files')
      await simulate(context, read.spec, {
        visit: collector.visit,
        onProblem: ({ action_id }, { code, message }) => tell(action_id, code, message),
      });
    else for (const { action, refusal } of editFaults(plan)) tell(action, refusal.code, refusal.message);
    for (const { action_id, severity, code, path, line, message } of collector.findings)
      if (severity === 'refuse')
        tell(action_id, code ?? 'CONTENT_CREDENTIAL', `${path}, line ${line}: ${message}`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell('', error.code, error.message);
  }
  const found = problems.list().map((problem) => ({ ...problem, source: 'plan' as const }));
  return { ...named, problems: found };
}

export function readPlan(context: Context, source: Pick<PlanSource, 'plan' | 'config'>): ReadSpec {
  const registries = registriesOf(context);
  const read = readPlanSpec({ ...source, registries, now: context.clock() });
  if ('spec' in read) context.memory.plan = { digest: digestOf(read.spec, registries), opened: read.opened };
  return read;
}

/** A plan is parsed once: by what read it, or here, and then again only when another one was parsed in between. */
function openedOf(context: Context, spec: PlanSpec): OpenedSpec {
  const registries = registriesOf(context);
  const digest = digestOf(spec, registries);
  const known = context.memory.plan;
  if (known?.digest === digest) return known.opened;
  const parsed = openPlanSpec(spec, registries);
  context.memory.plan = { digest, opened: parsed };
  return parsed;
}

/** Of everything that the parsed plan follows from. */
function digestOf({ plan, config, task_id }: PlanSpec, registries: readonly string[]): Digest {
  return sha256(canonicalBytes({ plan, config, task_id, registries }));
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

function runnersOf(context: Context, secrets?: Secrets): Runners {
  const pipelines = registeredPipelines(pipelineSetting(context, secrets));
  return { pipelines, editor: context.aside.editor ?? undefined };
}

export function pipelineSetting(context: Context, secrets?: Secrets): PipelineSetting {
  const { root, registry, hidden_paths, protected_paths, digests, machine, starter } = context;
  const surroundings = {
    hidden: hidden_paths,
    protected: protected_paths,
    machine: machine(),
    starter,
    digests,
    ...(secrets && { secrets }),
  };
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
  const folder = approved.folders.find((path) => !now.folders.includes(path));
  if (folder !== undefined)
    refuse('PLAN_DRIFT', `${folder} was made since the plan was proposed.`, { path: folder });
  refuse('EFFECT_CHANGED', 'The plan would do something else than what was approved.');
}
