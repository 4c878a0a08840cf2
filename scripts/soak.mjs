/** The long tests at their full size, with their output in docs/measured/. The tests themselves run them at a twentieth. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';

const SIZES = {
  KEYTURN_SOAK_PLANS: '10000',
  KEYTURN_SOAK_KILLS: '1000',
  KEYTURN_SOAK_STRIDE: '1',
  KEYTURN_SOAK_SECONDS: '600',
  KEYTURN_SOAK_LEDGERS: '2000',
  KEYTURN_SOAK_PROOFS: '1000000',
  KEYTURN_SOAK_TOKENS: '1000000',
  KEYTURN_SOAK_ENTRIES: '1000000',
  KEYTURN_SOAK_REQUESTS: '10000',
  KEYTURN_SOAK_INTENTS: '100000',
  KEYTURN_SOAK_SERVICE_KILLS: '50',
  KEYTURN_SOAK: '1',
};

const SOAKS = {
  'random-plans': ['test/plan/engine/random-plan.exhaustive.test.ts'],
  'kill-plans': ['test/plan/engine/crash.exhaustive.test.ts', 'test/journey/plan-crash.exhaustive.test.ts'],
  // Each takes an hour: two that can run beside each other.
  'kill-sql-changed': ['test/plan/engine/sql-crash.exhaustive.test.ts', '-t', 'database changed'],
  'kill-sql-new': ['test/plan/engine/sql-crash.exhaustive.test.ts', '-t', 'database new'],
  ledgers: ['test/fold/one-answer.exhaustive.test.ts', 'test/fold/one-answer-postgres.exhaustive.test.ts'],
  proofs: ['test/identity/mutants.exhaustive.test.ts'],
  tokens: ['test/capability/mutation.exhaustive.test.ts'],
  audit: ['test/audit/memory.exhaustive.test.ts'],
  lists: ['test/journey/list-many.exhaustive.test.ts'],
  contract: ['test/serve/contract.exhaustive.test.ts'],
  callers: ['test/journey/callers.exhaustive.test.ts'],
  // Ten minutes each.
  'service-sqlite': ['test/serve/soak.exhaustive.test.ts', '-t', 'on SQLite'],
  'service-postgres': ['test/serve/soak.exhaustive.test.ts', '-t', 'on PostgreSQL'],
  'disk-full': [
    'test/plan/engine/disk-full.test.ts',
    'test/plan/engine/disk-full.exhaustive.test.ts',
    'test/journey/disk-full.exhaustive.test.ts',
    'test/findings/p04-torn-journal.test.ts',
  ],
};

const chosen = process.argv.slice(2);
const env = { ...SIZES, ...process.env, KEYTURN_TESTS: 'all', NO_COLOR: '1' };
mkdirSync('docs/measured', { recursive: true });
let failed = false;
for (const [name, files] of Object.entries(SOAKS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const began = new Date();
  const options = ['--maxWorkers=1', '--reporter=verbose', `--testTimeout=${12 * 3600 * 1000}`];
  const ran = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files], {
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const head = [
    `soak: ${name}`,
    `sizes: ${Object.keys(SIZES)
      .map((size) => `${size}=${env[size]}`)
      .join(' ')}`,
    `on: Node ${process.version}, Linux ${release()}, ${cpus().length} cores`,
    `began: ${began.toISOString()}`,
    `took: ${Math.round((Date.now() - began.getTime()) / 1000)} s`,
    `exit: ${ran.status}`,
  ];
  writeFileSync(`docs/measured/soak-${name}.txt`, `${head.join('\n')}\n\n${ran.stdout}${ran.stderr}`);
  console.log(`${name}: ${ran.status === 0 ? 'passed' : 'FAILED'}, docs/measured/soak-${name}.txt`);
  failed ||= ran.status !== 0;
}
process.exit(failed ? 1 : 0);
