import { configDefaults, defineConfig } from 'vitest/config';

/**
 * `npm test` leaves out what takes long, so that it stays under five minutes; `npm run test:exhaustive` runs exactly that. Both
 * together run every test. Named on the command line, a test runs whatever it costs.
 */
const tier = process.env.KEYTURN_TESTS;

const EXHAUSTIVE = 'test/**/*.exhaustive.test.ts';

/** Ordinary tests that start many processes, terminals, databases or servers. */
const SLOW = [
  'test/agent/{at-agent-chain,at-agent-packets,at-agent-postgres,attack-approval,attack-template,executor,finder,finder-eval,finder-property,guard,plan-effect}.test.ts',
  'test/build.test.ts',
  'test/cli/{agent,agent-json,capability,capability-json,check,delegation,freeze,freeze-glass,grant}.test.ts',
  'test/cli/{json,ledger,list,plan,policy,propose,review,rollback,run-refused,settle,store,store-journey,story,terminal,turn,usage,watch}.test.ts',
  'test/effect/{sql-database,sql-escape,sql-run}.test.ts',
  'test/capability/property.test.ts',
  'test/findings/{p03-metadata,p08-gc,s04-plan-steps,s08-one-vocabulary}.test.ts',
  'test/journey/{audit-file,control-flow,crash,plan-crash,plan-safety,plan-sql,plan-stop,plan-undo,postgres,postgres-stop,race,stop}.test.ts',
  'test/lane/{check,json,queue,run}.test.ts',
  'test/ledger/prove.test.ts',
  'test/log.test.ts',
  'test/plan/edit/json.property.test.ts',
  'test/plan/engine/{crash,sql}.test.ts',
  'test/tool/swap.test.ts',
  'test/store/{copy,postgres,postgres-away,postgres-durable,postgres-faults,postgres-shape,postgres-shared,sqlite-agent}.test.ts',
];

const TIERS: Record<string, { include: string[]; exclude: string[] }> = {
  quick: { include: ['test/**/*.test.ts'], exclude: [EXHAUSTIVE, ...SLOW] },
  exhaustive: { include: [EXHAUSTIVE, ...SLOW], exclude: [] },
  all: { include: ['test/**/*.test.ts'], exclude: [] },
};
const { include, exclude } = TIERS[tier ?? 'all'] ?? TIERS.all!;

export default defineConfig({
  test: {
    include,
    exclude: [...configDefaults.exclude, ...exclude],
    pool: 'forks',
    // As the command line does. To optimise the code of Cedar costs each file a second of a core, and none of them earns it back.
    execArgv: ['--liftoff-only'],
    maxWorkers: 2,
    testTimeout: tier === 'exhaustive' ? 20 * 60_000 : 60_000,
    hookTimeout: 60_000,
  },
});
