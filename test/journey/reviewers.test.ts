import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { agent, authority, call, human, PERMITS, policy, proposeSay, rules } from './authority.ts';

const REVIEW = 'permit (principal, action == Keyturn::Action::"review", resource)';
const ROUTED = [
  PERMITS,
  policy(
    'finance',
    'review',
    `${REVIEW} when { resource.name == "say" && principal.roles.contains("finance") };`,
  ),
  policy(
    'later',
    'review',
    `${REVIEW} when { principal.roles.contains("lead") && context.waited_s >= 3600 };`,
  ),
].join('\n');

/** ada founds it; bob is of finance, carol leads, and dora audits. */
async function team() {
  const time = { ms: Date.parse('2026-03-02T10:00:00.000Z') };
  const p = await authority(() => new Date(time.ms));
  const bob = await human(p, 'bob', ['finance']);
  const carol = await human(p, 'carol', ['lead']);
  await human(p, 'dora', ['auditor', 'finance']);
  const scout = await agent(p, 'scout');
  const reviewers = async (intent_id: string) => (await p.keyturn.intents.get({ intent_id })).reviewers;
  const needed = async (needs: string) =>
    (await p.keyturn.intents.list({ needs })).intents.map(({ intent_id }) => intent_id);
  return { ...p, bob, carol, scout, time, reviewers, needed };
}

describe('who is asked to look', () => {
  it('are all who could approve, while no policy names anybody', async () => {
    const t = await team();
    const { intent_id } = await proposeSay(t, {}, t.scout);
    expect(await t.reviewers(intent_id)).toBeNull();
    expect(await t.needed('carol')).toEqual([intent_id]);
  });

  it('is one value, which the policies give: get, list, next, status and story tell the same', async () => {
    const t = await team();
    await rules(t, ROUTED);
    const { intent_id } = await proposeSay(t, {}, t.scout);
    const other = await proposeSay(t, call('wait', { seconds: 1 }), t.scout);
    expect(await t.reviewers(intent_id)).toEqual(['bob']);
    // No policy names a reviewer for this tool, and nothing that waits is hidden from all.
    expect(await t.reviewers(other.intent_id)).toBeNull();
    expect(await t.needed('bob')).toEqual([other.intent_id, intent_id]);
    expect(await t.needed('ada')).toEqual([other.intent_id]);
    expect(await t.keyturn.intents.next({ needs: 'ada' })).toEqual({ intent_id: other.intent_id, more: 0 });
    expect(await t.keyturn.intents.next({ needs: 'bob' })).toEqual({ intent_id, more: 1 });
    const { waiting } = await t.keyturn.system.status();
    expect(waiting.map(({ reviewers }) => reviewers)).toEqual([null, ['bob']]);
    expect((await t.keyturn.intents.story({ intent_id })).intent.reviewers).toEqual(['bob']);
    expect((await t.keyturn.intents.review({ intent_id })).intent.reviewers).toEqual(['bob']);
  });

  it('are more when it has waited for long; that approves nothing', async () => {
    const t = await team();
    await rules(t, ROUTED);
    const { intent_id } = await proposeSay(t, {}, t.scout);
    const proposed = new Date(t.time.ms);
    t.time.ms += 3_599_000;
    expect(await t.reviewers(intent_id)).toEqual(['bob']);
    t.time.ms += 1_000;
    expect(await t.reviewers(intent_id)).toEqual(['bob', 'carol']);
    expect(await t.keyturn.host.reviewersAdded(intent_id, proposed)).toEqual(['carol']);
    expect(await t.needed('carol')).toEqual([intent_id]);
    const { status, approvals } = await t.keyturn.intents.get({ intent_id });
    expect([status, approvals]).toEqual(['proposed', []]);
  });

  it('has no right by it: another human may decide, and one who asked or approved is not asked', async () => {
    const t = await team();
    await rules(t, ROUTED);
    const own = await proposeSay(t, {}, t.bob);
    // Only bob is of finance, and he asked for it.
    expect(await t.reviewers(own.intent_id)).toBeNull();
    const { intent_id, hash } = await proposeSay(t, {}, t.scout);
    await t.keyturn.intents.approve({ intent_id, hash, signer: t.carol });
    expect(await t.keyturn.intents.get({ intent_id })).toMatchObject({ status: 'approved', reviewers: null });
  });

  it('are all, where the policies cannot say it', async () => {
    const t = await team();
    await rules(t, `${ROUTED}\n${policy('stop', 'emergency', 'forbid (principal, action, resource);')}`);
    const { intent_id } = await proposeSay(t, {}, t.scout);
    expect(await t.reviewers(intent_id)).toBeNull();
  });

  it('is no secret of a policy that hides its scope', async () => {
    const t = await team();
    const hidden = policy('hidden', 're\\u{76}iew', 'permit (principal, action, resource);');
    await expectRefusal('POLICY_INVALID', () => rules(t, `${PERMITS}\n${hidden}`));
  });
});
