import { describe, expect, it } from 'vitest';
import { expectNoneAccepted } from './many-mutants.ts';
import { mutant, people } from './mutants.ts';
import { expectSameOpinion, refusalOf } from './second-opinion.ts';

const everybody = people();

describe('an assertion that was changed in one thing', () => {
  it('is judged as another verifier judges it, but for the named differences', async () => {
    await expectSameOpinion(500, everybody);
  });

  it('is accepted exactly where the change was signed and means nothing', () => {
    for (let seed = 0; seed < 500; seed++) {
      const one = mutant(seed, everybody);
      expect({ seed, name: one.name, good: refusalOf(one) === null }).toMatchObject({ good: one.good });
    }
  });

  it('is never accepted otherwise, nor is a changed Ed25519 proof', () => {
    expectNoneAccepted(500, everybody);
  });
});
