import { expect, it } from 'vitest';
import { ordering } from '../../src/console/order.ts';
import type { QueueItem } from '../../src/console/types.ts';

const listed = (intent_id: string, reviewers: readonly string[] | null): readonly [string, QueueItem] => [
  intent_id,
  {
    intent_id,
    reviewers,
    status_word: 'waiting',
    proposer: 'bot',
    approvals: [],
    approvers: [],
    missing: 1,
    on_behalf_of: null,
    approvals_needed: 1,
    capabilities: [],
    proposed_at: `2026-01-01T00:00:0${intent_id}.000Z`,
    expires_at: '2026-01-02T00:00:00.000Z',
  } as unknown as QueueItem,
];

it('the queue tells what this person is asked to look at from what waits for others', () => {
  const queue = new Map([listed('1', ['bob']), listed('2', null), listed('3', ['ada', 'bob'])]);
  const now = Date.parse('2026-01-01T01:00:00.000Z');
  const ids = (all: readonly QueueItem[]) => all.map(({ intent_id }) => intent_id);
  const { mine, others, all } = ordering()(queue, 'ada', now);
  expect([ids(mine), ids(others), ids(all)]).toEqual([['2', '3'], ['1'], ['2', '3', '1']]);
  expect(ids(ordering()(queue, 'bob', now).others)).toEqual([]);
});
