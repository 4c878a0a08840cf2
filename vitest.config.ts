import { configDefaults, defineConfig } from 'vitest/config';

/** The exhaustive tests take minutes: `npm run test:exhaustive` runs them, and only them. */
const exhaustive = process.env.KEYTURN_EXHAUSTIVE === '1';

export default defineConfig({
  test: {
    include: [exhaustive ? 'test/**/*.exhaustive.test.ts' : 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(exhaustive ? [] : ['test/**/*.exhaustive.test.ts'])],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: exhaustive ? 20 * 60_000 : 60_000,
    hookTimeout: 60_000,
  },
});
