import { describe, expect, it } from 'vitest';
import {
  authority,
  call,
  human,
  type Intent,
  kinds,
  PERMITS,
  policy,
  proposeSay,
  rules,
  yes,
} from '../journey/authority.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

/** A capability that two of three had to agree to, in the form of the shipped example, and one of the two is revoked. */
async function quorumLost(
  over: object = {},
): Promise<{ p: Project; intent: Intent; lose: () => Promise<unknown> }> {
  const p = await authority();
  const [bob, eve] = [await human(p, 'bob'), await human(p, 'eve')];
  const two = policy(
    'two-for-production',
    'capability',
    'forbid (principal, action == Keyturn::Action::"grant", resource) unless { context.quorums.contains("two") };',
  );
  await rules(p, PERMITS + two, 'two: { any: 2, of: [ada, bob, eve] }\n');
  const intent = await proposeSay(p, { issuer: 'eve', ...over });
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  await p.keyturn.intents.approve({ ...intent, signer: bob });
  await p.keyturn.intents.grant({ ...intent, signer: p.ada });
  return { p, intent, lose: () => p.keyturn.people.revoke({ name: 'bob', reason: 'stolen', signer: eve }) };
}

const claimed = async (p: Project, { intent_id }: Intent) =>
  (await kinds(p, intent_id)).includes('execution.claimed');

describe('S7: what a capability counted still holds when it is used', () => {
  it('S7: check says no when one of the two approvers was revoked', async () => {
    const { p, intent, lose } = await quorumLost();
    await lose();
    expect(await p.keyturn.intents.check({ intent_id: intent.intent_id, hash: intent.hash })).toMatchObject({
      eligible: false,
      code: 'APPROVER_REVOKED',
    });
  });

  it('S7: run says no when one of the two approvers was revoked', async () => {
    const { p, intent, lose } = await quorumLost();
    await lose();
    await expectRefusal('APPROVER_REVOKED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(await claimed(p, intent)).toBe(false);
  });

  it('S7: the claim says no when one of them is revoked between the question and the y', async () => {
    const { p, intent, lose } = await quorumLost();
    const confirm = async () => Boolean(await lose()) || true;
    await expectRefusal('APPROVER_REVOKED', () => runSeen(p.keyturn, { ...intent, confirm }));
    expect(await claimed(p, intent)).toBe(false);
  });

  it('S7: a run is stopped when one of them is revoked while it goes on', async () => {
    const { p, intent, lose } = await quorumLost(call('wait', { seconds: 1 }));
    const running = runSeen(p.keyturn, { ...intent, confirm: yes });
    while ((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status !== 'claimed')
      await new Promise(setImmediate);
    await lose();
    expect(await running).toMatchObject({ result: 'partial', reason_code: 'APPROVER_REVOKED' });
  });
});
