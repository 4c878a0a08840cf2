import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/canonical/digest.ts';
import { canonicalBytes } from '../../../src/canonical/json.ts';
import { openTaskEnvelope } from '../../../src/plan/input/envelope.ts';
import type { ReasonCode } from '../../../src/refusal.ts';

const NOW = Date.parse('2026-02-03T10:00:30.000Z');

const plan = {
  plan_id: 'plan-001',
  action_plan: [
    { action_id: 'a1', action_type: 'FILE_DELETE', target: 'a.txt', operation: { type: 'delete' } },
  ],
};

interface Parts {
  envelope?: object;
  validation?: object;
  content?: unknown;
  more?: object;
}

function envelopeOf({ envelope, validation, content = plan, more }: Parts = {}): string {
  const payload = { task_id: 'task-7', type: 'execute_plan', content };
  return JSON.stringify({
    envelope: {
      id: 'env-1',
      version: '1.0.0',
      created_at: '2026-02-03T10:00:00.000Z',
      source_agent: 'agent_inspector',
      target_agent: 'agent_executor',
      message_type: 'TASK',
      priority: 'NORMAL',
      ttl_seconds: 60,
      ...envelope,
    },
    metadata: { correlation_id: 'c-1', sequence_number: 1 },
    payload,
    validation: { status: 'APPROVED', checksum: sha256(canonicalBytes(payload)), ...validation },
    ...more,
  });
}

function problemsOf(text: string) {
  const opened = openTaskEnvelope(text, { now_ms: NOW });
  return 'problems' in opened ? opened.problems : [];
}

describe('a task envelope', () => {
  it('a sealed and fresh one gives the plan, named after its task', () => {
    const opened = openTaskEnvelope(envelopeOf(), { now_ms: NOW });
    expect(opened).toMatchObject({
      task: { task_id: 'task-7', source_agent: 'agent_inspector', config: null, signature: 'absent' },
    });
    expect('task' in opened && opened.task.plan).toMatchObject({
      plan_id: 'plan-001',
      task_id: 'task-7',
      digest: sha256(canonicalBytes(plan)),
    });
  });

  it('APPROVED grants nothing: what it opens is a plan and no more', () => {
    const opened = openTaskEnvelope(envelopeOf({ validation: { signature: 'abc' } }), { now_ms: NOW });
    expect('task' in opened && Object.keys(opened.task).sort()).toEqual([
      'config',
      'correlation_id',
      'plan',
      'signature',
      'source_agent',
      'task_id',
    ]);
    expect('task' in opened && opened.task.signature).toBe('unverified');
  });

  it('the order of keys in the payload does not matter, its values do', () => {
    const text = envelopeOf();
    const other = JSON.parse(text);
    other.payload = {
      content: other.payload.content,
      type: other.payload.type,
      task_id: other.payload.task_id,
    };
    expect(problemsOf(JSON.stringify(other))).toEqual([]);
    other.payload.content.action_plan[0].target = 'b.txt';
    expect(problemsOf(JSON.stringify(other)).map(({ code }) => code)).toEqual(['ENVELOPE_HASH_WRONG']);
  });

  it.each<[string, Parts, ReasonCode, string]>([
    ['a rejected task', { validation: { status: 'REJECTED' } }, 'TASK_NOT_APPROVED', '/validation/status'],
    [
      'a task in lower case',
      { validation: { status: 'approved' } },
      'TASK_NOT_APPROVED',
      '/validation/status',
    ],
    [
      'a wrong checksum',
      { validation: { checksum: '0'.repeat(64) } },
      'ENVELOPE_HASH_WRONG',
      '/validation/checksum',
    ],
    ['an old task', { envelope: { ttl_seconds: 29 } }, 'TASK_EXPIRED', '/envelope/ttl_seconds'],
    [
      'a task from the future',
      { envelope: { created_at: '2026-02-03T10:00:36.000Z' } },
      'TASK_EXPIRED',
      '/envelope/ttl_seconds',
    ],
    [
      'a task for somebody else',
      { envelope: { target_agent: 'agent_other' } },
      'SHAPE_INVALID',
      '/envelope/target_agent',
    ],
    ['an unknown key', { more: { grants: ['*'] } }, 'SHAPE_INVALID', '/grants'],
    ['a missing status', { validation: { status: undefined } }, 'SHAPE_INVALID', '/validation/status'],
  ])('%s is refused', (_what, parts, code, pointer) => {
    const problems = problemsOf(envelopeOf(parts));
    expect(problems.map((problem) => problem.pointer)).toEqual([pointer]);
    expect(problems[0]!.code).toBe(code);
  });

  it('two plans in one envelope are refused', () => {
    const found = problemsOf(envelopeOf({ content: { ...plan, task_plan: plan } }));
    expect(found.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['SHAPE_INVALID', '/payload/content/task_plan'],
    ]);
  });

  it('problems of the plan are told at their place in the envelope, with those of the envelope', () => {
    const bad = { ...plan, action_plan: [{ ...plan.action_plan[0], target: '../x' }] };
    const found = problemsOf(envelopeOf({ content: bad, validation: { status: 'PENDING' } }));
    expect(found.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['PATH_ESCAPES', '/payload/content/action_plan/0/target'],
      ['TASK_NOT_APPROVED', '/validation/status'],
    ]);
  });

  it('a config travels along, as text or as a value, and narrows the plan', () => {
    const yaml = 'execution_constraints:\n  allowed_operations: [FILE_MODIFY]\n';
    const value = { execution_constraints: { allowed_operations: ['FILE_MODIFY'] } };
    for (const system_config of [yaml, value]) {
      const found = problemsOf(envelopeOf({ content: { task_plan: plan, system_config } }));
      expect(found.map(({ code, pointer }) => [code, pointer])).toEqual([
        ['PLAN_OPERATION_FORBIDDEN', '/payload/content/task_plan/action_plan/0/action_type'],
      ]);
    }
    const broken = { task_plan: plan, system_config: 'a: [' };
    expect(problemsOf(envelopeOf({ content: broken })).map(({ code }) => code)).toEqual(['YAML_MALFORMED']);
  });
});
