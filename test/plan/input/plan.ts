import { expect } from 'vitest';
import { type ParseOptions, parsePlan } from '../../../src/plan/input/parse.ts';
import type { PlanProblem } from '../../../src/plan/input/problem.ts';
import type { ReasonCode } from '../../../src/refusal.ts';

/** 004 section 12.1, as printed. */
export const EXAMPLE = `{
  "plan_id": "plan-001",
  "action_plan": [
    {
      "action_id": "a001",
      "action_type": "FILE_MODIFY",
      "target": "esquemas/esquema_bd.json",
      "operation": {
        "type": "json_add_property",
        "path": "$.properties",
        "key": "new_field",
        "value": {"type": "string"}
      }
    }
  ]
}`;

export const CREATE = { type: 'create', content: 'x' };
export const action = (more: object = {}) => ({
  action_id: 'a1',
  action_type: 'FILE_CREATE',
  target: 'a.txt',
  operation: CREATE,
  ...more,
});
export const planOf = (...actions: object[]) => ({ plan_id: 'plan-001', action_plan: actions });

export function problemsOf(plan: unknown, options: ParseOptions = {}): readonly PlanProblem[] {
  const parsed = parsePlan(typeof plan === 'string' ? plan : JSON.stringify(plan, null, 2), options);
  return 'problems' in parsed ? parsed.problems : [];
}

/** The one problem that a plan has. */
export function expectOnly(
  code: ReasonCode,
  pointer: string,
  plan: unknown,
  options: ParseOptions = {},
): PlanProblem {
  const problems = problemsOf(plan, options);
  expect(problems.map((problem) => [problem.code, problem.pointer])).toEqual([[code, pointer]]);
  return problems[0]!;
}
