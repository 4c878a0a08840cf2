import { describe, expect, it } from 'vitest';
import { ordering } from '../../src/console/order.ts';
import { approvalOf } from '../../src/console/words.ts';
import type { Signer } from '../../src/keyturn.ts';
import { writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { AUTHORITY_TOOLS, agent, authority, human, PERMITS, policy, proposeSay, rules } from './authority.ts';

/** What the policies ask of the approvals for a capability is part of where an intent stands. */

const HOUR = 3_600_000;
const GRANT = 'forbid (principal, action == Keyturn::Action::"grant", resource)';
const two = PERMITS + policy('two', 'capability', `${GRANT} unless { context.quorums.contains("two") };`);

/** Proposed by an agent. ada founds it; bo and cy are of ops. */
async function team(text: string, quorums = 'two: { any: 2 }\n') {
  const time = { ms: Date.parse('2026-03-02T10:00:00.000Z') };
  const p = await authority(() => new Date(time.ms));
  const [bo, cy] = [await human(p, 'bo', ['ops']), await human(p, 'cy', ['ops'])];
  const scout = await agent(p, 'scout');
  await rules(p, text, quorums);
  const intent = await proposeSay(p, {}, scout);
  const sign = (signer: Signer, ttl_s = 86_400) => p.keyturn.intents.approve({ ...intent, ttl_s, signer });
  return { ...p, bo, cy, scout, time, intent, sign };
}

type Team = Awaited<ReturnType<typeof team>>;

const WORDS = ['waiting', 'approval expired', 'approved'] as const;
const PEOPLE = ['ada', 'bo', 'cy'] as const;

/** What each reader says of the intent, its proposer among them, in one shape. */
async function readings({ keyturn, intent, time }: Team) {
  const { intent_id } = intent;
  const { code } = { code: null, ...(await keyturn.intents.check(intent)) };
  const got = await keyturn.intents.get({ intent_id });
  const own = await keyturn.as({ name: 'scout' }).intents.get({ intent_id });
  const listed = (await keyturn.intents.list({})).intents[0]!;
  const status = await keyturn.system.status();
  const lists = ['waiting', 'approval_expired', 'ungranted', 'approved'] as const;
  const asked = async (filter: object) => (await keyturn.intents.list(filter)).intents.length === 1;
  const wanted: string[][] = [[], [], []];
  for (const name of PEOPLE) {
    const { mine } = ordering()(new Map([[intent_id, listed]]), name, time.ms);
    if (await asked({ needs: name })) wanted[0]!.push(name);
    if ((await keyturn.intents.next({ needs: name })).intent_id === intent_id) wanted[1]!.push(name);
    if (mine.length === 1) wanted[2]!.push(name);
  }
  return {
    code,
    words: [
      ...[got, own, listed, (await keyturn.intents.story({ intent_id })).intent],
      ...[await keyturn.intents.result({ intent_id }), (await keyturn.intents.review({ intent_id })).intent],
      ...lists.flatMap((list): readonly { status_word: string }[] => status[list]),
    ].map(({ status_word }) => status_word),
    filtered: await Promise.all(WORDS.map((status_word) => asked({ status_word }))),
    status: lists.filter((list) => status[list].length > 0),
    missing: [got.missing, own.missing, listed.missing],
    reviewers: [got.reviewers, listed.reviewers],
    console: approvalOf(listed, 'ada').why.split('.')[0],
    wanted,
  };
}

const three = (one: readonly string[]) => [one, one, one];
const waits = (missing: number, people: readonly string[], reviewers: readonly string[] | null) => ({
  code: 'APPROVAL_MISSING',
  words: Array(7).fill('waiting'),
  filtered: [true, false, false],
  status: ['waiting'],
  missing: Array(3).fill(missing),
  reviewers: [reviewers, reviewers],
  wanted: three(people),
});
const APPROVED = {
  code: 'ORDER_MISSING',
  words: Array(7).fill('approved'),
  filtered: [false, false, true],
  status: ['ungranted'],
  missing: [0, 0, 0],
  reviewers: [null, null],
};

describe('where an intent stands whose capability needs a quorum', () => {
  it('is one answer for all who tell it, until the quorum is met', async () => {
    const t = await team(two);
    const everyone = ['ada', 'bo', 'cy'];
    expect(await readings(t)).toEqual({ ...waits(2, everyone, null), console: '0 of 2 approved' });
    expect((await t.sign(t.ada)).missing).toBe(1);
    const others = ['bo', 'cy'];
    expect(await readings(t)).toEqual({ ...waits(1, others, null), console: '1 of 2 approved' });
    const { intents } = t.keyturn;
    expect((await intents.whatIf({ ...t.intent, by: 'ada', act: 'turn' })).code).toBe('POLICY_DENIED');
    expect((await intents.whatIf({ ...t.intent, by: 'bo', act: 'turn' })).code).toBeNull();
    await expectRefusal('POLICY_DENIED', () => intents.grant({ ...t.intent, signer: t.ada }));

    expect((await t.sign(t.bo)).missing).toBe(0);
    expect(await readings(t)).toMatchObject({ ...APPROVED, console: '2 of 2 approved' });
    await intents.grant({ ...t.intent, signer: t.ada });
    expect(await readings(t)).toMatchObject({ code: null, status: ['approved'], missing: [0, 0, 0] });
  });

  it('asks only those whose approval the quorum counts', async () => {
    const t = await team(two, 'two: { each: [{ any: 1 }, { any: 1, role: ops }] }\n');
    await t.sign(t.bo);
    expect(await readings(t)).toMatchObject(waits(1, ['ada', 'cy'], null));
    const named = await team(two, 'two: { any: 2, of: [ada, cy] }\n');
    await named.sign(named.ada);
    expect(await readings(named)).toMatchObject(waits(1, ['cy'], ['cy']));
    await named.sign(named.bo);
    expect(await readings(named)).toMatchObject(waits(1, ['cy'], null));
    await named.sign(named.cy);
    expect(await readings(named)).toMatchObject(APPROVED);
  });

  it('says that an approval is missing where nobody can give it', async () => {
    const t = await team(two, 'two: { any: 2, role: lead }\n');
    await t.sign(t.bo);
    expect(await readings(t)).toMatchObject(waits(2, [], []));
  });

  it('expires with an approval that the quorum counted', async () => {
    const t = await team(two);
    await t.sign(t.bo, 600);
    await t.sign(t.ada);
    expect(await readings(t)).toMatchObject(APPROVED);
    t.time.ms += HOUR;
    expect(await readings(t)).toMatchObject({
      ...{ code: 'APPROVAL_EXPIRED', filtered: [false, true, false], status: ['approval_expired'] },
      ...{ words: Array(7).fill('approval expired'), missing: [1, 1, 1], wanted: three(['bo', 'cy']) },
    });
  });

  it('asks for the fewest approvals where one of several quorums is enough', async () => {
    const either = `${GRANT} unless { context.quorums.containsAny(["all", "lead"]) };`;
    const text = PERMITS + policy('either', 'capability', either);
    const t = await team(text, 'all: { any: 3 }\nlead: { any: 1, of: [cy] }\n');
    await t.sign(t.ada);
    expect(await readings(t)).toMatchObject(waits(1, ['cy'], ['cy']));
  });

  it('asks for all of the quorums that are needed, and counts a person once', async () => {
    const text = two + policy('ops', 'capability', `${GRANT} unless { context.quorums.contains("ops") };`);
    const t = await team(text, 'two: { any: 2 }\nops: { any: 1, role: ops }\nother: { any: 3 }\n');
    expect(await readings(t)).toMatchObject(waits(2, ['ada', 'bo', 'cy'], null));
    await t.sign(t.ada);
    expect(await readings(t)).toMatchObject(waits(1, ['bo', 'cy'], null));
  });

  it.each([
    ['counts the approvals', 'context.approvals >= 2', ['bo', 'cy']],
    ['asks for a role', 'context.approver_roles.contains("ops")', ['bo', 'cy']],
    ['names a person', 'context.approvers.contains("cy")', ['cy']],
    ['is of the emergency scope', 'context.approvals >= 2', ['bo', 'cy']],
  ])('is the same where a policy %s itself', async (_, when, people) => {
    const scope = _.includes('emergency') ? 'emergency' : 'capability';
    const t = await team(PERMITS + policy('counts', scope, `${GRANT} unless { ${when} };`));
    await t.sign(t.ada);
    expect(await readings(t)).toMatchObject(waits(1, people, people.length === 2 ? null : people));
    await t.sign(t.cy);
    expect(await readings(t)).toMatchObject(APPROVED);
  });

  it('is approved where another rule denies the order, whoever approves', async () => {
    const t = await team(two + policy('never', 'capability', `${GRANT};`));
    await t.sign(t.ada);
    expect(await readings(t)).toMatchObject(APPROVED);
  });

  it('is approved as long as one human may order it without the quorum', async () => {
    const lead = `${GRANT} unless { context.quorums.contains("two") || principal.name == "cy" };`;
    const t = await team(PERMITS + policy('lead', 'capability', lead));
    await t.sign(t.ada);
    expect(await readings(t)).toMatchObject(APPROVED);
  });
});

it('a tool that may write a protected file needs two people by the policies that are shipped', async () => {
  const p = await authority();
  const [bo, cy] = [await human(p, 'bo'), await human(p, 'cy')];
  writeRegistry(
    p.root,
    `${AUTHORITY_TOOLS}  - { name: build, summary: Builds., executable: /usr/bin/true, sandbox: { write: ["."] }, undo: none }\n`,
  );
  const { intents } = p.keyturn;
  const call = { effect: { kind: 'tool', tool: 'build', arguments: {} } };
  const [intent, harmless] = [await proposeSay(p, call, cy), await proposeSay(p, {}, cy)];
  for (const one of [intent, harmless]) await intents.approve({ ...one, signer: p.ada });
  const missing = async ({ intent_id }: { intent_id: string }) => (await intents.get({ intent_id })).missing;
  expect([await missing(intent), await missing(harmless)]).toEqual([1, 0]);
  await intents.approve({ ...intent, signer: bo });
  expect(await missing(intent)).toBe(0);
});

it('a page of intents that each ask the policies another question is more than one turn of the event loop', async () => {
  const asks = `${GRANT} when { context.goal != "none" } unless { context.quorums.contains("two") };`;
  const t = await team(PERMITS + policy('asks', 'capability', asks));
  for (let n = 0; n < 50; n++) await proposeSay(t, { declared_goal: `Goal ${n}` }, t.scout);
  // What is loaded at the first use takes turns of its own.
  await t.keyturn.intents.list({ limit: 1 });
  let turns = 0;
  const count = () => {
    turns += 1;
    waiting = setImmediate(count);
  };
  let waiting = setImmediate(count);
  const { intents } = await t.keyturn.intents.list({ limit: 50 });
  clearImmediate(waiting);
  expect(intents).toHaveLength(50);
  expect(turns).toBeGreaterThan(0);
});
