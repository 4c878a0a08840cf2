import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../src/policy/engine.ts';
import { rememberingEngine } from '../../src/policy/remember.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ANY, asking, engineOf, rule } from './questions.ts';

const POLICIES = [
  rule('cap', 'capability', `permit ${ANY};`),
  rule('late', 'capability', `forbid ${ANY} when { context.hour >= 18 };`),
];

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

  it('refuses a question that is not plain, which could look like another one', async () => {
    const { engine } = await watched();
    await expectRefusal('JSON_BAD_NUMBER', () => engine.decide(asking('grant', { hour: Number.NaN })));
  });
});
