import { canonicalText, type JsonObject, parseJson } from '../canonical/json.ts';
import { parseYaml } from '../tool/yaml.ts';
import { readSystemConfig, type SystemConfig } from './input/config.ts';
import { openJson } from './input/document.ts';
import { openTaskEnvelope } from './input/envelope.ts';
import { parsePlan, requirePlan } from './input/parse.ts';
import { type Path, type Placed, type PlanProblem, Problems, refuseProblems } from './input/problem.ts';
import { type PlanRules, rulesOf } from './input/rules.ts';
import type { Plan } from './model.ts';

/** A plan as an intent carries it: the plan and its config exactly as they came in, as plain JSON. */
export interface PlanSpec {
  readonly plan: JsonObject;
  readonly config: JsonObject | null;
  readonly task_id: string;
}

export interface PlanSource {
  /** A task plan, or a task envelope with one inside. */
  readonly plan: string;
  /** The system config, when it is not part of an envelope. */
  readonly config: string | null;
  readonly registries: readonly string[];
  readonly now: Date;
}

/** A problem, and which of the two files it stands in. */
export interface PlacedProblem extends PlanProblem {
  readonly source: 'plan' | 'config';
}

export type ReadSpec =
  | { readonly spec: PlanSpec; readonly opened: OpenedSpec }
  | { readonly problems: readonly PlacedProblem[] };

/** Reads the plan that an agent submits, or says everything that is wrong with it. */
export function readPlanSpec(source: PlanSource): ReadSpec {
  return isEnvelope(source.plan) ? fromEnvelope(source) : fromPlan(source);
}

function isEnvelope(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && 'envelope' in value;
  } catch {
    return false;
  }
}

function fromPlan({ plan: text, config: yaml, registries }: PlanSource): ReadSpec {
  const config = yaml === null ? null : readSystemConfig(yaml);
  const broken = config !== null && 'problems' in config ? config.problems : [];
  // A broken config does not hide what is wrong with the plan, which is then read without it.
  const narrowed = config && 'config' in config ? config.config : null;
  const parsed = parsePlan(text, { config: narrowed, registries });
  const wrong = 'problems' in parsed ? parsed.problems : [];
  if (broken.length > 0 || 'problems' in parsed)
    return { problems: [...placed('config', broken), ...placed('plan', wrong)] };
  const value = yaml === null ? null : (parseYaml(Buffer.from(yaml)).value as JsonObject);
  return {
    spec: { plan: parseJson(text) as JsonObject, config: value, task_id: parsed.plan.task_id },
    opened: openedWith(parsed.plan, narrowed, registries),
  };
}

function placed(source: PlacedProblem['source'], problems: readonly PlanProblem[]): PlacedProblem[] {
  return problems.map((problem) => ({ ...problem, source }));
}

function fromEnvelope({ plan: text, registries, now }: PlanSource): ReadSpec {
  const opened = openTaskEnvelope(text, { registries, now_ms: now.getTime() });
  if ('problems' in opened) return { problems: placed('plan', opened.problems) };
  const { content } = (parseJson(text) as { payload: { content: JsonObject } }).payload;
  const wrapped = Object.hasOwn(content, 'task_plan');
  const given = wrapped ? content.system_config : undefined;
  const config = typeof given === 'string' ? parseYaml(Buffer.from(given)).value : given;
  return {
    spec: {
      plan: (wrapped ? content.task_plan : content) as JsonObject,
      config: (config ?? null) as JsonObject | null,
      task_id: opened.task.task_id,
    },
    opened: openedWith(opened.task.plan, opened.task.config, registries),
  };
}

/** Where the actions of a plan stand in what was handed over. */
export function actionsIn(text: string): { readonly file: Placed; readonly base: Path } {
  const problems = new Problems();
  const file = openJson(text, problems) ?? refuseProblems(problems.list());
  if (!isEnvelope(text)) return { file, base: ['action_plan'] };
  const { content } = (file.value as { payload: { content: object } }).payload;
  const inner = Object.hasOwn(content, 'task_plan') ? ['task_plan'] : [];
  return { file, base: ['payload', 'content', ...inner, 'action_plan'] };
}

export interface OpenedSpec {
  readonly plan: Plan;
  readonly config: SystemConfig | null;
  readonly rules: PlanRules;
}

function openedWith(plan: Plan, config: SystemConfig | null, registries: readonly string[]): OpenedSpec {
  return { plan, config, rules: rulesOf(config, registries) };
}

/** Parses a spec that came in an envelope. */
export function openPlanSpec({ plan, config, task_id }: PlanSpec, registries: readonly string[]): OpenedSpec {
  // JSON is YAML, so one reader serves both.
  const read = config === null ? null : readSystemConfig(canonicalText(config));
  if (read !== null && 'problems' in read) refuseProblems(read.problems);
  const opened = read?.config ?? null;
  const parsed = requirePlan(canonicalText(plan), { config: opened, registries, task_id });
  return openedWith(parsed, opened, registries);
}
