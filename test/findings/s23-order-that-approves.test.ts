import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Digest } from '../../src/canonical/digest.ts';
import type { Event } from '../../src/event/event.ts';
import { type OpenKey, type Signer, signAct } from '../../src/identity/act.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import {
  agent,
  authority,
  human,
  type Intent,
  PERMITS,
  policy,
  proposeSay,
  rules,
} from '../journey/authority.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { decidedIn } from '../support/signed.ts';

const NOT_BO =
  'forbid (principal, action == Keyturn::Action::"approve", resource) when { principal.name == "bo" };';

/** An order that approves or not, as the signer's own key signs it, with any decision beside it. */
async function orderSaying(
  p: Project,
  { intent_id, hash }: Intent,
  signer: Signer,
  { approves, decision }: { readonly approves: boolean; readonly decision: Digest | null },
): Promise<Event<'order.given'>> {
  const { effect_digest, attempt, proposed_at } = await p.keyturn.intents.get({ intent_id });
  const { origin } = await p.keyturn.system.get();
  const expires_at = new Date(Date.parse(proposed_at) + 600_000).toISOString();
  const facts = {
    order_id: randomUUID(),
    attempt,
    hash,
    effect_digest,
    action: 'tool:say',
    bounds: null,
    audience: `${origin}/here`,
    holder: null,
    expires_at,
    lapses_at: expires_at,
    approves_until: approves ? expires_at : null,
    delegation: null,
    account: null,
    approvers: [{ name: approves ? signer.name : 'ada', roles: [] }],
    decision,
  };
  return decidedIn(p, await signAct(origin, 'order.given', intent_id, facts, signer, new Date()));
}

/** Past the verbs, as a program with a key and the store does, which brings the decision that the store has. */
async function commitIn({ keyturn }: Project, event: Event<'order.given'>): Promise<void> {
  const path = keyturn.layout.store;
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
  try {
    const { decision } = event.body;
    await store.commit({ events: [event], objects: decision ? [await store.object(decision)] : [] });
  } finally {
    await store.close();
  }
}

const BY_PLANNER = { issuer: 'planner' };

/** bo may order, and not approve. */
async function withoutBo(): Promise<{ readonly p: Project; readonly bo: OpenKey }> {
  const p = await authority();
  const bo = await human(p, 'bo');
  await agent(p, 'planner');
  await rules(p, PERMITS + policy('not-bo', 'intent', NOT_BO));
  return { p, bo };
}

describe('S23: an order that approves', () => {
  it('S23: is not committed without the decision that its human may approve', async () => {
    const { p, bo } = await withoutBo();
    const intent = await proposeSay(p, BY_PLANNER);
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.turn({ ...intent, signer: bo }));
    const order = await orderSaying(p, intent, bo, { approves: true, decision: null });
    await expectRefusal('DECISION_MISSING', () => commitIn(p, order));
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('proposed');
  });

  it('one that only orders names no decision about an approval', async () => {
    const { p } = await withoutBo();
    const intent = await proposeSay(p, BY_PLANNER);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    const { decision } = (await entriesAbout(p.keyturn, intent.intent_id)).at(-1)!.body;
    const order = await orderSaying(p, intent, p.ada, { approves: false, decision: decision as Digest });
    await expectRefusal('DECISION_MISSING', () => commitIn(p, order));
    await commitIn(p, await orderSaying(p, intent, p.ada, { approves: false, decision: null }));
  });
});
