import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../support/scratch.ts';
import { screensIn } from './screens.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'screens');

describe('docs/screens', () => {
  it('shows the screens as they are', async () => {
    const { plan, policies } = await screensIn(scratch());
    for (const [name, text] of [
      ['s04-plan-after.txt', plan],
      ['s03-policies-after.txt', policies],
    ] as const) {
      const path = join(FOLDER, name);
      // `SCREENS=write npx vitest run test/display/screens.test.ts` after a change that is meant.
      if (process.env.SCREENS === 'write') writeFileSync(path, text);
      expect(text).toBe(readFileSync(path, 'utf8'));
    }
  });
});
