import { join } from 'node:path';
import type { Crowd } from './growth.ts';
import { policyRows } from './policy.ts';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

/** What is not asked about may cost as much as the noise of a run. */
const MOST = 1.2;
const POLICIES = [10, 100, 500];

export const GROWTH = { name: 'growth', rows: growthRows };

const crowdOf = (size: number): Crowd => ({
  intents: size,
  principals: size,
  delegations: size,
  entries: size,
});

async function growthRows({ folder, ask }: Workshop, sizes: Sizes): Promise<Row[]> {
  const { runs, crowd: big } = sizes;
  const asked = { root: join(folder, 'growth'), rounds: runs, small: crowdOf(10), big };
  const { small_ms, big_ms, entries, first_ms } = await ask('measureGrowth', asked);
  const ratio = big_ms / small_ms;
  const count = (value: number) => value.toLocaleString('en');
  return [
    {
      figure: `a journey beside ${count(big.intents)} pending intents, ${count(big.principals)} principals, ${count(big.delegations)} delegations, ${count(big.entries)} entries about system and each signer`,
      measured: `${ratio.toFixed(2)} x`,
      asked: `<= ${MOST}`,
      verdict: ratio <= MOST ? 'ok' : 'MISSED',
      baseline: `${big_ms.toFixed(2)} ms against ${small_ms.toFixed(2)} ms with 10 of each; the first one of a process, which reads ${count(entries)} entries, ${first_ms.toFixed(0)} ms`,
    },
    ...(await policyRows(POLICIES, sizes)),
  ];
}
