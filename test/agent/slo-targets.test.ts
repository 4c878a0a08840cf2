import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace } from './agent-place.ts';

/**
 * The four targets of 003 section 14.2, each at its limit and one step beyond. A day of dispatches is made of one that
 * really happened: its row, again and again, with other figures.
 */

const DAY_MS = 86_400_000;
let now = Date.parse('2026-03-02T12:00:00.000Z');
const place = agentPlace(() => new Date(now));

interface Day {
  readonly dispatch_ms?: number;
  readonly to_state?: 'SUCCEEDED' | 'FAILED_RETRYABLE';
  readonly idempotency_key?: string;
}

let inserted = 0;

/** Rows are never changed and never deleted; an attacker who can write to the file can add some. */
function add(count: number, over: Day = {}): void {
  const database = new DatabaseSync(join(place().root, '.keyturn', 'store.db'));
  const real = database
    .prepare("SELECT * FROM agent_execution_ledger WHERE from_state = 'EXECUTING' ORDER BY seq LIMIT 1")
    .get() as Record<string, string | number | null>;
  const columns = Object.keys(real);
  const insert = database.prepare(
    `INSERT INTO agent_execution_ledger (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
  );
  for (let i = 0; i < count; i += 1) {
    inserted += 1;
    const row: Record<string, string | number | null> = {
      ...real,
      seq: 1_000_000 + inserted,
      created_at: new Date(now - 1000).toISOString(),
      idempotency_key: `key ${inserted}`,
      execution_id: `execution ${inserted}`,
      dispatch_ms: 10,
      ...over,
    };
    insert.run(...columns.map((name) => row[name] ?? null));
  }
  database.close();
}

const breached = async () => {
  const { figures } = await place().keyturn.conversations.slo();
  return figures.filter(({ is_breached }) => is_breached).map(({ figure }) => figure);
};

/** Refused, for this figure and for no other. */
async function expectBreach(figure: string): Promise<void> {
  const { message } = await expectRefusal('SLO_BREACHED', () => place().keyturn.conversations.requireSlo());
  expect(message).toContain(figure);
  expect(await breached()).toEqual([figure]);
}

describe('the targets of a release', () => {
  beforeEach(async () => {
    if (inserted === 0)
      await place().keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    // Nothing of the day before counts.
    now += 2 * DAY_MS;
  });

  it('are the four numbers of the specification', async () => {
    const { figures } = await place().keyturn.conversations.slo();
    expect(Object.fromEntries(figures.map(({ figure, target }) => [figure, target]))).toEqual({
      agent_dispatch_p95_ms: 1200,
      agent_dispatch_p99_ms: 2500,
      execution_error_rate: 0.005,
      idempotency_duplicate_side_effect_rate: 0,
    });
  });

  it('agent_dispatch_p95_ms: 1200 is within, 1201 is not', async () => {
    add(20);
    add(2, { dispatch_ms: 1200 });
    expect((await place().keyturn.conversations.requireSlo()).is_blocked).toBe(false);
    now += 2 * DAY_MS;
    add(20);
    add(2, { dispatch_ms: 1201 });
    await expectBreach('agent_dispatch_p95_ms');
  });

  it('agent_dispatch_p99_ms: 2500 is within, 2501 is not', async () => {
    add(20);
    add(1, { dispatch_ms: 2500 });
    expect((await place().keyturn.conversations.requireSlo()).is_blocked).toBe(false);
    now += 2 * DAY_MS;
    add(20);
    add(1, { dispatch_ms: 2501 });
    await expectBreach('agent_dispatch_p99_ms');
  });

  it('execution_error_rate: one in 200 is within, one in 199 is not', async () => {
    add(199);
    add(1, { to_state: 'FAILED_RETRYABLE' });
    expect((await place().keyturn.conversations.requireSlo()).is_blocked).toBe(false);
    now += 2 * DAY_MS;
    add(198);
    add(1, { to_state: 'FAILED_RETRYABLE' });
    await expectBreach('execution_error_rate');
  });

  it('idempotency_duplicate_side_effect_rate: one among very many is one too many', async () => {
    add(1000);
    expect((await place().keyturn.conversations.requireSlo()).is_blocked).toBe(false);
    add(2, { idempotency_key: 'the same' });
    await expectBreach('idempotency_duplicate_side_effect_rate');
  });

  it('count 24 hours, and neither more nor less', async () => {
    add(1, { dispatch_ms: 9000 });
    now += DAY_MS - 2000;
    expect((await place().keyturn.conversations.slo()).is_blocked).toBe(true);
    now += 4000;
    add(1);
    expect((await place().keyturn.conversations.slo()).is_blocked).toBe(false);
  });
});
