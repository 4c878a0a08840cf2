import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/**
 * `npm test` runs the quick tests and stays under five minutes; `npm run test:exhaustive` runs the files that end in
 * `.exhaustive.test.ts`. Both together run every test. A test that is named on the command line runs in either tier.
 */
const tier = process.env.KEYTURN_TESTS;

const ALL = 'test/**/*.test.ts';
const EXHAUSTIVE = 'test/**/*.exhaustive.test.ts';

/**
 * A process of its own has what replaces a module or a clock, changes the environment, or counts what its process holds. All other quick
 * files share the processes of two workers: to load the sources anew for each file takes longer than most of them run.
 */
const ALONE = /\bvi\.|\bprocess\.(env\.\w+ =|umask|chdir|memoryUsage|on\()|'\/proc\/self/;
const alone = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => join('test', path))
  .filter((path) => path.endsWith('.test.ts') && !path.endsWith('.exhaustive.test.ts'))
  .filter((path) => ALONE.test(readFileSync(join(import.meta.dirname, path), 'utf8')));

export default defineConfig({
  test: {
    pool: 'forks',
    globalSetup: 'test/support/run-folders.ts',
    // As the command line does. To optimise the code of Cedar costs each file a second of a core, and none of them earns it back.
    execArgv: ['--liftoff-only'],
    maxWorkers: 2,
    testTimeout: tier === 'exhaustive' ? 8 * 60_000 : 60_000,
    hookTimeout: 60_000,
    projects: [
      ...(tier === 'exhaustive'
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: 'shared',
                include: [ALL],
                exclude: [...configDefaults.exclude, EXHAUSTIVE, ...alone],
                isolate: false,
              },
            },
          ]),
      {
        extends: true as const,
        test: {
          name: 'alone',
          include:
            tier === 'exhaustive' ? [EXHAUSTIVE] : [...alone, ...(tier === 'quick' ? [] : [EXHAUSTIVE])],
        },
      },
    ],
  },
});
