import { configDefaults, defineConfig } from 'vitest/config';

/**
 * `npm test` runs the quick tests and stays under five minutes; `npm run test:exhaustive` runs the files that end in
 * `.exhaustive.test.ts`. Both together run every test. A test that is named on the command line runs in either tier.
 */
const tier = process.env.KEYTURN_TESTS;

const ALL = 'test/**/*.test.ts';
const EXHAUSTIVE = 'test/**/*.exhaustive.test.ts';

export default defineConfig({
  test: {
    include: [tier === 'exhaustive' ? EXHAUSTIVE : ALL],
    exclude: [...configDefaults.exclude, ...(tier === 'quick' ? [EXHAUSTIVE] : [])],
    pool: 'forks',
    // As the command line does. To optimise the code of Cedar costs each file a second of a core, and none of them earns it back.
    execArgv: ['--liftoff-only'],
    maxWorkers: 2,
    testTimeout: tier === 'exhaustive' ? 8 * 60_000 : 60_000,
    hookTimeout: 60_000,
  },
});
