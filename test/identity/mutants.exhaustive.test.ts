import { describe, expect, it } from 'vitest';
import { expectNoneAccepted } from './many-mutants.ts';
import { people } from './mutants.ts';
import { expectSameOpinion } from './second-opinion.ts';

const everybody = people();
const COUNT = Number(process.env.KEYTURN_SOAK_PROOFS ?? 50_000);

describe('many changed proofs', () => {
  it('are judged as another verifier judges them, and every named difference is seen', async () => {
    const seen = await expectSameOpinion(5000, everybody);
    console.info([...seen].map(([name, times]) => `${times} x ${name}`).join('\n'));
    expect([...seen].filter(([, times]) => times === 0)).toEqual([]);
  });

  it('are never accepted', () => expectNoneAccepted(COUNT, everybody), 12 * 3_600_000);
});
