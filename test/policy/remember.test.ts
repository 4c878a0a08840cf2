import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import type { Engine } from '../../src/policy/engine.ts';
import { rememberingEngine } from '../../src/policy/remember.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ANY, asking, engineOf, rule } from './questions.ts';

const POLICIES = [
  rule('cap', 'capability', `permit ${ANY};`),
  rule('late', 'capability', `forbid ${ANY} when { context.hour >= 18 };`),
];

const inEtc = rule('etc', 'capability', `forbid ${ANY} when { context.writes_in.contains("/etc") };`);
const whole = rule('whole', 'capability', `forbid ${ANY} when { { it: context }.it.frozen };`);

/** Tells how often the engine itself was asked. */
async function watched(): Promise<{ engine: Engine; asked: () => number }> {
  const engine = await engineOf(...POLICIES);
  let asked = 0;
  const decide: Engine['decide'] = (request) => {
    asked += 1;
    return engine.decide(request);
  };
  return { engine: rememberingEngine({ ...engine, decide }), asked: () => asked };
}

describe('an engine that remembers', () => {
  it('is asked the same question once, in whatever order its facts stand', async () => {
    const { engine, asked } = await watched();
    const request = asking('grant');
    const { context, ...rest } = request;
    expect(engine.decide(request)).toEqual(engine.decide({ context, ...rest }));
    expect(asked()).toBe(1);
  });

  it('never answers one question with the answer to another, however many there were', async () => {
    const plain = await engineOf(...POLICIES);
    const { engine } = await watched();
    const fact = fc.record({ hour: fc.nat(23), epoch_s: fc.nat(30), goal: fc.constantFrom('a', 'b') });
    fc.assert(
      fc.property(fc.array(fact, { minLength: 30, maxLength: 60 }), (facts) => {
        for (const one of facts)
          expect(engine.decide(asking('grant', one))).toEqual(plain.decide(asking('grant', one)));
      }),
      { numRuns: 10 },
    );
  });

  it('is asked once where questions differ in what no policy of their scope reads', async () => {
    const { engine, asked } = await watched();
    const facts = { goal: 'Another', epoch_s: 1, pace_hour: 7, approvers: ['eve'], frozen: true };
    expect(engine.decide(asking('grant', facts))).toEqual(engine.decide(asking('grant')));
    expect(asked()).toBe(1);
    expect(engine.decide(asking('grant', { hour: 19 })).code).toBe('POLICY_DENIED');
    expect(engine.decide(asking('execute')).code).toBe('POLICY_NO_PERMIT');
    expect(asked()).toBe(3);
  });

  it.each([
    [
      'a forbid of the emergency scope reads',
      rule('stop', 'emergency', `forbid ${ANY} when { context.frozen };`),
      { frozen: true },
    ],
    ['is read through what follows from it', inEtc, { scope_writes: ['/etc/hosts'] }],
    ['may be read, as the context is used as a whole', whole, { goal: 'x', frozen: true }],
    ['is of the wrong form', POLICIES[0]!, { life_s: 1.5 }],
    ['is a set of the wrong form', POLICIES[0]!, { approvers: [1] as unknown as string[] }],
  ])('is asked again where what differs %s', async (_, text, facts) => {
    const plain = await engineOf(POLICIES[0]!, ...(text === POLICIES[0] ? [] : [text]));
    const engine = rememberingEngine(plain);
    expect(engine.decide(asking('grant')).allowed).toBe(true);
    const answer = engine.decide(asking('grant', facts));
    expect(answer).toEqual(plain.decide(asking('grant', facts)));
    expect(answer.allowed).toBe(false);
  });

  it('forgets what was asked longest ago, and nothing else', async () => {
    const { engine, asked } = await watched();
    const ask = (n: number) => engine.decide(asking('grant', {}, { name: `n${n}` }));
    const most = limits.remembered_policy_sets;
    for (let n = 0; n < most; n++) ask(n);
    ask(0);
    expect(asked()).toBe(most);
    ask(most);
    ask(0);
    expect(asked()).toBe(most + 1);
    ask(1);
    expect(asked()).toBe(most + 2);
  });

  it('refuses a question that is not plain, which could look like another one', async () => {
    const { engine } = await watched();
    await expectRefusal('JSON_BAD_NUMBER', () => engine.decide(asking('grant', { hour: Number.NaN })));
    await expectRefusal('JSON_BAD_STRING', () => engine.decide(asking('grant', { goal: '\ud800' })));
  });
});
