import { describe, it } from 'vitest';
import { killUnderRuns } from '../journey/postgres-kill-runs.ts';
import { killUnderLoad } from './postgres-kill.ts';
import { postgres } from './postgres-place.ts';

const at = postgres();

describe('a server that is killed under load and started again', () => {
  it('loses nothing that was acknowledged, twenty times over', async () => {
    await killUnderLoad(at(), 20);
  });

  it('while a tool runs again and again: each effect happens once at most, and none without its claim', async () => {
    await killUnderRuns(at(), 12);
  });
});
