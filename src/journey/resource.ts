import { protectedWithin, protectionWith } from '../plan/input/protection.ts';
import type { PlanEffect } from '../plan/model.ts';
import type { PolicyResource } from '../policy/request.ts';
import type { Context } from './context.ts';
import type { Effect } from './derived.ts';
import { confinementIn, neededScope, pathsIn, programsOf, stepWrites, writesOf } from './reach.ts';

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
  const { tools, categories } = programsOf(effect);
  const writes = pathsIn(context, writesOf(effect));
  const reached =
    effect.kind === 'plan'
      ? [...new Set([...effect.elevated, ...protectedIn(pathsIn(context, stepWrites(effect)))])].sort()
      : protectedIn(writes);
  return {
    kind: effect.kind,
    name,
    sandboxed: !unconfined,
    network,
    writes,
    protected: reached,
    undo: effect.kind === 'plan' ? leastUndo(effect) : confinementIn(effect).undo,
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
