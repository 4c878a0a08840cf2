import { describe, expect, it } from 'vitest';
import { readSystemConfig, type SystemConfig } from '../../../src/plan/input/config.ts';
import { requirePlan } from '../../../src/plan/input/parse.ts';
import {
  listedPaths,
  pathAccessOf,
  requireListed,
  requireOperation,
  rulesOf,
} from '../../../src/plan/input/rules.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { action, expectOnly, planOf, problemsOf } from './plan.ts';

describe('a plan under a system config', () => {
  const config = (yaml: string): SystemConfig => {
    const read = readSystemConfig(yaml);
    if ('problems' in read) return expect.fail(JSON.stringify(read.problems));
    return read.config;
  };
  const constraints = (lines: string) => ({ config: config(`execution_constraints:\n${lines}`) });

  it('an operation that is not allowed is refused', async () => {
    const options = constraints('  allowed_operations: [FILE_MODIFY]\n');
    expectOnly('PLAN_OPERATION_FORBIDDEN', '/action_plan/0/action_type', planOf(action()), options);
    await expectRefusal('PLAN_OPERATION_FORBIDDEN', () =>
      requireOperation('FILE_DELETE', rulesOf(options.config)),
    );
  });

  it('a forbidden path is refused in every spelling', () => {
    const options = constraints('  forbidden_globs: ["infra/**", "*.pem"]\n');
    for (const target of ['infra/main.tf', 'INFRA/x', 'deep/key.PEM'])
      expectOnly('PLAN_PATH_FORBIDDEN', '/action_plan/0/target', planOf(action({ target })), options);
  });

  it('fewer files may be allowed, and never more', () => {
    const options = constraints('  max_files: 1\n');
    const two = planOf(action(), action({ action_id: 'b', target: 'b' }));
    expectOnly('PLAN_LIMIT_EXCEEDED', '/action_plan', two, options);
  });

  it('a shorter time is the default and the maximum', () => {
    const options = { config: config('workflow_configuration: { timeout: 60 }') };
    expect(requirePlan(JSON.stringify(planOf(action())), options).instructions.timeout_ms).toBe(60_000);
    const longer = { ...planOf(action()), execution_instructions: { timeout_ms: 60_001 } };
    expectOnly('PLAN_LIMIT_EXCEEDED', '/execution_instructions/timeout_ms', longer, options);
  });

  it('a protected path is elevated, not refused', () => {
    const { config: db } = constraints('  protected_files: { critical: ["db/**"] }\n');
    const rules = rulesOf(db);
    expect(pathAccessOf('db/x.sql', rules)).toBe('elevated');
    expect(pathAccessOf('setup.py', rules)).toBe('elevated');
    expect(pathAccessOf('.keyturn/x', rules)).toBe('own');
    expect(pathAccessOf('src/x', rules)).toBe('free');
    expect(problemsOf(planOf(action({ target: 'setup.py' })))).toEqual([]);
  });

  it('only files that the plan lists may be changed', async () => {
    const plan = requirePlan(
      JSON.stringify(
        planOf(
          action(),
          action({
            action_id: 'b',
            action_type: 'FILE_RENAME',
            target: 'b',
            operation: { type: 'move', new_path: 'c' },
          }),
          action({
            action_id: 'd',
            action_type: 'SQL_EXECUTE',
            target: 'd.db',
            operation: { type: 'sql_execute', query_file: 'q.sql', save_results_to: 'out.csv' },
          }),
        ),
      ),
    );
    const listed = listedPaths(plan.actions);
    expect([...listed].sort()).toEqual(['a.txt', 'b', 'c', 'd.db', 'out.csv']);
    requireListed('out.csv', listed);
    await expectRefusal('PLAN_PATH_UNLISTED', () => requireListed('q.sql', listed));
  });
});
