import { expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { raceSwaps } from './race.ts';

it('a folder that is swapped for a link for 60 seconds never leads a change outside', {
  timeout: 300_000,
}, async () => {
  const { refused, done } = await raceSwaps(scratch(), scratch(), 60_000);
  expect(refused).toBeGreaterThan(100);
  expect(done).toBeGreaterThan(100);
});
