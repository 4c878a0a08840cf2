import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { canonicalScope, type ResourceScope } from '../capability/scope.ts';
import { isWithin, projectPaths } from '../intent/path.ts';
import { protectedWithin, protectionWith } from '../plan/input/protection.ts';
import type { PlanEffect } from '../plan/model.ts';
import type { PolicyResource } from '../policy/request.ts';
import type { Effect as ToolEffect } from '../tool/effect.ts';
import type { Registry } from '../tool/registry.ts';
import type { Context } from './context.ts';
import type { Effect } from './derived.ts';

/** What an effect does, in the words of the intent: the action of the tool, or `plan`. */
export function actionOf(effect: Effect): string {
  return effect.kind === 'tool' ? effect.action : 'plan';
}

export function categoryOf(effect: Effect): string | null {
  return effect.kind === 'tool' ? effect.category : null;
}

/** What an effect has to reach. A capability never allows more than this. */
export function neededScope(effect: Effect): ResourceScope {
  return canonicalScope(effect.kind === 'tool' ? toolScope(effect) : planScope(effect));
}

function toolScope({ sandbox }: ToolEffect): ResourceScope {
  if (sandbox === 'none') return { unconfined: true, network: true, read: [], write: [], pipelines: [] };
  const { network, read, write } = sandbox;
  return { unconfined: false, network, read, write, pipelines: [] };
}

/** Every path that an effect may write, none of them abridged: policies are about paths. */
export function writesOf(effect: Effect): string[] {
  if (effect.kind === 'tool') return effect.sandbox === 'none' ? [] : effect.sandbox.write;
  const changed = effect.actions.flatMap(({ changes }) => changes.map(({ path }) => path));
  return [...new Set([...changed, ...effect.folders])].sort();
}

/** Whether a path is one of these, or below one. */
export function reaches(paths: readonly string[], path: string): boolean {
  return paths.some((one) => one === '.' || path === one || path.startsWith(`${one}/`));
}

function planScope(effect: PlanEffect): ResourceScope {
  const pipelines = effect.actions
    .filter(({ action_type }) => action_type === 'PIPELINE_RUN')
    .map(({ target }) => target);
  return {
    unconfined: false,
    network: false,
    read: [],
    write: namedShortly(writesOf(effect)),
    pipelines: [...new Set(pipelines)],
  };
}

const NAMED = 64;
const NAMED_CHARS = 6000;

/**
 * A token is short. Where it cannot name every path it names their folders, then the project. Which bytes may change is
 * fixed by the effect's digest all the same.
 */
function namedShortly(paths: readonly string[]): readonly string[] {
  const fits = (some: readonly string[]) => some.length <= NAMED && some.join().length <= NAMED_CHARS;
  if (fits(paths)) return paths;
  const folders = [...new Set(paths.map((path) => dirname(path)))];
  return fits(folders) ? folders : ['.'];
}

/** The sandbox as the capability narrows it. Nothing is added: its scope is within what the effect needs. */
export function confinedTo(effect: ToolEffect, scope: ResourceScope): ToolEffect {
  if (effect.sandbox === 'none') return effect;
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

const PROTECTION = protectionWith();

/** Protected files that may be written: those that a plan names, and those that a folder gives away. */
export function protectedIn(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => protectedWithin(path, PROTECTION)))].sort();
}

/** An effect as policies see it. */
export function resourceOf(
  context: Pick<Context, 'root' | 'registry'>,
  effect: Effect,
  name: string,
): PolicyResource {
  const { network, unconfined } = neededScope(effect);
  const { tools, categories } = programsOf(effect, context.registry);
  const writes = pathsIn(context, writesOf(effect));
  const reached = effect.kind === 'tool' ? protectedIn(writes) : [...effect.elevated];
  // The steps of a pipeline run as the registry says, perhaps without a sandbox: nobody can promise less from here.
  const loose = effect.kind === 'plan' && planScope(effect).pipelines.length > 0;
  return {
    kind: effect.kind,
    name,
    sandboxed: !unconfined && !loose,
    network: network || loose,
    writes,
    protected: reached,
    undo: effect.kind === 'tool' ? effect.undo : leastUndo(effect),
    elevated: reached.length > 0,
    tools,
    categories,
  };
}

function leastUndo({ actions }: PlanEffect): PolicyResource['undo'] {
  const undos = new Set(actions.map(({ undo }) => undo));
  if (undos.has('none')) return 'none';
  return undos.has('compensating') ? 'compensating' : 'exact';
}

/** What a freeze of a tool names: every tool that would run, and a plan by its id. */
export function toolsOf(effect: Effect, registry: () => Registry): string[] {
  const { tools } = programsOf(effect, registry);
  return effect.kind === 'tool' ? tools : [effect.plan_id, ...tools];
}

interface Programs {
  readonly tools: string[];
  /** Of each tool, in the same order. */
  readonly actions: string[];
  readonly categories: string[];
}

/** Every tool that would run, the steps of a pipeline too, and the kinds of these tools. */
export function programsOf(effect: Effect, registry: () => Registry): Programs {
  if (effect.kind === 'tool') {
    const { tool, action, category } = effect;
    return { tools: [tool], actions: [action], categories: category === null ? [] : [category] };
  }
  const { pipelines } = planScope(effect);
  if (pipelines.length === 0) return { tools: [], actions: [], categories: [] };
  const known = registry();
  const steps = pipelines.flatMap((name) => known.pipelines.get(name)?.steps ?? []);
  const tools = [...new Set(steps.flatMap((step) => ('tool' in step ? [step.tool] : [])))].sort();
  const categories = tools.flatMap((name) => known.tools.get(name)?.category ?? []);
  const actions = tools.map((name) => known.tools.get(name)?.action ?? `tool:${name}`);
  return { tools, actions, categories: [...new Set(categories)].sort() };
}
