import { describe, expect, it } from 'vitest';
import { flipBits } from './flip.ts';

describe('an exported ledger of 40 entries', () => {
  // A step of 7 bits touches every byte, and every bit of a byte in turn.
  it('shows every flipped bit of a seventh of them', async () => {
    const { bits, flipped, missed } = await flipBits(7);
    expect(missed).toEqual([]);
    expect(flipped).toBe(Math.ceil(bits / 7));
  });
});
