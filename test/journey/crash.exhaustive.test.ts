import { describe, expect, it } from 'vitest';
import { killRuns } from './crash.ts';

describe('processes that die', () => {
  it('of kill -9 at 200 random moments never ran a tool twice, and each doubt is visible', {
    timeout: 600_000,
  }, async () => {
    const tally = await killRuns(200);
    process.stdout.write(`200 runs killed: ${JSON.stringify(tally)}\n`);
    // The moments really were spread: some died in doubt, some before, some after.
    expect(tally.in_doubt).toBeGreaterThan(0);
    expect(tally.untouched + tally.finished).toBeGreaterThan(0);
  });
});
