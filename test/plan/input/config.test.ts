import { describe, expect, it } from 'vitest';
import { readSystemConfig } from '../../../src/plan/input/config.ts';
import type { ReasonCode } from '../../../src/refusal.ts';

const FULL = `workflow_configuration:
  mode: supervised
  requires_approval: true
  approval_threshold: HIGH
  timeout: 120
execution_constraints:
  max_files: 10
  allowed_operations: [FILE_MODIFY, FILE_CREATE]
  forbidden_globs: ["infra/**", "*.pem"]
  protected_files:
    critical: ["db/**"]
    agent_system: ["agent/**"]
`;

function problemsOf(yaml: string) {
  const read = readSystemConfig(yaml);
  return 'problems' in read ? read.problems : [];
}

describe('the system config', () => {
  it('all of its fields are read', () => {
    const read = readSystemConfig(FULL);
    expect(read).toMatchObject({
      config: {
        mode: 'supervised',
        approval_threshold: 'HIGH',
        timeout_ms: 120_000,
        max_files: 10,
        allowed_operations: ['FILE_MODIFY', 'FILE_CREATE'],
        forbidden_globs: ['infra/**', '*.pem'],
        protected_files: { critical: ['db/**'], agent_system: ['agent/**'] },
      },
    });
  });

  it('another text with the same meaning has the same digest', () => {
    const digest = (yaml: string) => (readSystemConfig(yaml) as { config: { digest: string } }).config.digest;
    expect(digest('execution_constraints: {max_files: 3}')).toBe(
      digest('# x\nexecution_constraints:\n  max_files: 3\n'),
    );
    expect(digest('execution_constraints: {max_files: 3}')).not.toBe(
      digest('execution_constraints: {max_files: 4}'),
    );
  });

  it('a plain list of protected files is critical', () => {
    expect(readSystemConfig('execution_constraints: {protected_files: [a.txt]}')).toMatchObject({
      config: { protected_files: { critical: ['a.txt'] } },
    });
  });

  it('it cannot do without an approval', () => {
    const problems = problemsOf('workflow_configuration:\n  requires_approval: false\n');
    expect(problems.map(({ code, pointer, line }) => [code, pointer, line])).toEqual([
      ['APPROVAL_NOT_OPTIONAL', '/workflow_configuration/requires_approval', 2],
    ]);
  });

  it('all problems are told with their lines', () => {
    const yaml =
      'surprise: 1\nexecution_constraints:\n  max_files: 1000\n  allowed_operations: [SHELL]\n  content_checks: off\n';
    expect(problemsOf(yaml).map(({ pointer, line }) => [pointer, line])).toEqual([
      ['/surprise', 1],
      ['/execution_constraints/max_files', 3],
      ['/execution_constraints/allowed_operations/0', 4],
      ['/execution_constraints/content_checks', 5],
    ]);
  });

  it.each<[string, string, ReasonCode]>([
    ['broken YAML', 'a: [', 'YAML_MALFORMED'],
    ['an alias', 'a: &x 1\nb: *x\n', 'YAML_MALFORMED'],
    ['a double key', 'execution_constraints: {}\nexecution_constraints: {}\n', 'YAML_MALFORMED'],
    ['an absolute pattern', 'execution_constraints: {forbidden_globs: [/etc]}', 'SHAPE_INVALID'],
    ['a pattern with a way up', 'execution_constraints: {forbidden_globs: [a/../b]}', 'SHAPE_INVALID'],
    ['a pattern with braces', 'execution_constraints: {forbidden_globs: ["{a,b}"]}', 'SHAPE_INVALID'],
    ['stars beside letters', 'execution_constraints: {forbidden_globs: ["a**b/c"]}', 'SHAPE_INVALID'],
    ['an empty list of operations', 'execution_constraints: {allowed_operations: []}', 'SHAPE_INVALID'],
    ['a list', '[]', 'SHAPE_INVALID'],
  ])('%s is refused', (_what, yaml, code) => {
    expect(problemsOf(yaml)[0]?.code).toBe(code);
  });
});
