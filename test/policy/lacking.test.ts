import { describe, expect, it } from 'vitest';
import { approversRead } from '../../src/policy/approvers-read.ts';
import { lackingFor } from '../../src/policy/lacking.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { type ApprovalFacts, parseQuorums } from '../../src/policy/quorum.ts';
import { policySetBytes } from '../../src/policy/source.ts';
import { STARTER_POLICIES } from '../../src/policy/starter.ts';

const QUORUMS = parseQuorums(`
all: { any: 3 }
dev: { any: 1, role: dev }
ops: { any: 1, role: ops }
`);
const POLICY = { reads: ['quorums'], quorums: ['all', 'dev', 'ops'] } as unknown as Policy;
const person = (name: string, ...roles: string[]) => ({ name, roles });

const lacking = (allows: (facts: ApprovalFacts) => boolean, ...others: ReturnType<typeof person>[]) =>
  lackingFor({ policies: [POLICY], quorums: QUORUMS, approvers: [person('ada')], others, allows });
const met =
  (...names: string[]) =>
  ({ quorums }: ApprovalFacts) =>
    names.every((name) => quorums.includes(name));

describe('the approvals that are lacking', () => {
  it('are none where it is allowed as it is, and where no approval would help', () => {
    expect(lacking(() => true, person('bo'))).toBeNull();
    expect(lacking(() => false, person('bo'))).toBeNull();
  });

  it('are as few as fill all quorums that are needed: one person may do for two', () => {
    const [dev, ops, both] = [person('d', 'dev'), person('o', 'ops'), person('b', 'dev', 'ops')];
    expect(lacking(met('dev', 'ops'), dev, ops)).toEqual({ missing: 2, people: null });
    expect(lacking(met('dev', 'ops'), dev, ops, both, person('x'))).toEqual({
      missing: 1,
      people: ['b', 'd', 'o'],
    });
  });

  it('are those of the quorum with the fewest people, where either is enough', () => {
    const either = (facts: ApprovalFacts) => met('all')(facts) || met('ops')(facts);
    expect(lacking(either, person('x'), person('o', 'ops'))).toEqual({ missing: 1, people: ['o'] });
  });

  it('are told also where those who could give them are too few', () => {
    expect(lacking(met('dev', 'ops'), person('x'), person('o', 'ops'))).toEqual({
      missing: 2,
      people: ['o'],
    });
    expect(lacking(met('all'))).toEqual({ missing: 2, people: null });
  });
});

describe('a set of policies', () => {
  const read = (text: string) =>
    approversRead(policySetBytes({ files: [{ name: 'a.cedar', text }], quorums: null, tests: null }));

  it('reads who has approved as its texts say, and a comment says nothing', () => {
    expect(read('// context.quorums')).toBe('none');
    expect(read('forbid (principal, action, resource) unless { context.quorums.contains("two") };')).toBe(
      'any',
    );
    expect(read('forbid (principal, action, resource) when { context.approvals < 2 };')).toBe('any');
  });

  it('that init writes reads it only of what may write a protected file', () => {
    expect(read(STARTER_POLICIES)).toBe('elevated');
    expect(read(STARTER_POLICIES.replace('when { resource.elevated }', ''))).toBe('any');
  });
});
