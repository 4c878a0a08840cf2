import { describe, it } from 'vitest';
import { expectEachRefused, expectOneAnswer } from './one-answer.ts';

const COUNT = Number(process.env.KEYTURN_SOAK_LEDGERS ?? 100);
const ALL = process.env.KEYTURN_SOAK_LEDGERS !== undefined;

describe('commit, copy, rebuild, deep verification and proof', () => {
  it(
    'give the same answer about a ledger for each kind of event and each reason of the fold',
    () => expectEachRefused({ all: ALL }),
    3_600_000,
  );

  it(
    'give the same answer about many ledgers that differ in one thing',
    () => expectOneAnswer(COUNT),
    3_600_000,
  );
});
