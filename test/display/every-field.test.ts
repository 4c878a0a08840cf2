import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { showEffect } from '../../src/display/effect.ts';
import type {
  ActionEffect,
  ExecutionInstructions,
  FileState,
  PathChange,
  PlanEffect,
  SqlStep,
  ValidationRule,
} from '../../src/plan/model.ts';
import { type ActionType, actionTypes, operationSchemas } from '../../src/plan/operation.ts';
import { type Effect, effectSchema } from '../../src/tool/effect.ts';
import { drawnInColour } from './drawn.ts';
import { changedAt, mixtures, placesOf, valuesOf } from './from-schema.ts';

/** The only fields whose change no line shows. Each is a digest or an id, or follows from what is shown. */
const UNSHOWN: readonly RegExp[] = [
  /** A change of kind makes it another effect. */
  /(^|\.)(kind|action_type|sandbox)$/,
  /** Twelve characters of it are shown; the content itself is in the diff. */
  /changes\.\d+\.(before|after)\.sha256$/,
];

type Shape<T> = { readonly [K in keyof T]: fc.Arbitrary<T[K]> };
/** A field that a type gains must get values here, or this does not compile. */
const record = <T>(shape: Shape<T>) =>
  fc.record(shape as Record<string, fc.Arbitrary<unknown>>) as fc.Arbitrary<T>;

const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('a b', 'a\\x1b', '\u202ex'),
);
const time = fc.integer({ min: 1, max: 100_000 });
const list = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 3 });

/** A command line, and ranges that stay in it when one of their numbers grows. */
const tool = (valuesOf(effectSchema) as fc.Arbitrary<Effect>).map((effect) => ({
  ...effect,
  argv: [...effect.argv, ...effect.chosen.map(({ parameter }) => parameter)].map((word) => `${word}...`),
  chosen: effect.chosen.map((range, element) => ({ ...range, element, start: 0, end: 2 })),
}));

const sqlStep = record<SqlStep>({
  kind: fc.constant('sql'),
  file: text,
  sha256: hex,
  text: fc.constantFrom('drop table t', 'select 1;\nselect 2', 'delete from t where a = 1'),
  database: text,
});

const state = record<FileState>({ sha256: hex, size: time, mode: fc.constantFrom(0o644, 0o755) });
const change = record<PathChange>({
  path: text,
  before: fc.option(state, { nil: null }),
  after: fc.option(state, { nil: null }),
});

const action = (type: ActionType) =>
  record<ActionEffect>({
    action_id: text,
    action_type: fc.constant(type) as fc.Arbitrary<never>,
    target: text,
    operation: valuesOf(operationSchemas[type]).map((given) =>
      operationOf(type, given),
    ) as fc.Arbitrary<never>,
    depends_on: list(text),
    undo: fc.constantFrom('exact', 'compensating', 'none'),
    timeout_ms: time,
    changes: list(change),
    statements: list(text),
    query_text: type === 'SQL_EXECUTE' ? fc.constantFrom(null, 'select 1;') : fc.constant(null),
    steps: type === 'PIPELINE_RUN' ? list(fc.oneof(tool, sqlStep)) : fc.constant([]),
  }).map(onlyOneQuery);

/** What the parser makes of it: one name for the destination, and no second name for the database. */
function operationOf(type: ActionType, given: unknown): unknown {
  const { new_path: _, database: __, ...operation } = given as Record<string, unknown>;
  return type === 'FILE_CREATE' ? { ...operation, mode: 0o644 } : operation;
}

/** SQL is in the operation or in a file, never in both. */
function onlyOneQuery(effect: ActionEffect): ActionEffect {
  if (effect.action_type !== 'SQL_EXECUTE') return effect;
  const { query, query_file, ...operation } = effect.operation;
  return effect.query_text === null
    ? { ...effect, operation: { ...operation, query: query ?? 'select 1' } }
    : { ...effect, operation: { ...operation, query_file: query_file ?? 'q.sql' } };
}

const rule = fc.oneof(
  record<ValidationRule & { type: 'contains' }>({ type: fc.constant('contains'), path: text, text }),
  record<ValidationRule & { type: 'hash_equals' }>({
    type: fc.constant('hash_equals'),
    path: text,
    sha256: hex,
  }),
  record<ValidationRule & { type: 'file_exists' }>({ type: fc.constant('file_exists'), path: text }),
);

const plan = (type: ActionType) =>
  record<PlanEffect>({
    kind: fc.constant('plan'),
    plan_id: text,
    task_id: text,
    plan_digest: hex,
    config_digest: fc.option(hex, { nil: null }),
    instructions: record<ExecutionInstructions>({
      execution_order: fc.constantFrom('sequential', 'parallel'),
      stop_on_error: fc.boolean(),
      rollback_on_failure: fc.boolean(),
      preserve_permissions: fc.boolean(),
      verify_hashes: fc.boolean(),
      timeout_ms: time,
    }),
    actions: list(action(type)),
    folders: list(text),
    validation: list(rule),
    elevated: list(text),
  });

const linesOf = (effect: Effect | PlanEffect) => drawnInColour(showEffect(effect));

/** Changes each place of an effect, one at a time, and looks at the lines. */
function expectEveryPlaceShown(effect: Effect | PlanEffect): void {
  const before = linesOf(effect);
  for (const path of placesOf(effect)) {
    const name = path.join('.');
    if (UNSHOWN.some((pattern) => pattern.test(name))) continue;
    if (linesOf(changedAt(effect, path)) === before)
      expect.fail(`a change of ${name} changes no line:\n${before}`);
  }
}

/** Gives an effect each field of another one, so that a field also becomes null, empty, or of another form. */
function expectEveryFieldShown<T extends Effect | PlanEffect>(effect: T, other: T): void {
  for (const [field, mixed] of mixtures(effect, other))
    if (linesOf(mixed) === linesOf(effect)) expect.fail(`another ${field} changes no line`);
}

describe('every field of an effect is in a line that a human reads', () => {
  it('of a tool call', () => {
    fc.assert(fc.property(tool, expectEveryPlaceShown), { numRuns: 40, endOnFailure: true });
    fc.assert(fc.property(tool, tool, expectEveryFieldShown), { numRuns: 40, endOnFailure: true });
  });

  it.each(actionTypes)('of a plan with %s', (type) => {
    fc.assert(fc.property(plan(type), expectEveryPlaceShown), { numRuns: 6, endOnFailure: true });
    fc.assert(fc.property(plan(type), plan(type), expectEveryFieldShown), {
      numRuns: 10,
      endOnFailure: true,
    });
    fc.assert(
      fc.property(plan(type), action(type), action(type), (effect, one, other) => {
        const holding = (held: ActionEffect): PlanEffect => ({ ...effect, actions: [held] });
        // SQL has one text: that of a query file is changed above, with its operation as it is.
        for (const [field, mixed] of mixtures(one, other).filter(([name]) => name !== 'query_text'))
          if (linesOf(holding(mixed)) === linesOf(holding(one)))
            expect.fail(`another ${field} of an action changes no line`);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('what the proposer chose is marked, and what the registry says is not', () => {
    fc.assert(
      fc.property(tool, (effect) => {
        const { headline } = showEffect(effect);
        const marked = headline.value.filter(({ from }) => from === 'agent').length > 0;
        expect(marked).toBe(effect.chosen.length > 0);
      }),
    );
  });
});
