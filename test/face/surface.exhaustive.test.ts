import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { apiPage } from '../../src/face/api.ts';

const SCRIPT: string = resolve(import.meta.dirname, '../../scripts/surface.mjs');
const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');

// The compiler reads all of src/ for it.
it('docs/api.md has all that the entries of the package export; scripts/schemas.mjs writes it anew', async () => {
  const { surfacePage } = (await import(SCRIPT)) as { surfacePage: () => string };
  expect(page).toBe(`${apiPage()}${surfacePage()}`);
}, 120_000);
