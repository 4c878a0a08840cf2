import fc from 'fast-check';
import { planShape } from '../../src/plan/input/schema.ts';
import type {
  ActionEffect,
  ExecutionInstructions,
  FileState,
  PathChange,
  PlanEffect,
  SqlStep,
  ValidationRule,
} from '../../src/plan/model.ts';
import { type ActionType, operationSchemas } from '../../src/plan/operation.ts';
import { effectSchema, type ToolEffect } from '../../src/tool/effect.ts';
import { valuesOf } from './from-schema.ts';

/** Effects of every kind, made from their schemas and types. */

type Shape<T> = { readonly [K in keyof T]-?: fc.Arbitrary<T[K]> };
/** A field that a type gains must get values here, or this does not compile. */
export const record = <T>(shape: Shape<T>) =>
  fc.record(shape as Record<string, fc.Arbitrary<unknown>>) as fc.Arbitrary<T>;

export const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
export const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('a b', 'a\\x1b', '\u202ex'),
);
const time = fc.integer({ min: 1, max: 100_000 });
export const list = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 3 });

/** A command line, and ranges that stay in it when one of their numbers grows. */
export const tool = (valuesOf(effectSchema) as fc.Arbitrary<ToolEffect>).map((effect) => ({
  ...effect,
  argv: [...effect.argv, ...effect.chosen.map(({ parameter }) => parameter)].map((word) => `${word}...`),
  chosen: effect.chosen.map((range, element) => ({ ...range, element, start: 0, end: 2 })),
}));

export const sqlStep = record<SqlStep>({
  kind: fc.constant('sql'),
  file: text,
  sha256: hex,
  text: fc.constantFrom('drop table t', 'select 1;\nselect 2', 'delete from t where a = 1'),
  database: text,
});

const state = record<FileState>({
  sha256: hex,
  size: time,
  mode: fc.constantFrom(0o644, 0o755),
  attributes: fc.option(hex, { nil: undefined }),
});
const change = record<PathChange>({
  path: text,
  before: fc.option(state, { nil: null }),
  after: fc.option(state, { nil: null }),
});

export const action = (type: ActionType) =>
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

const rule = valuesOf(planShape.validation).map((rules) => (rules as ValidationRule[])[0]!);

export const plan = (type: ActionType) =>
  record<PlanEffect>({
    kind: fc.constant('plan'),
    plan_id: text,
    task_id: text,
    plan_digest: hex,
    config_digest: fc.option(hex, { nil: null }),
    instructions: record<ExecutionInstructions>({
      execution_order: fc.constantFrom('sequential', 'parallel', 'dependency_based'),
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
