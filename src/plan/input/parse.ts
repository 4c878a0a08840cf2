import { sha256 } from '../../canonical/digest.ts';
import { canonicalBytes } from '../../canonical/json.ts';
import { actionTimeouts, planTimeout } from '../../limits.ts';
import type { Action, Plan, RiskLevel, ValidationRule } from '../model.ts';
import { type AnyOperation, checkActions, checkCounts } from './actions.ts';
import type { SystemConfig } from './config.ts';
import { openJson } from './document.ts';
import { addIssues } from './issues.ts';
import { requirePlanPath } from './path.ts';
import { type Path, type Placed, type PlanProblem, Problems, refuseProblems } from './problem.ts';
import { type PlanRules, requireReadable, rulesOf } from './rules.ts';
import { type ActionFile, type PlanFile, planSchema } from './schema.ts';
import { checkTogether } from './together.ts';

export interface ParseOptions {
  readonly config?: SystemConfig | null;
  /** Paths of the tool registries beneath the project root. */
  readonly registries?: readonly string[];
  /** Names the reports. The plan's own id when nothing else is known. */
  readonly task_id?: string;
}

export type ParsedPlan = { readonly plan: Plan } | { readonly problems: readonly PlanProblem[] };

/** Is this a plan that we accept? If not, everything that is wrong with it, each with its place in the file. */
export function parsePlan(input: Uint8Array | string, options: ParseOptions = {}): ParsedPlan {
  const problems = new Problems();
  const file = openJson(input, problems);
  const plan = file === null ? null : planAt(file, [], options, problems);
  return plan === null ? { problems: problems.list() } : { plan };
}

/** The same for callers who need a plan: refuses with the first problem. */
export function requirePlan(input: Uint8Array | string, options: ParseOptions = {}): Plan {
  const parsed = parsePlan(input, options);
  return 'plan' in parsed ? parsed.plan : refuseProblems(parsed.problems);
}

/** The plan that stands at a path of a file: the whole file, or the content of a task envelope. */
export function planAt(file: Placed, base: Path, options: ParseOptions, problems: Problems): Plan | null {
  const rules = rulesOf(options.config ?? null, options.registries);
  const value = valueAt(file.value, base);
  if (!checkCounts({ file, base, value, rules, problems })) return null;
  const parsed = planSchema.safeParse(value);
  if (!parsed.success) addIssues(problems, file, base, parsed.error.issues);
  const operations = checkActions({ file, base, value, rules, problems });
  checkTogether({ file, base, value, rules, problems, operations });
  if (parsed.success) checkTimes(file, base, parsed.data, rules, problems);
  checkRules(file, base, parsed.success ? parsed.data.validation : [], rules, problems);
  if (!parsed.success || !problems.none) return null;
  return planOf(parsed.data, operations as AnyOperation[], rules, {
    digest: sha256(canonicalBytes(value)),
    task_id: options.task_id ?? parsed.data.plan_id,
  });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<string | number, unknown>)?.[step], value);
}

function checkTimes(file: Placed, base: Path, plan: PlanFile, rules: PlanRules, problems: Problems): void {
  const { timeout_ms } = plan.execution_instructions;
  const max_ms = Math.min(planTimeout.max_ms, rules.timeout_ms ?? planTimeout.max_ms);
  const at = [...base, 'execution_instructions', 'timeout_ms'];
  if (timeout_ms !== undefined && timeout_ms > max_ms)
    problems.at(file, at, 'PLAN_LIMIT_EXCEEDED', `The plan may take ${max_ms} ms at most.`);
}

/** A rule answers a question about a file, so it must not ask about what no plan may read. */
function checkRules(
  file: Placed,
  base: Path,
  validation: readonly ValidationRule[],
  rules: PlanRules,
  problems: Problems,
): void {
  for (const [i, { path }] of validation.entries()) {
    const at = [...base, 'validation', i, 'path'];
    if (problems.attempt(file, at, () => requirePlanPath(path)) !== null)
      problems.attempt(file, at, () => requireReadable(path, rules));
  }
}

function planOf(
  file: PlanFile,
  operations: readonly AnyOperation[],
  rules: PlanRules,
  identity: { digest: string; task_id: string },
): Plan {
  const { timeout_ms, ...instructions } = file.execution_instructions;
  const default_ms = Math.min(planTimeout.default_ms, rules.timeout_ms ?? planTimeout.default_ms);
  return {
    plan_id: file.plan_id,
    ...identity,
    actions: file.action_plan.map((action, i) => actionOf(action, operations[i]!)),
    instructions: { ...instructions, timeout_ms: timeout_ms ?? default_ms },
    validation: file.validation,
  };
}

function actionOf(file: ActionFile, operation: AnyOperation): Action {
  const { action_id, action_type, target, depends_on } = file;
  const reversible = file.reversible ?? action_type !== 'PIPELINE_RUN';
  return {
    action_id,
    action_type,
    target,
    operation,
    depends_on,
    reversible,
    risk_level: file.risk_level ?? unstatedRisk(reversible),
    timeout_ms: file.timeout_ms ?? actionTimeouts[action_type].default_ms,
  } as Action; // `checkActions` parsed the operation by the schema of this type
}

/** An action that cannot be undone is not of low risk by default. */
function unstatedRisk(reversible: boolean): RiskLevel {
  return reversible ? 'LOW' : 'HIGH';
}
