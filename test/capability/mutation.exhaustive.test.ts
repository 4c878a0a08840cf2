import { describe, expect, it } from 'vitest';
import { attack } from './mutate.ts';
import { keys } from './sample.ts';

/** A twentieth of what `npm run soak` does. */
const TOKENS = Number(process.env.KEYTURN_SOAK_TOKENS ?? 50_000);

describe('mutated capabilities', () => {
  it('are refused, every one of them', async () => {
    const { tried, accepted } = await attack(TOKENS, 7, keys);
    expect(accepted).toEqual([]);
    expect(tried).toBe(TOKENS);
  });
});
