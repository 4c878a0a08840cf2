import { visible } from '../canonical/visible.ts';
import type { Bound, EffectBound } from '../keyturn.ts';
import type { Field } from './fold.ts';
import { effectFields } from './screen.ts';

/** What an activation binds, for the human who signs it: every program with its digests and its sandbox. */
export interface BoundSection {
  readonly title: string;
  readonly fields: readonly Field[];
}

type Part = Bound['steps'][number];
type ToolBound = Extract<EffectBound, { kind: 'tool' }>;
type PlanBound = Extract<EffectBound, { kind: 'plan' }>;

export function boundFields({ effect, steps, undone_by }: Bound): BoundSection[] {
  return [
    ...(effect === null ? [] : effectSections('It runs', effect)),
    ...steps.flatMap((step, i) => effectSections(`Step ${i + 1}, ${named(step)}, runs`, step.effect)),
    ...(undone_by === null || typeof undone_by === 'string'
      ? []
      : effectSections(`${named(undone_by)}, which undoes it, runs`, undone_by.effect)),
  ];
}

const named = ({ simulation, version }: Part) => `${visible(simulation)} version ${version}`;

function effectSections(title: string, effect: EffectBound): BoundSection[] {
  return effect.kind === 'tool'
    ? [{ title: `${title}:`, fields: toolFields(effect) }]
    : planSections(title, effect);
}

/** The command line with its placeholders: what users may choose is in braces. */
function toolFields({ args, parameters: _, ...fixed }: ToolBound): Field[] {
  const words = args.flatMap((arg) =>
    typeof arg === 'string' ? [arg] : [`[with ${arg.when}:`, ...arg.args, ']'],
  );
  return effectFields({ ...fixed, argv: [fixed.executables[0]!.called, ...words] });
}

function planSections(title: string, { pipelines, query_files }: PlanBound): BoundSection[] {
  const files = query_files.flatMap(({ path, sha256 }): Field[] => [
    ['SQL file', visible(path)],
    ['SHA-256', sha256 ?? 'none yet: the plan creates it'],
  ]);
  const steps = pipelines.flatMap((pipeline) =>
    pipeline.steps.map((step, i) => ({
      title: `${title} step ${i + 1} of the pipeline ${visible(pipeline.name)}:`,
      fields: step.kind === 'tool' ? effectFields(step) : sqlFields(step),
    })),
  );
  const own: Field[] = [['Plan', 'the actions above'], ...files];
  return [{ title: `${title}:`, fields: own }, ...steps];
}

function sqlFields({
  file,
  sha256,
  database,
}: {
  readonly file: string;
  readonly sha256: string;
  readonly database: string;
}): Field[] {
  return [
    ['SQL file', visible(file)],
    ['SHA-256', sha256],
    ['Database', visible(database)],
  ];
}
