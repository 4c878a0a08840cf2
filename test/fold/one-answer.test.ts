import { describe, expect, it } from 'vitest';
import { lived } from './mutants.ts';
import { expectOneAnswer, JUDGES } from './one-answer.ts';

describe('commit, copy, rebuild and deep verification', () => {
  it('take a ledger that could have been written', async () => {
    for (const judge of Object.values(JUDGES)) expect(await judge(lived())).toBeNull();
  });

  it('give the same answer about a few ledgers that differ in one thing', () => expectOneAnswer(8));
});
