import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AwaitsApprover } from '../../src/agent/answer-shape.ts';
import { askedBy } from '../../src/cli/screen.ts';
import { FoldedLedger } from '../../src/fold/ledger.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { isOwnDelegated, isOwnRequest } from '../../src/gate/signers.ts';
import { type Signer, signAct } from '../../src/identity/act.ts';
import type { Keyturn } from '../../src/keyturn.ts';
import { entrySentence } from '../../src/story/words.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout, objectOf, sizeOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { decidedIn } from '../support/signed.ts';
import { agentPlace, askedFor, elsewhere, yes } from './agent-place.ts';

/** The attacker is the requester: whatever goes through the agent core has a user who asked for it. */

const place = agentPlace();

const humans = new Map<string, Signer>();

async function second(keyturn: Keyturn, ada: Signer, name = 'bob'): Promise<Signer> {
  const known = humans.get(name);
  if (known) return known;
  const signer = freshSigner(name);
  await keyturn.people.enrol({ name, principal: 'human', public_key: signer.public_key, signer: ada });
  humans.set(name, signer);
  return signer;
}

async function awaited(keyturn: Keyturn, words: string, user_id: string): Promise<AwaitsApprover> {
  const answer = await yes(keyturn, await askedFor(keyturn, words, user_id), user_id);
  if (answer.kind !== 'AWAITS_APPROVER') throw new Error(JSON.stringify(answer));
  return answer;
}

describe('a human who asks the agent core', () => {
  it('approves what they asked for while they are alone', async () => {
    const { keyturn, ada, written } = place();
    const { intent_id, hash, correlation_id } = await awaited(
      keyturn,
      'wipe the whole archive "alone"',
      'ada',
    );
    await keyturn.intents.approve({ intent_id, hash, signer: ada });
    expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('OUTCOME');
    expect(written()).toContain('! alone');
    // The policies are told.
    const issued = (await entriesAbout(keyturn, intent_id)).find(({ kind }) => kind === 'capability.issued');
    const { decision } = issued!.body as { decision: string };
    const { request } = JSON.parse(Buffer.from(await objectOf(keyturn, decision)).toString());
    expect(request.context).toMatchObject({ proposer: 'agent-core', self_approved: true });
  });

  it('from the second human on neither approves it nor has it run; another human does', async () => {
    const { keyturn, ada, root, written } = place();
    const bob = await second(keyturn, ada);
    const { intent_id, hash, correlation_id } = await awaited(
      keyturn,
      'wipe the whole archive "mine"',
      'bob',
    );
    expect(await keyturn.intents.get({ intent_id })).toMatchObject({
      proposer: 'agent-core',
      on_behalf_of: 'bob',
    });
    const { envelope } = await keyturn.intents.review({ intent_id });
    expect(envelope).toMatchObject({ issuer: 'agent-core', on_behalf_of: 'bob' as never });
    const act = { intent_id, hash, signer: bob };
    await expectRefusal('SELF_APPROVAL', () => keyturn.intents.approve(act));
    await expectRefusal('APPROVAL_MISSING', () => keyturn.intents.grant({ ...act, action: 'tool:note' }));
    await expectRefusal('APPROVAL_MISSING', () =>
      runSeen(keyturn, { intent_id, hash, confirm: async () => true }),
    );
    expect(written()).not.toContain('! mine');
    const asked_here = await expectRefusal('POLICY_DENIED', () =>
      keyturn.intents.approve({ ...act, signer: ada }),
    );
    expect(asked_here.facts.policies).toBe('no-self-approval');
    await elsewhere(root, (other) => other.intents.approve({ ...act, signer: ada }));
    expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('OUTCOME');
    expect(written()).toContain('! mine');
    expect((await keyturn.ledger.verify({ deep: true })).size).toBe(await sizeOf(keyturn));
  });

  it('cannot hand the approval to an agent of theirs', async () => {
    const { keyturn, ada } = place();
    const bob = await second(keyturn, ada);
    const robot = freshSigner('robot');
    await keyturn.people.enrol({
      name: 'robot',
      principal: 'agent',
      public_key: robot.public_key,
      signer: bob,
    });
    const { delegation_id: delegation } = await keyturn.agents.delegate({
      delegate: 'robot',
      ttl_s: 3600,
      actions: ['tool:*', 'simulation:*'],
      approves: true,
      reason: 'A test.',
      signer: bob,
    });
    const { intent_id, hash } = await awaited(keyturn, 'wipe the whole archive "by robot"', 'bob');
    await expectRefusal('SELF_APPROVAL', () =>
      keyturn.intents.submit({ intent_id, hash, signer: robot, delegation }),
    );
    expect((await keyturn.intents.get({ intent_id })).approvals).toEqual([]);
  });

  it('may have what they activated themselves, as everybody may', async () => {
    const { keyturn, ada, written } = place();
    await second(keyturn, ada);
    const done = await yes(keyturn, await askedFor(keyturn, 'append a notebook line "own"'));
    expect(done.kind).toBe('OUTCOME');
    expect(written()).toContain('+ own');
  });

  it('is found by a deep verification, when whoever holds the disk wrote the approval', async () => {
    const { keyturn, ada } = place();
    const bob = await second(keyturn, ada);
    const { intent_id, hash } = await awaited(keyturn, 'wipe the whole archive "forged"', 'bob');
    const { effect_digest } = await keyturn.intents.get({ intent_id });
    const stories = ['system', 'ada', 'bob', 'agent-core', intent_id].map((one) =>
      entriesAbout(keyturn, one),
    );
    const before = (await Promise.all(stories)).flat().filter(({ kind }) => kind !== 'intent.delegated');
    const approvedBy = async (signer: Signer) => {
      const folded = new FoldedLedger({ is_whole: false });
      for (const entry of before.toSorted((a, b) => a.seq - b.seq)) folded.take(entry);
      const decision = 'dc'.repeat(32);
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      const facts = { hash, effect_digest, expires_at, account: null, decision };
      const at = new Date(before.at(-1)!.at);
      const act = await signAct(folded.origin, 'approval.granted', intent_id, facts, signer, at);
      const forged = await decidedIn({ keyturn }, act);
      folded.take({ ...before.at(-1)!, claims: [...claimsOf(forged)], ...forged });
    };
    await expectRefusal('SELF_APPROVAL', () => approvedBy(bob));
    await approvedBy(ada);
  });
});

