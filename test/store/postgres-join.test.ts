import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { until } from '../support/processes.ts';
import { begun, enrolled, erased, proposed } from './facts.ts';
import { codeOf } from './place.ts';
import { postgres } from './postgres-place.ts';

const at = postgres();

async function opened(mode: 'write' | 'create') {
  const store = await at().open(mode);
  onTestFinished(() => store.close());
  return store;
}

const WAITS = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'keyturn' AND wait_event_type = 'Lock'`;

/** In how many transactions the newest entries were written. */
const TRANSACTIONS = `SELECT count(DISTINCT e.xmin::text)::int AS count FROM keyturn.entry e
  JOIN keyturn.tenant t ON t.id = e.tenant WHERE t.name = 'default' AND e.seq >= $1`;

it('what is asked while a commit waits for the chain is written with it, and each is answered for itself', async () => {
  await at().place();
  const store = await opened('create');
  const bytes = Buffer.from('to be erased');
  await store.commit({ events: [begun(), enrolled('ada')] });
  const digest = sha256(bytes);
  await store.commit({ events: [proposed()], objects: [bytes] });
  // Another process was faster: from now on this one takes the lock first.
  const other = await opened('write');
  await other.commit({ events: [proposed()] });
  await store.commit({ events: [proposed()] });
  const { size } = await store.tip();
  const holder = new Client({ connectionString: at().server.url({ database: 'keyturn' }) });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`BEGIN; SELECT FROM keyturn.tenant WHERE name = 'default' FOR UPDATE`);
  const first = proposed();
  const asked = [store.commit({ events: [first] })];
  await until(async () => (await at().sql(WAITS)).length > 0);
  asked.push(
    store.commit({ events: [proposed()] }),
    store.commit({ events: [proposed(first.subject)] }),
    store.commit({ events: [proposed(), proposed()] }),
    store.commit({ events: [erased(digest, 'ada')], erase: [digest] }),
    store.commit({ events: [proposed()] }),
  );
  await holder.query('ROLLBACK');
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(codeOf)).toEqual(['ok', 'ok', 'CLAIM_TAKEN', 'ok', 'ok', 'ok']);
  const seqs = outcomes.map((one) =>
    one.status === 'fulfilled' ? one.value.entries.map(({ seq }) => seq - size) : null,
  );
  expect(seqs).toEqual([[0], [1], null, [2, 3], [4], [5]]);
  // An erasure is a batch of its own: it waits, and so does what was asked after it.
  expect(await at().sql(TRANSACTIONS, [size])).toEqual([{ count: 3 }]);
  expect((await store.rebuild({ write: false })).differences).toEqual([]);
});
