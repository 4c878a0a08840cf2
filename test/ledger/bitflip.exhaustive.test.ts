import { describe, expect, it } from 'vitest';
import { flipBits } from './flip.ts';

describe.runIf(process.env.KEYTURN_TESTS === 'exhaustive')('an exported ledger of 40 entries', () => {
  it('shows every single flipped bit', { timeout: 600_000 }, async () => {
    const { bits, flipped, missed } = await flipBits(1);
    expect(missed).toEqual([]);
    expect(flipped).toBe(bits);
  });
});
