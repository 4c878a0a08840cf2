import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/canonical/digest.ts';
import { canonicalBytes } from '../../../src/canonical/json.ts';
import { parsePlan, requirePlan } from '../../../src/plan/input/parse.ts';
import type { ReasonCode } from '../../../src/refusal.ts';
import { action, CREATE, EXAMPLE, planOf, problemsOf } from './plan.ts';

describe('a plan that is accepted', () => {
  it('the first worked example parses as printed, with every default filled in', () => {
    expect(requirePlan(EXAMPLE)).toEqual({
      plan_id: 'plan-001',
      task_id: 'plan-001',
      digest: sha256(canonicalBytes(JSON.parse(EXAMPLE))),
      actions: [
        {
          action_id: 'a001',
          action_type: 'FILE_MODIFY',
          target: 'esquemas/esquema_bd.json',
          operation: {
            type: 'json_add_property',
            path: '$.properties',
            key: 'new_field',
            value: { type: 'string' },
          },
          depends_on: [],
          reversible: true,
          risk_level: 'LOW',
          timeout_ms: 30_000,
        },
      ],
      instructions: {
        execution_order: 'sequential',
        stop_on_error: true,
        rollback_on_failure: true,
        preserve_permissions: true,
        verify_hashes: true,
        timeout_ms: 300_000,
      },
      validation: [],
    });
  });

  it('the plan of the second worked example, with three actions of which the second will fail, parses', () => {
    const plan = planOf(
      action({ action_id: 'a001' }),
      action({
        action_id: 'a002',
        action_type: 'FILE_DELETE',
        target: 'b.txt',
        operation: { type: 'delete' },
      }),
      action({ action_id: 'a003', target: 'c.txt', depends_on: ['a002'] }),
    );
    expect(requirePlan(JSON.stringify(plan)).actions.map(({ action_id }) => action_id)).toEqual([
      'a001',
      'a002',
      'a003',
    ]);
  });

  it('the structure of section 3.3 parses, with parameters under details', () => {
    const plan = {
      plan_id: '123e4567-e89b-12d3-a456-426614174000',
      action_plan: [
        {
          action_id: 'a1',
          action_type: 'FILE_MODIFY',
          target: 'relative/path/to/file',
          operation: { type: 'text_replace', details: { pattern: 'a', replacement: 'b' } },
          depends_on: [],
          reversible: true,
          risk_level: 'LOW',
        },
      ],
      execution_instructions: {
        execution_order: 'sequential',
        stop_on_error: true,
        rollback_on_failure: true,
      },
    };
    expect(requirePlan(JSON.stringify(plan)).actions[0]!.operation).toMatchObject({
      type: 'text_replace',
      pattern: 'a',
      replacement: 'b',
      regex: false,
    });
  });

  it('the fields that the neighbours of 004 add are accepted', () => {
    const plan = {
      ...planOf(action()),
      version: '1.0.0',
      created_at: '2026-02-03T10:00:00Z',
      task_summary: 'Add a field',
      decisions: [{ id: 1 }],
      task_decomposition: { steps: [] },
      risk_assessment: { level: 'LOW' },
      validation: [{ type: 'file_exists', path: 'a.txt' }],
    };
    expect(problemsOf(plan)).toEqual([]);
  });

  it('every action type has its operation, inline or under details', () => {
    const operations: [string, Record<string, unknown>][] = [
      ['FILE_CREATE', { type: 'file_create', content: 'eA==', encoding: 'base64', mode: '0600' }],
      ['FILE_MODIFY', { type: 'line_insert', line_number: 1, content: 'x' }],
      ['FILE_DELETE', { type: 'file_delete' }],
      ['FILE_RENAME', { type: 'rename', new_path: 'b.txt' }],
      ['SCHEMA_UPDATE', { type: 'json_update_value', path: '$.a', value: 1 }],
      [
        'SQL_EXECUTE',
        {
          type: 'sql_execute',
          query_file: 'q.sql',
          parameters: {},
          connection: 'duckdb',
          expect_results: false,
          save_results_to: 'out.parquet',
        },
      ],
      ['SQL_EXECUTE', { type: 'sql_execute', query: 'select 1', database: 'a.txt' }],
      ['PIPELINE_RUN', { type: 'run', pipeline: 'a.txt', arguments: { day: '2026-01-01' } }],
    ];
    for (const [action_type, { type, ...details }] of operations) {
      expect(
        problemsOf(planOf(action({ action_type, operation: { type, ...details } }))),
        action_type,
      ).toEqual([]);
      expect(problemsOf(planOf(action({ action_type, operation: { type, details } }))), action_type).toEqual(
        [],
      );
    }
  });

  it.each([
    ['a new file without content', 'FILE_CREATE', { type: 'create' }],
    ['a rename without a destination', 'FILE_RENAME', { type: 'rename' }],
    ['SQL without a query', 'SQL_EXECUTE', { type: 'sql_execute' }],
  ])('refuses %s', (_, action_type, operation) => {
    expect(problemsOf(planOf(action({ action_type, operation }))).map(({ code }) => code)).toEqual([
      'SHAPE_INVALID',
    ]);
  });

  it('a mode is octal, a new path is a destination, and a repeated database is gone', () => {
    const first = (more: object) => requirePlan(JSON.stringify(planOf(action(more)))).actions[0]!.operation;
    expect(first({ operation: { ...CREATE, mode: '0750' } })).toMatchObject({ mode: 0o750 });
    const rename = { action_type: 'FILE_RENAME', operation: { type: 'rename', new_path: 'b' } };
    expect(first(rename)).toEqual({ type: 'rename', destination: 'b' });
    const sql = {
      action_type: 'SQL_EXECUTE',
      operation: { type: 'sql_execute', query: 'select 1', database: 'a.txt' },
    };
    expect(first(sql)).not.toHaveProperty('database');
  });

  it('what cannot be undone is neither reversible nor of low risk unless somebody says so', () => {
    const operation = { type: 'run', pipeline: 'p' };
    const plan = planOf(action({ action_type: 'PIPELINE_RUN', target: 'p', operation }));
    expect(requirePlan(JSON.stringify(plan)).actions[0]).toMatchObject({
      reversible: false,
      risk_level: 'HIGH',
      timeout_ms: 300_000,
    });
  });
});

