import { describe, expect, it } from 'vitest';
import { policyLimits } from '../../src/limits.ts';
import { nestingOf } from '../../src/policy/nesting.ts';
import { parsePolicySet } from '../../src/policy/set.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ANY, asking, engineOf, rule, source } from './questions.ts';

const when = (condition: string) => rule('deep', 'capability', `permit ${ANY} when { ${condition} };`);

/** What can be nested, and what it looks like n deep. Each one, deep enough, exhausts Cedar's stack. */
const SHAPES: [string, (n: number) => string][] = [
  ['brackets', (n) => when(`${'('.repeat(n)}context.humans > 0${')'.repeat(n)}`)],
  ['sets', (n) => when(`${'['.repeat(n)}1${']'.repeat(n)} == ${'['.repeat(n)}1${']'.repeat(n)}`)],
  ['records', (n) => when(`${'{a: '.repeat(n)}1${'}'.repeat(n)} == ${'{a: '.repeat(n)}1${'}'.repeat(n)}`)],
  ['ands', (n) => when(`context.humans > 0${' && context.humans > 0'.repeat(n)}`)],
  ['ors', (n) => when(`context.frozen${' || context.humans > 0'.repeat(n)}`)],
  ['sums', (n) => when(`context.humans${' + 1'.repeat(n)} > 0`)],
  ['products', (n) => when(`context.humans${' * 1'.repeat(n)} > 0`)],
  ['ifs', (n) => when(`${'if context.frozen then false else '.repeat(n)}true`)],
  [
    'clauses',
    (n) => rule('deep', 'capability', `permit ${ANY} ${'when { context.humans > 0 } '.repeat(n)};`),
  ],
  ['brackets with ands', (n) => when(`${'(context.humans > 0 && '.repeat(n)}true${')'.repeat(n)}`)],
  ['brackets in arguments', (n) => when(`${'[true].contains('.repeat(n)}true${')'.repeat(n)}`)],
];

describe('nesting', () => {
  it.each(SHAPES)('as deep as it may be is evaluated: %s', async (_, shape) => {
    let n = 1;
    while (n < 200 && nestingOf(shape(n + 1)) <= policyLimits.nesting) n += 1;
    const engine = await engineOf(shape(n));
    expect(engine.decide(asking('grant')).allowed).toBe(true);
  });

  it.each(SHAPES)(
    'that would exhaust the stack is refused, and Cedar still answers: %s',
    async (_, shape) => {
      for (const n of [101, 400, 1000]) {
        const refused = await expectRefusal('POLICY_INVALID', () => parsePolicySet(source(shape(n))));
        expect(refused.message).toMatch(/nests \d+ deep/);
      }
      expect((await engineOf(when('true'))).decide(asking('grant')).allowed).toBe(true);
    },
  );

  it('cannot be hidden from the count behind a comment or a quote', () => {
    const deep = '('.repeat(200);
    expect(nestingOf(`// comment\r${deep}`)).toBeGreaterThan(200);
    expect(nestingOf(`"string" ${deep}`)).toBeGreaterThan(200);
    expect(nestingOf(`"\\" still the string" ${deep}`)).toBeGreaterThan(200);
    expect(nestingOf(`"\\\n${deep}`)).toBeGreaterThan(200);
    expect(nestingOf(`" no end ${deep}`)).toBeGreaterThan(200);
  });

  it('is not counted in comments and strings, nor along a list', () => {
    const deep = '('.repeat(200);
    expect(nestingOf(`// ${deep}\n"${deep}"`)).toBe(0);
    const list = when(`[${'"a", '.repeat(5000)}"b"].contains(context.goal)`);
    expect(nestingOf(list)).toBeLessThan(10);
    expect(nestingOf(Array(500).fill(list).join('\n'))).toBe(nestingOf(list));
  });

  it('leaves room for fifty conditions in one policy', () => {
    expect(nestingOf(when(Array(50).fill('context.goal.a == "x"').join(' && ')))).toBeLessThan(60);
  });
});
