import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consentLines, definitionLines, effectSections } from '../../src/agent/shown.ts';
import type { Json, JsonObject } from '../../src/canonical/json.ts';
import { drawShown, fieldOf } from '../../src/cli/draw.ts';
import { fieldLines } from '../../src/cli/fold.ts';
import type { Line } from '../../src/display/shown.ts';
import { type Simulation, simulationSchema } from '../../src/finder/simulation.ts';
import type { Bound, BoundPart } from '../../src/journey/bound.ts';
import { type BoundSection, showBound } from '../../src/journey/bound-shown.ts';
import { planSchema } from '../../src/plan/input/schema.ts';
import type { FileBound, PlanBound } from '../../src/plan/model.ts';
import { type ActionType, actionTypes, operationSchemas } from '../../src/plan/operation.ts';
import { fixedPart, type ToolBound } from '../../src/tool/effect.ts';
import { registrySchema } from '../../src/tool/schema.ts';
import { inColour } from './drawn.ts';
import { hex, list, record, sqlStep, text, tool } from './effects.ts';
import { changedAt, mixtures, placesOf, valuesOf } from './from-schema.ts';

/** The only fields whose change no line shows. */
const UNSHOWN: readonly RegExp[] = [
  /** Another kind is another effect, and another format another program. */
  /(^|\.)(kind|format|sandbox)$/,
  /** The digest of the definition: each of its fields is in a line, which the first test shows. */
  /^definition$/,
];

const given = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.jsonValue({ maxDepth: 1 }),
) as fc.Arbitrary<JsonObject>;

/** A definition has an effect or steps, as its schema demands. */
const simulation = fc
  .tuple(valuesOf(simulationSchema) as fc.Arbitrary<Simulation>, fc.boolean(), given, plans())
  .map(([{ effect, steps, ...rest }, is_template, config, plan]): Simulation => {
    if (is_template) return { ...rest, steps: steps! };
    return { ...rest, effect: 'plan' in effect! ? { plan, config } : effect! } as Simulation;
  });

const toolShape = registrySchema.shape.tools.element.shape;
const toolBound = fc.tuple(tool, valuesOf(toolShape.args), valuesOf(toolShape.parameters), given).map(
  ([effect, args, parameters, written]): ToolBound => ({
    ...fixedPart(effect),
    args: args as ToolBound['args'],
    parameters: parameters as ToolBound['parameters'],
    given: written,
  }),
);

/** As a definition writes a plan: the operation of an action is flat, or stands under `details`. */
function plans(): fc.Arbitrary<JsonObject> {
  const actions = list(
    fc.constantFrom(...actionTypes).chain((type) =>
      fc
        .tuple(valuesOf(planSchema.shape.action_plan.element), valuesOf(operationSchemas[type]), fc.boolean())
        .map(([action, operation, nested]) => ({
          ...(action as object),
          action_type: type satisfies ActionType,
          operation: nested ? { type: 'x', details: operation } : operation,
        })),
    ),
  );
  return fc
    .tuple(valuesOf(planSchema), actions)
    .map(([plan, action_plan]) => ({ ...(plan as object), action_plan }) as unknown as JsonObject);
}

const planBound = record<PlanBound>({
  kind: fc.constant('plan'),
  plan: plans(),
  config: fc.option(given, { nil: null }),
  pipelines: list(
    record<PlanBound['pipelines'][number]>({ name: text, steps: list(fc.oneof(tool, sqlStep)) }),
  ),
  files: list(
    record<FileBound>({
      path: text,
      sha256: fc.option(hex, { nil: null }),
      sql: fc.constantFrom(null, 'drop table t', 'select 1;\nselect 2'),
    }),
  ),
});

const part = (effect: fc.Arbitrary<ToolBound | PlanBound>) =>
  record<BoundPart>({
    simulation: text,
    version: fc.integer({ min: 1, max: 9 }),
    definition: hex,
    effect,
  });

