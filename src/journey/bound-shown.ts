import { visible } from '../canonical/visible.ts';
import { derived, lifted, line, ordered, type Shown, worded } from '../display/shown.ts';
import { showSqlStep } from '../display/sql.ts';
import { showTool, showToolBound } from '../display/tool.ts';
import type { Bound, BoundPart, EffectBound, PlanBound } from './bound.ts';

/** One effect that an activation binds, with the words that lead to it. */
export interface BoundSection {
  readonly title: string;
  readonly shown: Shown;
}

/** What an activation binds, for the human who signs it: its own effect, those of its steps, and what undoes it. */
export function showBound({ effect, steps, undone_by }: Bound): BoundSection[] {
  return [
    ...(effect === null ? [] : [{ title: 'It runs:', shown: shownOf(effect) }]),
    ...steps.map((step, i) => ({
      title: `Step ${i + 1}, ${named(step)}, runs:`,
      shown: shownOf(step.effect),
    })),
    ...(undone_by === null || typeof undone_by === 'string'
      ? []
      : [{ title: `${named(undone_by)}, which undoes it, runs:`, shown: shownOf(undone_by.effect) }]),
  ];
}

function named({ simulation, version }: BoundPart): string {
  return `${visible(simulation)} version ${version}`;
}

function shownOf(effect: EffectBound): Shown {
  return effect.kind === 'tool' ? showToolBound(effect) : showPlanBound(effect);
}

/** Its actions stand in the definition; here is what it takes from outside itself. */
function showPlanBound({ pipelines, files }: PlanBound): Shown {
  const parts = pipelines.flatMap(({ name, steps }) =>
    steps.map((step, i) => ({
      at: [derived('pipeline '), worded(name, 'registry'), derived(`, step ${i + 1}`)],
      shown: step.kind === 'tool' ? showTool(step) : showSqlStep(step),
    })),
  );
  return {
    kind: 'plan',
    headline: line('Plan', [derived('the actions above')]),
    alarms: ordered(lifted(parts)),
    fields: files.flatMap(({ path, sha256 }) => [
      line('File', [worded(path, 'registry')]),
      line('SHA-256', [derived(sha256 ?? 'none yet: the plan creates it')], 'dim'),
    ]),
    blocks: [],
    parts: parts.map(({ at, shown }) => ({ ...shown, fields: [line('Step', at), ...shown.fields] })),
  };
}
