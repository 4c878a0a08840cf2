import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorRecord, recoveryOf } from '../../../src/plan/engine/failure.ts';
import { errorSchema } from '../../../src/plan/report/schema.ts';
import { Refusal } from '../../../src/refusal.ts';
import { scratch } from '../../support/scratch.ts';
import { create, derive, execute, lay, modify, picture, plan } from './story.ts';

const AT = new Date('2026-02-03T10:00:00.000Z');

describe('the recovery matrix of 004 section 8.3', () => {
  it.each([
    ['a missing file', 'FILE_NOT_FOUND', 'fail'],
    ['a file that may not be written', 'PERMISSION_DENIED', 'fail'],
    ['a full disk', 'DISK_FULL', 'stop'],
    ['a file that is not the approved one', 'PLAN_DRIFT', 'stop'],
    ['a result that is not the approved one', 'RESULT_MISMATCH', 'stop'],
    ['a rule that does not hold', 'PLAN_RULE_BROKEN', 'stop'],
    ['a dependency that failed', 'DEPENDENCY_FAILED', 'fail'],
    ['the time of the plan', 'PLAN_TIMED_OUT', 'stop'],
    ['the end of the time of an action', 'ACTION_TIMED_OUT', 'fail'],
    ['a fault of the program', 'INTERNAL', 'escalate'],
  ] as const)('%s leads to what the matrix says', (_, code, recovery) => {
    expect(recoveryOf(new Refusal(code))).toBe(recovery);
  });

  it('what nobody foresaw stops, is rolled back and is escalated', () => {
    for (const error of [new Error('x'), new TypeError('x'), 'x', undefined]) {
      expect(recoveryOf(error)).toBe('escalate');
      expect(errorRecord(error, {}, AT)).toMatchObject({ error_category: 'INTERNAL_ERROR' });
    }
  });

  const GO_ON = { stop_on_error: false, rollback_on_failure: false };
  const actions = [modify('1', 'a', 'x', 'y'), modify('2', 'b', 'x', 'y'), create('3', 'n')];

  /** Another process does this to `b` just before the second action of a plan that goes on after failures. */
  async function disturbed(disturb: (path: string) => void) {
    const root = scratch();
    lay(root, { a: 'x', b: 'x' });
    const effect = await derive(root, plan(actions, GO_ON));
    const outcome = await execute(root, effect, {
      onProgress: (progress) => {
        if (progress.phase === 'action' && progress.action_id === '2') disturb(join(root, 'b'));
      },
    });
    return { root, outcome };
  }

  it('a missing file fails its action, and a plan that says so goes on', async () => {
    const { outcome } = await disturbed((path) => rmSync(path));
    expect(outcome).toMatchObject({
      status: 'PARTIAL',
      rollback: null,
      actions: [{ status: 'SUCCESS' }, { status: 'FAILED' }, { status: 'SUCCESS' }],
      errors: [{ error_type: 'FILE_NOT_FOUND', recovery_action: 'SKIPPED' }],
    });
  });

  it('a wrong hash stops it and rolls back, whatever the plan says', async () => {
    const { root, outcome } = await disturbed((path) => writeFileSync(path, 'theirs'));
    expect(outcome).toMatchObject({
      status: 'ROLLED_BACK',
      actions: [{ status: 'SUCCESS' }, { status: 'FAILED' }, { status: 'SKIPPED' }],
      errors: [{ error_type: 'PLAN_DRIFT', recovery_action: 'ROLLED_BACK' }],
    });
    expect(Object.keys(picture(root))).toEqual(['a', 'b']);
  });
});

describe('the error object of 004 section 8.2', () => {
  it('has every field, the number and the category of its code, and what it is about', () => {
    const about = { action_id: 'a001', target: 'path/to/missing/file.py', operation: 'FILE_MODIFY' };
    const record = errorRecord(new Refusal('FILE_NOT_FOUND', 'No such file.', { path: 'p' }), about, AT);
    expect(errorSchema.parse(record)).toEqual({
      error_id: record.error_id,
      error_code: 2001,
      error_category: 'FILE_SYSTEM_ERROR',
      error_type: 'FILE_NOT_FOUND',
      message: 'No such file.',
      details: { ...about, path: 'p' },
      recovery_action: 'SKIPPED',
      timestamp: AT.toISOString(),
    });
  });

  it.each([
    ['SHAPE_INVALID', 'VALIDATION_ERROR', 1],
    ['DISK_FULL', 'FILE_SYSTEM_ERROR', 2],
    ['PERMISSION_DENIED', 'PERMISSION_ERROR', 3],
    ['DEPENDENCY_FAILED', 'DEPENDENCY_ERROR', 4],
    ['INTERNAL', 'INTERNAL_ERROR', 5],
  ] as const)('%s is a %s', (code, category, thousands) => {
    const { error_category, error_code } = errorRecord(new Refusal(code), {}, AT);
    expect([error_category, Math.floor(error_code / 1000)]).toEqual([category, thousands]);
  });
});