const bound = record<Bound>({
  format: fc.constant('keyturn-bound/1'),
  simulation: text,
  version: fc.integer({ min: 1, max: 9 }),
  definition: hex,
  effect: fc.oneof(toolBound, planBound, fc.constant(null)),
  steps: fc.array(part(toolBound), { maxLength: 1 }),
  undone_by: fc.oneof(
    fc.constant(null),
    fc.constant('plan:rollback' as const),
    part(fc.oneof(toolBound, planBound)),
  ),
});

const sheet = { paint: inColour, columns: 10_000 };

function drawn(lines: readonly Line[], sections: readonly BoundSection[]): string {
  return [
    ...fieldLines(lines.map(fieldOf), sheet),
    ...sections.flatMap(({ title, shown }) => [title, ...drawShown(shown, sheet, '  ')]),
  ].join('\n');
}

/** The screens of `simulation register` and `simulation show`. */
const definitionScreen = (one: Simulation) => drawn(definitionLines(one, 'Draft'), effectSections(one));

/** The screen of an activation, without the digest of all that is bound: that changes with everything. */
function activationScreen(one: Simulation, value: Bound): string {
  const { simulation: id, version, undone_by } = value;
  // What the definition says of itself is what was bound of it.
  const ref = typeof undone_by === 'string' ? undone_by : undone_by?.simulation;
  const named = { ...one, id, version, rollback_plan_ref: ref } as Simulation;
  return drawn([...definitionLines(named, 'Draft'), ...consentLines(named, value)], showBound(value));
}

function expectAllShown<T extends object>(value: T, other: T, screen: (value: T) => string): void {
  const before = screen(value);
  for (const path of placesOf(value)) {
    const name = path.join('.');
    if (UNSHOWN.some((pattern) => pattern.test(name))) continue;
    if (screen(changedAt(value, path)) === before)
      expect.fail(`a change of ${name} changes no line:\n${before}`);
  }
  for (const [field, mixed] of mixtures(value, other)) {
    if (UNSHOWN.some((pattern) => pattern.test(field))) continue;
    if (screen(mixed) === before) expect.fail(`another ${field} changes no line:\n${before}`);
  }
}

describe('every field of what an activation signs is in a line that a human reads', () => {
  it('of the definition', () => {
    fc.assert(
      fc.property(simulation, simulation, (one, other) => expectAllShown(one, other, definitionScreen)),
      { numRuns: 5, endOnFailure: true },
    );
  });

  it('of what is bound: the effect, the steps, and what undoes it', () => {
    fc.assert(
      fc.property(simulation, bound, bound, (one, value, other) =>
        expectAllShown(value, other, (changed) => activationScreen(one, changed)),
      ),
      { numRuns: 2, endOnFailure: true },
    );
  });

  it.each([
    ['tool', toolBound],
    ['plan', planBound],
  ] as const)('of a %s that is bound', (_, effect) => {
    fc.assert(
      fc.property(simulation, bound, effect, effect, (one, value, first, second) =>
        expectAllShown<ToolBound | PlanBound>(first, second, (changed) =>
          activationScreen(one, { ...value, effect: changed }),
        ),
      ),
      { numRuns: 2, endOnFailure: true },
    );
  });

  it('what a plan of a simulation takes away is an alarm before it is activated', () => {
    const action = (action_type: string, operation: JsonObject): Json => ({
      action_id: 'a',
      action_type,
      target: 'shop.duckdb',
      operation,
    });
    const plan: JsonObject = {
      plan_id: 'close',
      action_plan: [
        action('FILE_DELETE', { type: 'delete' }),
        action('SQL_EXECUTE', { type: 'sql_execute', details: { query: 'delete from orders' } }),
      ],
      execution_instructions: { rollback_on_failure: '{undo}' },
    };
    const [{ shown }] = showBound({
      format: 'keyturn-bound/1',
      simulation: 'shop.close',
      version: 1,
      definition: '0'.repeat(64) as Bound['definition'],
      effect: {
        kind: 'plan',
        plan,
        config: null,
        pipelines: [],
        files: [{ path: 'month.sql', sha256: null, sql: 'drop table customers' }],
      },
      steps: [],
      undone_by: null,
    }) as [BoundSection];
    expect(shown.alarms.map(({ alarm }) => alarm)).toEqual(['no-rollback', 'delete', 'drop', 'delete-all']);
  });
});
