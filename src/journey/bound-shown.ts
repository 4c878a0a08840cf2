import { visible } from '../canonical/visible.ts';
import { derived, line, type Shown } from '../display/shown.ts';
import { showPlanBound } from '../display/template.ts';
import { showToolBound } from '../display/tool.ts';
import type { Bound, BoundPart, EffectBound } from './bound.ts';

/** One effect that an activation binds, with the words that lead to it. */
export interface BoundSection {
  readonly title: string;
  readonly shown: Shown;
}

export const RUNS = 'It runs:';

/** What an activation binds, for the human who signs it: its own effect, those of its steps, and what undoes it. */
export function showBound({ effect, steps, undone_by }: Bound): BoundSection[] {
  return [
    ...(effect === null ? [] : [{ title: RUNS, shown: shownOf(effect) }]),
    ...steps.map((step, i) => ({
      title: `Step ${i + 1}, ${named(step)}, runs:`,
      shown: partShown(step),
    })),
    ...(undone_by === null || typeof undone_by === 'string'
      ? []
      : [{ title: `${named(undone_by)}, which undoes it, runs:`, shown: partShown(undone_by) }]),
  ];
}

function named({ simulation, version }: BoundPart): string {
  return `${visible(simulation)} version ${version}`;
}

/** With the digest of its definition, as `simulation show` tells it. */
function partShown({ effect, definition }: BoundPart): Shown {
  const shown = shownOf(effect);
  return { ...shown, fields: [...shown.fields, line('Simulation', [derived(definition)], 'dim')] };
}

function shownOf(effect: EffectBound): Shown {
  return effect.kind === 'tool' ? showToolBound(effect) : showPlanBound(effect);
}
