import { realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { canonicalScope, isScopeWithin, type ResourceScope } from '../capability/scope.ts';
import { requireSqlRunner } from '../effect/sql/confine.ts';
import { isWithin, projectPaths } from '../intent/path.ts';
import { journeyLimits } from '../limits.ts';
import { secretsOfStart } from '../mcp-call/accepted.ts';
import type { McpEffect } from '../mcp-call/effect.ts';
import type { PlanEffect } from '../plan/model.ts';
import { isPin } from '../plan/state/pin.ts';
import { refuse } from '../refusal.ts';
import type { ToolEffect } from '../tool/effect.ts';
import type { Context } from './context.ts';
import type { Effect } from './derived.ts';

/** What an effect does, in the words of the intent: the action of the tool, or `plan`. */
export function actionOf(effect: Effect): string {
  return effect.kind === 'plan' ? 'plan' : effect.action;
}

export function categoryOf(effect: Effect): string | null {
  return effect.kind === 'tool' ? effect.category : null;
}

/** What an effect has to reach. A capability never allows more than this. */
export function neededScope(effect: Effect): ResourceScope {
  return canonicalScope(effect.kind === 'plan' ? planScope(effect) : toolScope(confinementIn(effect)));
}

/** What confines the program that runs: the tool, or the server that is called. A server at a URL touches no file here. */
export function confinementIn(
  effect: ToolEffect | McpEffect,
): Pick<ToolEffect, 'sandbox' | 'timeout_ms' | 'undo'> {
  const started = effect.kind === 'tool' ? effect : effect.start;
  if (started.kind === 'tool') return started;
  return {
    sandbox: { network: true, read: [], write: [] },
    timeout_ms: started.timeout_ms,
    undo: 'none',
  };
}

function toolScope({ sandbox }: Pick<ToolEffect, 'sandbox'>): ResourceScope {
  if (sandbox === 'none') return { unconfined: true, network: true, read: [], write: [], pipelines: [] };
  const { network, read, write } = sandbox;
  return { unconfined: false, network, read, write, pipelines: [] };
}

/** Every path that an effect may write, none of them abridged: policies are about paths. */
export function writesOf(effect: Effect): string[] {
  if (effect.kind !== 'plan') {
    const { sandbox } = confinementIn(effect);
    return sandbox === 'none' ? [] : sandbox.write;
  }
  const changed = effect.actions.flatMap(({ changes }) => changes.filter((change) => !isPin(change)));
  return distinct([...changed.map(({ path }) => path), ...effect.folders, ...stepWrites(effect)]);
}

/** What the steps of pipelines may write. */
export function stepWrites({ actions }: PlanEffect): string[] {
  return actions.flatMap(({ steps }) =>
    steps.flatMap((step) => (step.kind === 'tool' ? writesOf(step) : [step.database])),
  );
}

/** Every path that a plan may read beyond what it writes. */
export function readsOf({ actions }: PlanEffect): string[] {
  return distinct(
    actions.flatMap((action) => [
      ...action.changes.filter(isPin).map(({ path }) => path),
      ...(action.action_type === 'SQL_EXECUTE' ? action.operation.readable : []),
      ...action.steps.flatMap((step) => (step.kind === 'tool' ? toolScope(step).read : [step.file])),
    ]),
  );
}

function distinct(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}

/** The tool calls that the pipelines of a plan make. */
export function toolStepsOf({ actions }: PlanEffect): ToolEffect[] {
  return actions.flatMap(({ steps }) => steps.filter((step) => step.kind === 'tool'));
}

/** Every program that an effect starts by a command line of its own. */
export function callsOf(effect: Effect): ToolEffect[] {
  if (effect.kind === 'plan') return toolStepsOf(effect);
  const started = effect.kind === 'tool' ? effect : effect.start;
  return started.kind === 'tool' ? [started] : [];
}

/** The secrets of the executor that an effect names. */
export function secretsIn(effect: Effect): string[] {
  if (effect.kind === 'mcp') return distinct(secretsOfStart(effect.start));
  return distinct(callsOf(effect).flatMap(({ secrets }) => Object.values(secrets)));
}

/** What the executors are called that may run an effect; null where that is the one of keyturn.yaml. */
export function executorIn(effect: Effect): string | null {
  const called = distinct(callsOf(effect).flatMap(({ executor }) => executor ?? []));
  if (called.length > 1)
    refuse('EXECUTOR_ELSEWHERE', `Its steps are for different executors: ${called.join(', ')}.`);
  return called[0] ?? null;
}

/** Refuses where the effect has SQL and this installation cannot run it. */
export function requireSqlEngine(effect: Effect): void {
  const has_sql = ({ action_type, steps }: PlanEffect['actions'][number]) =>
    action_type === 'SQL_EXECUTE' || steps.some(({ kind }) => kind === 'sql');
  if (effect.kind === 'plan' && effect.actions.some(has_sql)) requireSqlRunner();
}

/** What its steps reach is what a plan reaches. */
function planScope(effect: PlanEffect): ResourceScope {
  const steps = toolStepsOf(effect).map(toolScope);
  const pipelines = effect.actions
    .filter(({ action_type }) => action_type === 'PIPELINE_RUN')
    .map(({ target }) => target);
  return {
    unconfined: steps.some(({ unconfined }) => unconfined),
    network: steps.some(({ network }) => network),
    read: namedShortly(readsOf(effect)),
    write: namedShortly(writesOf(effect)),
    pipelines: [...new Set(pipelines)],
  };
}

/**
 * A token is short. Where it cannot name every path it names their folders, then the project. Which bytes may change is
 * fixed by the effect's digest all the same.
 */
function namedShortly(paths: readonly string[]): readonly string[] {
  const fits = (some: readonly string[]) =>
    some.length <= journeyLimits.reach_paths && some.join().length <= journeyLimits.reach_chars;
  if (fits(paths)) return paths;
  const folders = [...new Set(paths.map((path) => dirname(path)))];
  // Paths of the machine and of the project do not cover each other.
  return fits(folders) ? folders : distinct(paths.map((path) => (path.startsWith('/') ? '/' : '.')));
}

/** The sandbox as the capability narrows it. A scope that reaches beyond the approved sandbox is refused, whatever signature it has. */
export function confinedTo(effect: ToolEffect, scope: ResourceScope): ToolEffect {
  if (effect.sandbox === 'none') return effect;
  if (!isScopeWithin(scope, neededScope(effect)))
    refuse('CAPABILITY_WIDENED', 'It reaches beyond the sandbox that was approved.');
  const { network, read, write } = scope;
  return { ...effect, sandbox: { network, read: [...read], write: [...write] } };
}

/** Paths in the one vocabulary that policies and constraints speak. */
export function pathsIn({ root }: Pick<Context, 'root'>, paths: readonly string[]): string[] {
  if (!paths.some((path) => path.startsWith('/'))) return [...paths];
  // What a sandbox binds is a real path; the project may be reached through a link.
  const real = realpathSync.native(root);
  const named = (path: string) => projectPaths(isWithin(path, root) ? root : real, path);
  return [...new Set(paths.flatMap(named))].sort();
}

/**
 * The same of one path as a person wrote it; null where a link is on its way. Effects name real paths, so such a path would be
 * compared with none of them. What does not exist yet has no link.
 */
export function placeIn(context: Pick<Context, 'root'>, path: string): string[] | null {
  const { root } = context;
  const real = realpathSync.native(root);
  const within =
    path.startsWith('/') && !isWithin(path, root) ? path : join(real, relative(root, resolve(root, path)));
  return isReal(within) ? pathsIn(context, [path]) : null;
}

function isReal(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    try {
      return realpathSync.native(at) === at;
    } catch {
      if (at === '/') return true;
    }
  }
}

/** What a freeze of a tool names: every tool that would run, and a plan by its id. */
export function toolsOf(effect: Effect): string[] {
  const { tools } = programsOf(effect);
  return effect.kind === 'plan' ? [effect.plan_id, ...tools] : tools;
}

interface Programs {
  readonly tools: string[];
  /** Of each tool, in the same order. */
  readonly actions: string[];
  readonly categories: string[];
}

/** Every tool that would run, the steps of a pipeline too, and the kinds of these tools. */
export function programsOf(effect: Effect): Programs {
  if (effect.kind === 'mcp') return { tools: [effect.called], actions: [effect.action], categories: [] };
  const calls = callsOf(effect);
  const known = new Map(calls.map((call) => [call.tool, call]));
  const tools = distinct([...known.keys()]);
  return {
    tools,
    actions: tools.map((name) => known.get(name)!.action),
    categories: distinct(calls.flatMap(({ category }) => (category === null ? [] : [category]))),
  };
}
