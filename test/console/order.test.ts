import { expect, it } from 'vitest';
import { dockStateOf } from '../../src/console/dock-state.ts';
import { hasLapsed, ordering } from '../../src/console/order.ts';
import type { QueueItem } from '../../src/console/types.ts';
import { agent, authority, human, proposeSay } from '../journey/authority.ts';

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
    ordered_until: null,
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

/** Turned by ada, in a project whose clock the test moves; what the service lists, and what the console makes of it. */
async function turned() {
  const time = { ms: Date.parse('2026-03-02T10:00:00.000Z') };
  const p = await authority(() => new Date(time.ms));
  const { intents } = p.keyturn;
  const intent = await proposeSay(p, { issuer: (await agent(p, 'scout')).name });
  await intents.turn({ ...intent, signer: p.ada });
  const listed = async () => (await intents.list({})).intents[0]!;
  const inQueue = ordering();
  const drawn = (one: QueueItem) => ({
    queue: inQueue(new Map([[one.intent_id, one]]), 'ada', time.ms).mine.length,
    dock: dockStateOf({ ...DOCK, intent: one, now: time.ms }),
  });
  return { ...p, time, intent, listed, drawn };
}

const MAY = { code: 'POLICY_DENIED', words: null, advice: null, approves: false };
const DOCK = {
  looked: { honest: true },
  ...{ stale: false, live: { state: 'live' as const }, unopened: [] },
  ...{ may: { turn: MAY, approve: { ...MAY, code: null } }, has_passkey: true, can_passkey: true },
} as unknown as Omit<Parameters<typeof dockStateOf>[0], 'intent' | 'now'>;
const ORDERED = { queue: 0, dock: { kind: 'ended', word: 'ordered' } };
const ASKS = { queue: 1, dock: { kind: 'approve' } };

it('what was ordered is in the queue again once its order has lapsed, as check says', async () => {
  const t = await turned();
  const before = await t.listed();
  expect(t.drawn(before)).toMatchObject(ORDERED);
  expect(hasLapsed(before, t.time.ms)).toBe(false);
  t.time.ms = Date.parse(before.ordered_until!);
  expect(await t.keyturn.intents.check(t.intent)).toMatchObject({ code: 'ORDER_LAPSED' });
  expect((await t.keyturn.system.status()).ungranted).toMatchObject([{ code: 'ORDER_LAPSED' }]);
  // Of what was listed before, too: no entry tells that an order lapsed.
  expect(t.drawn(before)).toMatchObject(ASKS);
  expect(hasLapsed(before, t.time.ms)).toBe(true);
  const after = await t.listed();
  expect(after.ordered_until).toBeNull();
  expect(t.drawn(after)).toMatchObject(ASKS);
});

it('what was issued at once is ordered until it expires, as check says', async () => {
  const t = await turned();
  await t.keyturn.runs.revokeCapability({
    capability_id: (await t.listed()).capabilities[0]!.capability_id,
    ...{ reason: 'for elsewhere', signer: t.ada },
  });
  expect(t.drawn(await t.listed())).toMatchObject(ASKS);
  await t.keyturn.intents.grant({ ...t.intent, signer: t.ada, is_issued: true });
  const issued = (await t.listed()).capabilities.at(-1)!;
  t.time.ms = Date.parse(issued.lapses_at) + 1000;
  expect(Date.parse(issued.expires_at)).toBeGreaterThan(t.time.ms);
  expect(await t.keyturn.intents.check(t.intent)).toMatchObject({ eligible: true });
  expect(t.drawn(await t.listed())).toMatchObject(ORDERED);
  t.time.ms = Date.parse(issued.expires_at);
  expect(t.drawn(await t.listed())).toMatchObject(ASKS);
});

it('an order by a human who was revoked is none', async () => {
  const t = await turned();
  const bob = await human(t, 'bob');
  await t.keyturn.intents.grant({ ...t.intent, signer: bob });
  expect(t.drawn(await t.listed())).toMatchObject(ORDERED);
  await t.keyturn.people.revoke({ name: 'bob', reason: 'left', signer: t.ada });
  expect(await t.keyturn.intents.check(t.intent)).toMatchObject({ code: 'CAPABILITY_REVOKED' });
  expect(t.drawn(await t.listed())).toMatchObject(ASKS);
  expect((await t.keyturn.intents.get({ intent_id: t.intent.intent_id })).ordered_until).toBeNull();
});
