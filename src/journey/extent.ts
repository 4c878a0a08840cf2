import { type Extent, requireConstraints } from '../intent/constraints.ts';
import type { Envelope } from '../intent/envelope.ts';
import type { KnownTerms } from '../intent/term.ts';
import type { McpEffect } from '../mcp-call/effect.ts';
import type { PlanEffect } from '../plan/model.ts';
import { isPin } from '../plan/state/pin.ts';
import type { ToolEffect } from '../tool/effect.ts';
import type { Context } from './context.ts';
import type { Effect } from './derived.ts';
import { confinementIn, pathsIn, placeIn, programsOf, readsOf, stepWrites, toolStepsOf } from './reach.ts';
import { resourceOf } from './resource.ts';

/** Refuses an effect that the intent itself rules out, and an intent whose bounds are not clear. */
export function requireBounds(
  context: Context,
  { constraints }: Pick<Envelope, 'constraints'>,
  effect: Effect,
): void {
  const { scope, prohibitions, limits } = constraints;
  if (scope.length === 0 && prohibitions.length === 0 && Object.keys(limits).length === 0) return;
  requireConstraints(constraints, extentOf(context, effect), knownIn(context));
}

export function knownIn(context: Context): KnownTerms {
  return {
    isAction: (word) => [...context.registry().tools.values()].some(({ action }) => action === word),
    place: (path) => placeIn(context, path),
  };
}

function extentOf(context: Context, effect: Effect): Extent {
  const { network, sandboxed } = resourceOf(context, effect, '');
  const reached = { network, unconfined: !sandboxed };
  return effect.kind === 'plan'
    ? { ...reached, ...planExtent(context, effect) }
    : { ...reached, ...callExtent(context, effect) };
}

type Part = Omit<Extent, 'network' | 'unconfined'>;

function callExtent(context: Context, effect: ToolEffect | McpEffect): Part {
  const { sandbox, timeout_ms } = confinementIn(effect);
  const { action } = effect;
  const runs =
    effect.kind === 'tool' ? [`tool:${effect.tool}`, 'tool:*', action] : [action, `mcp:${effect.server}:*`];
  const { read, write } = sandbox === 'none' ? { read: [], write: [] } : sandbox;
  const writes = pathsIn(context, write);
  return {
    runs: [runs],
    reads: pathsIn(context, read),
    writes,
    deletes: writes,
    runtime_s: timeout_ms / 1000,
    files: null,
  };
}

function planExtent(context: Context, effect: PlanEffect): Part {
  const changes = effect.actions.flatMap((action) => action.changes);
  const paths = (of: typeof changes) => of.map(({ path }) => path);
  const written = pathsIn(context, stepWrites(effect));
  return {
    runs: [...effect.actions.map(actionWords), ...stepWords(effect)],
    reads: pathsIn(context, readsOf(effect)),
    writes: [
      ...paths(changes.filter((change) => change.after !== null && !isPin(change))),
      ...effect.folders,
      ...written,
    ],
    // What a step may write it may also remove.
    deletes: [...paths(changes.filter(({ after }) => after === null)), ...written],
    runtime_s: effect.instructions.timeout_ms / 1000,
    files: toolStepsOf(effect).some(mayTouchFiles) ? null : new Set(paths(changes)).size,
  };
}

function mayTouchFiles({ sandbox }: ToolEffect): boolean {
  return sandbox === 'none' || sandbox.write.length > 0;
}

type Action = PlanEffect['actions'][number];

function actionWords({ action_type, target }: Action): string[] {
  return action_type === 'PIPELINE_RUN'
    ? ['plan', action_type, `pipeline:${target}`, 'pipeline:*']
    : ['plan', action_type];
}

/** A scope that names a pipeline names its steps; a prohibition of a tool holds inside a pipeline, too. */
function stepWords(effect: PlanEffect): string[][] {
  const { tools, actions } = programsOf(effect);
  const around = effect.actions.filter(({ action_type }) => action_type === 'PIPELINE_RUN');
  const words = [...new Set(around.flatMap(actionWords))];
  return tools.map((tool, i) => [`tool:${tool}`, 'tool:*', actions[i]!, ...words]);
}
