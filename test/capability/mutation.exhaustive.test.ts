import { describe, expect, it } from 'vitest';
import { attack } from './mutate.ts';
import { keys } from './sample.ts';

describe.runIf(process.env.KEYTURN_TESTS === 'exhaustive')('a million mutated capabilities', () => {
  it('are refused, every one of them', { timeout: 900_000 }, async () => {
    const { tried, accepted } = await attack(1_000_000, 7, keys);
    expect(accepted).toEqual([]);
    expect(tried).toBe(1_000_000);
  });
});
