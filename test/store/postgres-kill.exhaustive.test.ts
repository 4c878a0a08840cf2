import { describe, it } from 'vitest';
import { killUnderLoad } from './postgres-kill.ts';
import { postgres } from './postgres-place.ts';

const at = postgres();

describe('a server that is killed under load and started again', () => {
  it('loses nothing that was acknowledged, twenty times over', async () => {
    await killUnderLoad(at(), 20);
  });
});
