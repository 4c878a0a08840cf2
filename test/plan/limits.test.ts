import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planLimits } from '../../src/limits.ts';
import { requirePlan } from '../../src/plan/input/parse.ts';
import { scratch } from '../support/scratch.ts';
import { deriveAndExecute, lay, modify, plan } from './engine/story.ts';
import { expectOnly, planOf, problemsOf } from './input/plan.ts';

const OPERATIONS: Record<string, object> = {
  FILE_CREATE: { type: 'create', content: 'x' },
  FILE_MODIFY: { type: 'line_delete', start_line: 1, end_line: 1 },
  FILE_DELETE: { type: 'delete' },
  FILE_RENAME: { type: 'rename', new_path: 'b' },
  SCHEMA_UPDATE: { type: 'json_update_value', path: '$.a', value: 1 },
  SQL_EXECUTE: { type: 'sql_execute', query: 'SELECT 1' },
  PIPELINE_RUN: { type: 'run', pipeline: 'a' },
};

describe('the times of 004 section 11.1', () => {
  const one = (action_type: string, more: object = {}) =>
    planOf({ action_id: '1', action_type, target: 'a', operation: OPERATIONS[action_type], ...more });

  it.each([
    ['FILE_CREATE', 30, 120],
    ['FILE_MODIFY', 30, 120],
    ['FILE_DELETE', 30, 120],
    ['FILE_RENAME', 30, 120],
    ['SCHEMA_UPDATE', 30, 60],
    ['SQL_EXECUTE', 60, 300],
    ['PIPELINE_RUN', 300, 3600],
  ])('%s takes %i s by default and %i s at most', (type, default_s, max_s) => {
    expect(requirePlan(JSON.stringify(one(type))).actions[0]?.timeout_ms).toBe(default_s * 1000);
    expect(problemsOf(one(type, { timeout_ms: max_s * 1000 }))).toEqual([]);
    const late = one(type, { timeout_ms: max_s * 1000 + 1 });
    expectOnly('PLAN_LIMIT_EXCEEDED', '/action_plan/0/timeout_ms', late);
  });

  it('a whole plan takes 300 s by default and 3600 s at most', () => {
    const lasting = (timeout_ms: number) => ({
      ...one('FILE_DELETE'),
      execution_instructions: { timeout_ms },
    });
    expect(requirePlan(JSON.stringify(one('FILE_DELETE'))).instructions.timeout_ms).toBe(300_000);
    expect(problemsOf(lasting(3_600_000))).toEqual([]);
    expectOnly('PLAN_LIMIT_EXCEEDED', '/execution_instructions/timeout_ms', lasting(3_600_001));
  });

  it('no time is zero, negative or broken', () => {
    for (const timeout_ms of [0, -1, 0.5, '30s'])
      expect(problemsOf(one('FILE_DELETE', { timeout_ms })).map(({ code }) => code)).toEqual([
        'SHAPE_INVALID',
      ]);
  });
});

describe('the limits of 004 section 11.2', () => {
  it('are 100 files, 50 MB a file, 500 MB of backups and 4 at a time', () => {
    expect(planLimits).toMatchObject({
      files: 100,
      file_bytes: 50 * 1024 * 1024,
      backup_bytes: 500 * 1024 * 1024,
      concurrent_actions: 4,
    });
  });
});

describe('what a plan may override of 004 section 7.2', () => {
  it.each([
    [true, 0o640],
    [false, 0o644],
  ])('with preserve_permissions %s an edited file has the mode %i', async (preserve_permissions, mode) => {
    const root = scratch();
    lay(root, { a: 'x' });
    const made = plan([modify('1', 'a', 'x', 'y')], { preserve_permissions });
    expect((await deriveAndExecute(root, made)).status).toBe('SUCCESS');
    expect(statSync(join(root, 'a')).mode & 0o7777).toBe(mode);
  });
});
