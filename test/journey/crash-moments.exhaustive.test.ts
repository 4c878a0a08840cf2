import { describe, expect, it } from 'vitest';
import { killRuns } from './crash.ts';

describe('a process that dies', () => {
  it('of kill -9 at 25 moments never ran the tool twice, and its doubt is visible', {
    timeout: 180_000,
  }, async () => {
    const { in_doubt, finished, untouched } = await killRuns(25);
    expect(in_doubt + finished + untouched).toBe(25);
  });
});