describe('a file that is no JSON', () => {
  it.each<[string, string | Uint8Array, ReasonCode]>([
    ['a broken file', '{', 'JSON_MALFORMED'],
    ['an empty file', '', 'JSON_MALFORMED'],
    ['a trailing comma', '{"a":1,}', 'JSON_MALFORMED'],
    ['a comment', '{} // x', 'JSON_MALFORMED'],
    ['a double key', '{"a":1,"a":2}', 'JSON_DUPLICATE_KEY'],
    ['a lone surrogate', '{"a":"\\ud800"}', 'JSON_BAD_STRING'],
    ['a number that is none', '{"a":1e999}', 'JSON_BAD_NUMBER'],
    ['deep nesting', '['.repeat(5000), 'JSON_TOO_DEEP'],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe]), 'INPUT_NOT_UTF8'],
    ['a file that is too large', ' '.repeat(1024 * 1024 + 1), 'INPUT_TOO_LARGE'],
  ])('%s is refused', (_what, input, code) => {
    const parsed = parsePlan(input);
    expect('problems' in parsed && parsed.problems[0]!.code).toBe(code);
  });

  it('every double key and every bad string is told at its place', () => {
    const problems = problemsOf('{"a":1,\n "a":2, "b":{"c":1,\n"c":"\\u0000"}}');
    expect(problems.map(({ code, pointer, line }) => [code, pointer, line])).toEqual([
      ['JSON_DUPLICATE_KEY', '/a', 2],
      ['JSON_DUPLICATE_KEY', '/b/c', 3],
      ['JSON_BAD_STRING', '/b/c', 3],
    ]);
  });

  it('a file of nothing but mistakes gives a list that ends', () => {
    const problems = problemsOf(`{${','.repeat(100_000)}`);
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)!.message).toMatch(/more problems/);
  });

  it('brackets that hide behind an open string do not exhaust the stack', () => {
    expect(problemsOf(`"\n${'['.repeat(200_000)}`)[0]!.code).toBe('JSON_MALFORMED');
  });
});
