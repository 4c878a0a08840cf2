import { expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { raceSwaps } from './race.ts';

it('a folder that is swapped for a link for 3 seconds never leads a change outside', async () => {
  const { refused, done } = await raceSwaps(scratch(), scratch(), 3_000);
  expect(refused).toBeGreaterThan(0);
  expect(done).toBeGreaterThan(0);
});
