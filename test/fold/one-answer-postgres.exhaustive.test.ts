import { describe, expect, it } from 'vitest';
import { postgres } from '../store/postgres-place.ts';
import { objectsOf, storeJudges } from './judges.ts';
import { lived } from './lived.ts';
import { onPostgres } from './on-postgres.ts';
import { expectEachRefused, expectOneAnswer } from './one-answer.ts';
import { STALE } from './stale.ts';

/** A twentieth of the ledgers of the soak, since a commit here waits for a disk. */
const COUNT = Number(process.env.KEYTURN_SOAK_LEDGERS ?? 400) / 20;
const ALL = process.env.KEYTURN_SOAK_LEDGERS !== undefined;
const at = postgres();
const judges = storeJudges(() => onPostgres(at()));
const { adopted, rebuilt } = judges;

describe('commit, copy and rebuild on PostgreSQL', () => {
  it('take a ledger that could have been written', async () => {
    const events = lived();
    for (const judge of Object.values(judges)) expect(await judge(events, objectsOf(events))).toBeNull();
  }, 60_000);

  it.each(STALE)(
    'refuse an act whose human saw something else: $kind $n, $code',
    async ({ stale, current, code }) => {
      if (current) expect(await judges.committed(current, objectsOf(current))).toBeNull();
      expect(await judges.committed(stale, objectsOf(stale))).toEqual({ seq: stale.length - 1, code });
    },
    60_000,
  );

  it(
    'give the answer of deep verification about a ledger for each kind of event and each reason of the fold',
    // Entry by entry only at full size: each entry is a commit of its own.
    () => expectEachRefused({ all: ALL }, ALL ? judges : { adopted, rebuilt }),
    3_600_000,
  );

  it(
    'give the answer of deep verification about ledgers that differ in one thing',
    () => expectOneAnswer(COUNT, judges),
    3_600_000,
  );
});
