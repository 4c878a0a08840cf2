import { describe, expect, it } from 'vitest';
import { attack } from './mutate.ts';
import { keys, stranger } from './sample.ts';

describe('mutated capabilities', () => {
  it('are refused, 5,000 of them, each for one of four reasons', { timeout: 120_000 }, async () => {
    const { tried, accepted, refusals } = await attack(5_000, 1, keys);
    expect(accepted).toEqual([]);
    expect(tried).toBe(5_000);
    expect(Object.keys(refusals).sort()).toEqual([
      'CAPABILITY_ALGORITHM',
      'CAPABILITY_FORGED',
      'CAPABILITY_KEY_UNKNOWN',
      'CAPABILITY_MALFORMED',
    ]);
  });

  it('are accepted by whoever trusts the attacker, so the attack is a real one', async () => {
    const { accepted } = await attack(2_000, 2, () => stranger.public);
    expect(accepted.length).toBeGreaterThan(10);
  });
});
