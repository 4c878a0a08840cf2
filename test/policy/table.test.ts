import { describe, expect, it } from 'vitest';
import { parsePolicySet } from '../../src/policy/set.ts';
import { runTable } from '../../src/policy/table.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ANY, rule, source } from './questions.ts';

const set = () =>
  parsePolicySet({
    ...source(
      rule('cap', 'capability', `permit ${ANY} when { context.approvals > 0 };`),
      rule('short', 'capability', `forbid ${ANY} when { context.ttl_s > 600 };`),
      rule(
        'two',
        'capability',
        `forbid ${ANY} when { resource.elevated } unless { context.quorums.contains("two") };`,
      ),
      rule('broken', 'execution', `permit ${ANY} when { context.life_s + 9223372036854775807 > 0 };`),
    ),
    quorums: 'two: { any: 2 }',
  });

const WHO = 'principal: { kind: human, name: alice }';
const row = (rest: string) => `- { name: a row, action: grant, ${WHO}, ${rest} }`;
const run = async (yaml: string) => (await runTable(await set(), yaml)).map(({ passed }) => passed);

describe('a table of expected decisions', () => {
  it('passes what is decided as expected and says what was decided', async () => {
    const [result] = await runTable(await set(), row('context: { approvals: 1 }, expect: allow, by: cap'));
    expect(result).toMatchObject({
      name: 'a row',
      expected: { allowed: true, by: 'cap' },
      got: { allowed: true, code: null, policies: [{ id: 'cap' }] },
      passed: true,
    });
  });

  it.each([
    ['context: { approvals: 1 }, expect: deny', false],
    ['context: { approvals: 1 }, expect: allow', true],
    ['context: { approvals: 1 }, expect: allow, by: short', false],
    ['expect: deny', true],
    ['expect: allow', false],
    ['expect: deny, by: short', false],
    ['context: { ttl_s: 601 }, expect: deny, by: short', true],
    ['approvers: [{ name: bob }], expect: allow', true],
    ['approvers: [{ name: bob }], resource: { elevated: true }, expect: deny, by: two', true],
    ['approvers: [{ name: bob }, { name: carol }], resource: { elevated: true }, expect: allow', true],
  ])('judges the row %s: %s', async (rest, passed) => {
    expect(await run(row(rest))).toEqual([passed]);
  });

  it('does not take a broken policy for the denial that was expected', async () => {
    const [result] = await runTable(await set(), `- { name: a, action: execute, ${WHO}, expect: deny }`);
    expect(result).toMatchObject({ passed: false, got: { code: 'POLICY_ERROR' } });
  });

  it('may be empty', async () => {
    expect(await run('[]')).toEqual([]);
  });

  it.each([
    ['no list', 'rows: []', /tests\.yaml, line 1/],
    ['nothing', '', /tests\.yaml/],
    ['an unknown key', row('expect: allow, expects: deny'), /nrecognized key/],
    [
      'an unknown fact',
      row('context: { approval: 1 }, expect: allow'),
      /line 1: 0\.context: Unrecognized key/,
    ],
    ['a fact of another kind', row('context: { approvals: "1" }, expect: allow'), /0\.context\.approvals/],
    ['an hour that does not exist', row('context: { hour: 24 }, expect: allow'), /0\.context\.hour/],
    ['a capability longer than any', row('context: { ttl_s: 3601 }, expect: deny'), /0\.context\.ttl_s/],
    ['an intent longer than any', row('context: { life_s: 2592001 }, expect: deny'), /0\.context\.life_s/],
    ['no expectation', `- { name: a, action: grant, ${WHO} }`, /0\.expect/],
    ['an expectation of neither', row('expect: maybe'), /0\.expect/],
    ['an unknown action', `- { name: a, action: delete, ${WHO}, expect: deny }`, /0\.action/],
    [
      'approvers said twice',
      row('approvers: [], context: { approvals: 2 }, expect: allow'),
      /says who approved twice/,
    ],
    ['the same name twice', `${row('expect: deny')}\n${row('expect: deny')}`, /name twice/],
    [
      'a name that hides',
      `- { name: "a\\u202e", action: grant, ${WHO}, expect: deny }`,
      /invisible character/,
    ],
    ['an alias', '- &a b\n- *a', /tests\.yaml/],
  ])('is refused with %s', async (_, yaml, message) => {
    const refused = await expectRefusal('POLICY_INVALID', async () => runTable(await set(), yaml));
    expect(refused.message).toMatch(message);
  });
});