describe('whoever reads', () => {
  it('is shown for whom the agent core asks', async () => {
    const { keyturn, ada } = place();
    await second(keyturn, ada);
    const { intent_id } = await awaited(keyturn, 'wipe the whole archive "shown"', 'bob');
    const asked = 'agent-core (agent, signed with its key), asked for by bob';
    expect(askedBy(await keyturn.intents.get({ intent_id }))).toContain(`${asked}, from the account `);
    const [proposed] = await entriesAbout(keyturn, intent_id);
    expect(entrySentence(proposed!)).toContain('asked for by bob');
  });
});

describe('whom something is asked for', () => {
  const draft = {
    issuer: 'ada',
    declared_goal: 'Say a word',
    effect: { kind: 'tool' as const, tool: 'say', arguments: { word: 'x' } },
  };

  it('is for the agent core to say, and for nobody else', async () => {
    const { keyturn } = place();
    const asked = () =>
      keyturn.intents.propose({ ...draft, intent_id: randomUUID(), on_behalf_of: 'bob' as never });
    await expectRefusal('SHAPE_INVALID', asked);
    const { intent_id } = await keyturn.intents.propose({ ...draft, on_behalf_of: null });
    expect((await keyturn.intents.get({ intent_id })).on_behalf_of).toBeNull();
  });

  it('counts as the proposer, but for what a proposer submits under its own delegation', () => {
    const asked = { proposer: 'agent-core', on_behalf_of: 'bob' };
    expect(['bob', 'agent-core', 'ada'].map((one) => isOwnRequest(asked, one))).toEqual([true, true, false]);
    expect(isOwnDelegated(asked, 'bob', 'robot')).toBe(true);
    expect(isOwnDelegated(asked, 'ada', 'robot')).toBe(false);
    expect(isOwnDelegated(asked, 'bob', 'agent-core')).toBe(false);
    expect(isOwnDelegated({ proposer: 'ada', on_behalf_of: null }, 'ada', 'robot')).toBe(true);
  });
});
