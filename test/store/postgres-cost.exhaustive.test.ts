import { describe, expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import { begun, denied, enrolled, proposed } from './facts.ts';
import { postgres } from './postgres-place.ts';

/**
 * What the server reads for a statement, by its own count. The plan of each statement is made for empty tables and kept: nothing
 * here gathers statistics meanwhile.
 */
const at = postgres({ autovacuum: 'off' });

const INTENTS = 640;
const TOGETHER = 32;

/** Rows that the server read of these tables, by an index or without one. It is told of them when a session ends. */
async function read(): Promise<number> {
  const [row] =
    await at().sql(`SELECT sum(coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::int AS read
    FROM pg_stat_user_tables WHERE relname IN ('projection', 'claim', 'object')`);
  return row!.read as number;
}

async function inBatches(act: (place: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < INTENTS; from += TOGETHER)
    await Promise.all(Array.from({ length: TOGETHER }, (_, i) => act(from + i)));
}

describe('what the server reads for a write', () => {
  it('is the rows that the write names, however many there are', { timeout: 120_000 }, async () => {
    await at().place();
    const store = await at().open('create');
    await store.commit({ events: [begun(), enrolled('ada')] });
    const intents = Array.from({ length: INTENTS }, () => proposed());
    await inBatches((i) => store.commit({ events: [intents[i]!], objects: [Buffer.from(`${i}`)] }));
    const before = await read();
    await store.close();

    const another = await at().open('write');
    await inBatches((i) => another.commit({ events: [denied(intents[i]!.subject, 'ada')] }));
    // Rows that were not kept in memory are looked up under the lock.
    const third = await at().open('write');
    await inBatches((i) => third.commit({ events: [proposed(intents[i]!.subject)] }).catch(() => null));
    await Promise.all([another.close(), third.close()]);
    const sessions = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'keyturn'`;
    await until(async () => (await at().sql(sessions)).length === 0);
    expect((await read()) - before).toBeLessThan(INTENTS * 24);
  });
});
