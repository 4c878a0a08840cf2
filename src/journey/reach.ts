import { dirname } from 'node:path';
import { canonicalScope, type ResourceScope } from '../capability/scope.ts';
import type { PlanEffect } from '../plan/model.ts';
import type { PolicyResource } from '../policy/request.ts';
import type { Effect as ToolEffect } from '../tool/effect.ts';
import type { Registry } from '../tool/registry.ts';
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

/** An effect as policies see it. */
export function resourceOf(effect: Effect, name: string): PolicyResource {
  const { network, unconfined } = neededScope(effect);
  // The steps of a pipeline run as the registry says, perhaps without a sandbox: nobody can promise less from here.
  const loose = effect.kind === 'plan' && planScope(effect).pipelines.length > 0;
  return {
    kind: effect.kind,
    name,
    sandboxed: !unconfined && !loose,
    network: network || loose,
    writes: writesOf(effect),
    undo: effect.kind === 'tool' ? effect.undo : leastUndo(effect),
    elevated: effect.kind === 'plan' && effect.elevated.length > 0,
  };
}

function leastUndo({ actions }: PlanEffect): PolicyResource['undo'] {
  const undos = new Set(actions.map(({ undo }) => undo));
  if (undos.has('none')) return 'none';
  return undos.has('compensating') ? 'compensating' : 'exact';
}

/** Every tool that would run, so that a freeze of one stops a plan whose pipeline uses it. */
export function toolsOf(effect: Effect, registry: () => Registry): string[] {
  if (effect.kind === 'tool') return [effect.tool];
  const { pipelines } = planScope(effect);
  if (pipelines.length === 0) return [effect.plan_id];
  const known = registry().pipelines;
  const steps = pipelines.flatMap((name) => known.get(name)?.steps ?? []);
  return [effect.plan_id, ...steps.flatMap((step) => ('tool' in step ? [step.tool] : []))];
}
