import { describe, it } from 'vitest';
import { expectOneAnswer } from './one-answer.ts';

const COUNT = Number(process.env.KEYTURN_SOAK_LEDGERS ?? 100);

describe('commit, copy, rebuild, deep verification and proof', () => {
  it(
    'give the same answer about many ledgers that differ in one thing',
    () => expectOneAnswer(COUNT),
    3_600_000,
  );
});
