import { expect } from 'vitest';
import { type ReasonCode, Refusal } from '../../src/refusal.ts';

/** Runs what must be refused and asserts the reason code. Fails when nothing is refused. */
export async function expectRefusal(code: ReasonCode, act: () => unknown): Promise<Refusal> {
  let outcome: unknown;
  try {
    outcome = await act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.code).toBe(code);
    return error;
  }
  return expect.fail(`expected the refusal ${code}, got ${JSON.stringify(outcome)}`);
}
