import type { z } from 'zod';
import { actionTimeouts, planLimits } from '../../limits.ts';
import { type ActionType, type OperationOf, operationSchemas } from '../operation.ts';
import { addIssues } from './issues.ts';
import { requirePlanPath } from './path.ts';
import type { Path, Placed, Problems } from './problem.ts';
import {
  type NamedPath,
  type NamingPaths,
  type PlanRules,
  pathsOf,
  requireOperation,
  requireReadable,
  requireWritable,
} from './rules.ts';

/** What the checks of a plan work with. The value is raw: one broken action must not hide what is wrong with another. */
export interface Checked {
  readonly file: Placed;
  readonly base: Path;
  readonly value: unknown;
  readonly rules: PlanRules;
  readonly problems: Problems;
}

export type AnyOperation = OperationOf<ActionType>;

type Raw = Readonly<Record<string, unknown>>;

export function rawActions(value: unknown): unknown[] {
  const list = isRaw(value) ? value.action_plan : undefined;
  return Array.isArray(list) ? list : [];
}

export function isRaw(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether there are no more actions and files than a plan may have. Asked first: all that follows takes time for each of them. */
export function checkCounts({ file, base, value, rules, problems }: Checked): boolean {
  const actions = rawActions(value);
  const files = actions.filter((one) => isRaw(one) && FILE_ACTIONS.has(one.action_type)).map(targetOf);
  const changed = new Set(files).size;
  const at = [...base, 'action_plan'];
  if (actions.length > planLimits.actions)
    problems.at(
      file,
      at,
      'SHAPE_INVALID',
      `The plan has ${actions.length} actions; ${planLimits.actions} are accepted.`,
    );
  else if (changed > rules.max_files)
    problems.at(
      file,
      at,
      'PLAN_LIMIT_EXCEEDED',
      `The plan changes ${changed} files; ${rules.max_files} are allowed.`,
    );
  return actions.length <= planLimits.actions && changed <= rules.max_files;
}

/** Each changes its target. */
const FILE_ACTIONS: ReadonlySet<unknown> = new Set([
  'FILE_CREATE',
  'FILE_MODIFY',
  'FILE_DELETE',
  'FILE_RENAME',
]);

const targetOf = (action: unknown) => (action as Raw).target;

/** Checks each action by itself. Returns its flat operation, or null where there is a problem with it. */
export function checkActions(checked: Checked): (AnyOperation | null)[] {
  return rawActions(checked.value).map((action, i) => {
    const at = [...checked.base, 'action_plan', i];
    return isRaw(action) && isActionType(action.action_type)
      ? checkAction(checked, at, action, action.action_type)
      : null;
  });
}

function isActionType(type: unknown): type is ActionType {
  return typeof type === 'string' && Object.hasOwn(operationSchemas, type);
}

function checkAction(checked: Checked, at: Path, action: Raw, type: ActionType): AnyOperation | null {
  const { file, rules, problems } = checked;
  problems.attempt(file, [...at, 'action_type'], () => requireOperation(type, rules));
  checkTimeout(checked, at, action, type);
  if (type === 'PIPELINE_RUN' && action.reversible === true)
    problems.at(file, [...at, 'reversible'], 'PLAN_FALSE_CLAIM', 'No rollback undoes what a pipeline did.');
  const operation = isRaw(action.operation) ? flatOperation(checked, at, action.operation, type) : null;
  checkPaths(checked, at, action, type, operation);
  if (operation === null) return null;
  checkPipeline(checked, at, action, operation);
  return checkDatabase(checked, at, action, operation);
}

function checkTimeout({ file, problems }: Checked, at: Path, { timeout_ms }: Raw, type: ActionType): void {
  const { max_ms } = actionTimeouts[type];
  if (typeof timeout_ms === 'number' && timeout_ms > max_ms)
    problems.at(file, [...at, 'timeout_ms'], 'PLAN_LIMIT_EXCEEDED', `${type} may take ${max_ms} ms at most.`);
}

/** Parameters stand inline (004 section 12.1) or under `details` (3.3). With both it would be ambiguous which ones count. */
function flatOperation(checked: Checked, at: Path, operation: Raw, type: ActionType): AnyOperation | null {
  const { file, problems } = checked;
  const where = [...at, 'operation'];
  const { details, ...inline } = operation;
  const nested = isRaw(details);
  const both = nested ? Object.keys(inline).filter((key) => key !== 'type') : [];
  for (const key of both)
    problems.atKey(
      file,
      [...where, key],
      'SHAPE_INVALID',
      `${key} stands beside details. Use one of the two.`,
    );
  if (both.length > 0 || (details !== undefined && !nested)) return null;
  if (nested && 'type' in details) {
    problems.atKey(
      file,
      [...where, 'details', 'type'],
      'SHAPE_INVALID',
      'type does not belong under details.',
    );
    return null;
  }
  const schema: z.ZodType<AnyOperation> = operationSchemas[type];
  const parsed = schema.safeParse(nested ? { ...details, type: inline.type } : inline);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const prefix = nested && issue.path[0] !== 'type' ? [...where, 'details'] : where;
    addIssues(problems, file, prefix, [issue]);
  }
  return null;
}

/** Paths are checked even where the operation is broken in another place. */
function checkPaths(
  checked: Checked,
  at: Path,
  action: Raw,
  type: ActionType,
  flat: AnyOperation | null,
): void {
  const target = typeof action.target === 'string' ? action.target : null;
  const operation = flat ?? looseOperation(action.operation);
  for (const path of pathsOf({ action_type: type, target: target ?? '', operation })) {
    if (path.key !== null || target !== null) checkPath(checked, placeOfPath(at, action, path), path);
  }
}

function looseOperation(operation: unknown): NamingPaths {
  if (!isRaw(operation)) return {};
  const holder = isRaw(operation.details) ? operation.details : operation;
  return { ...holder, destination: holder.new_path ?? holder.destination };
}

function placeOfPath(at: Path, { operation }: Raw, { key, index }: NamedPath): Path {
  if (key === null) return [...at, 'target'];
  const nested = isRaw(operation) && isRaw(operation.details);
  const holder = (nested ? operation.details : operation) as Raw;
  const written = key === 'destination' && 'new_path' in holder ? 'new_path' : key;
  const inner = index === undefined ? [written] : [written, index];
  return [...at, 'operation', ...(nested ? ['details'] : []), ...inner];
}

function checkPath({ file, rules, problems }: Checked, at: Path, { path, writes }: NamedPath): void {
  if (problems.attempt(file, at, () => requirePlanPath(path)) === null) return;
  problems.attempt(file, at, () => (writes ? requireWritable(path, rules) : requireReadable(path, rules)));
}

/** The target is what runs. An operation that names another pipeline would show the approver something else. */
function checkPipeline({ file, problems }: Checked, at: Path, action: Raw, operation: AnyOperation): void {
  if ('pipeline' in operation && operation.pipeline !== action.target)
    problems.at(file, [...at, 'operation'], 'SHAPE_INVALID', 'pipeline and target name two pipelines.');
}

/** `database` may only repeat the target; after this it is gone, so that nothing later can follow another one. */
function checkDatabase(
  { file, problems }: Checked,
  at: Path,
  action: Raw,
  operation: AnyOperation,
): AnyOperation {
  if (!('database' in operation)) return operation;
  const { database, ...rest } = operation;
  if (database !== undefined && database !== action.target)
    problems.at(file, [...at, 'operation'], 'SHAPE_INVALID', 'database and target name two different files.');
  return rest as OperationOf<'SQL_EXECUTE'>;
}
