import { it, onTestFinished } from 'vitest';
import type { Grown } from '../../src/store/store.ts';
import { until } from '../support/processes.ts';
import { begun, enrolled, frozen, proposed } from './facts.ts';
import { postgres } from './postgres-place.ts';

const at = postgres();

it('another process is told whether what was written may end a run', async () => {
  await at().place();
  const store = await at().open('create');
  onTestFinished(() => store.close());
  await store.commit({ events: [begun(), enrolled('ada')] });
  const other = await at().open('write');
  onTestFinished(() => other.close());
  const told: Grown[] = [];
  await other.changes!((grown) => void told.push(grown));

  await store.commit({ events: [proposed()] });
  await until(() => told.length > 0);
  // The commits that began the ledger may be told together with the proposal.
  while (told.at(-1)!.may_end_runs) {
    const before = told.length;
    await store.commit({ events: [proposed()] });
    await until(() => told.length > before);
  }
  const before = told.length;
  await Promise.all(
    [proposed(), frozen('ada'), proposed()].map((event) => store.commit({ events: [event] })),
  );
  await until(() => told.slice(before).some(({ may_end_runs }) => may_end_runs));
});
