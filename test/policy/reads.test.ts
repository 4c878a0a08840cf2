import { describe, expect, it } from 'vitest';
import { readsPace } from '../../src/policy/policy.ts';
import { parsePolicySet } from '../../src/policy/set.ts';
import { ANY, rule, source } from './questions.ts';

const policiesOf = async (...texts: string[]) => (await parsePolicySet(source(...texts))).policies;
const readsOf = async (condition: string) =>
  (await policiesOf(rule('one', 'capability', `forbid ${ANY} when { ${condition} };`)))[0]!.reads;

describe('what a policy reads of the context', () => {
  it.each([
    ['principal.name == "ada"', []],
    ['"context.pace_hour" == principal.name', []],
    ['context.pace_hour >= 3', ['pace_hour']],
    ['context["pace_hour"] >= 3', ['pace_hour']],
    ['context has pace_day && !(context.hour < 8)', ['pace_day', 'hour']],
    [
      '[1, 2].contains(if context.frozen then context.attempt else context.approvals)',
      ['frozen', 'attempt', 'approvals'],
    ],
    ['{ Var: "context" }.Var == context.goal', ['goal']],
  ])('%s', async (condition, names) => {
    expect(await readsOf(condition)).toEqual(names);
  });

  it.each([
    'context == context',
    '{ x: context }.x.pace_hour > 1',
    '(if principal.name == "ada" then context else context).pace_hour > 1',
  ])('may be anything where the context is used as a whole: %s', async (condition) => {
    expect(await readsOf(condition)).toBeNull();
  });

  it('is found in every condition of a policy', async () => {
    const text = `forbid ${ANY} when { context.frozen } unless { context.pace_minute < 2 };`;
    expect((await policiesOf(rule('one', 'capability', text)))[0]!.reads).toEqual(['frozen', 'pace_minute']);
  });
});

describe('whether a grant depends on the count', () => {
  const slow = 'when { context.pace_hour >= 3 }';
  const head = (action: string) => `(principal, action == Keyturn::Action::"${action}", resource)`;

  it.each([
    ['a policy that judges grants reads it', rule('one', 'capability', `forbid ${ANY} ${slow};`), true],
    ['a permit reads it', rule('one', 'capability', `permit ${ANY} ${slow};`), true],
    ['a forbid of the emergency scope reads it', rule('one', 'emergency', `forbid ${ANY} ${slow};`), true],
    [
      'breaking the break_glass reads it',
      rule('one', 'emergency', `permit ${head('break_glass')} ${slow};`),
      true,
    ],
    ['only a policy about approvals reads it', rule('one', 'intent', `forbid ${ANY} ${slow};`), false],
    ['only a policy about runs reads it', rule('one', 'execution', `forbid ${ANY} ${slow};`), false],
    ['a forbid of runs reads it', rule('one', 'emergency', `forbid ${head('execute')} ${slow};`), false],
    ['nothing reads it', rule('one', 'capability', `forbid ${ANY} when { context.frozen };`), false],
  ])('%s', async (_, text, reads) => {
    expect(readsPace(await policiesOf(text))).toBe(reads);
  });
});
