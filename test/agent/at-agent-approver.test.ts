import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../src/agent/access.ts';
import type { AwaitsApprover } from '../../src/agent/answer-shape.ts';
import type { Signer } from '../../src/identity/act.ts';
import { parseDraft } from '../../src/intent/envelope.ts';
import { propose } from '../../src/journey/propose.ts';
import { submit } from '../../src/journey/submit.ts';
import type { PolicyRequest } from '../../src/policy/request.ts';
import { ANY, asking, engineOf, rule } from '../policy/questions.ts';
import { freshSigner } from '../support/keys.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, elsewhere, words, yes } from './agent-place.ts';
import { asCore, intentIdFor, yesAndBreak } from './by-hand.ts';

/** A yes is the consent of the user who asks. What is risky, or what a policy says so about, needs an approver as well. */

const place = agentPlace();

async function awaited(utterance: string, user_id = 'ada'): Promise<AwaitsApprover> {
  const { keyturn } = place();
  const answer = await yes(keyturn, await askedFor(keyturn, utterance, user_id), user_id);
  if (answer.kind !== 'AWAITS_APPROVER') throw new Error(`expected to wait, got ${JSON.stringify(answer)}`);
  return answer;
}

/** ada acts where she asks; others in accounts of their own. */
const approve = ({ intent_id, hash }: AwaitsApprover, signer: Signer) => {
  const act = { intent_id, hash, signer };
  const { keyturn, root } = place();
  return signer.name === 'ada'
    ? keyturn.intents.approve(act)
    : elsewhere(root, (other) => other.intents.approve(act));
};

describe('HIGH risk', () => {
  it('waits for an approver after the yes, and runs when one signed the effect', async () => {
    const { keyturn, ada, written } = place();
    const waiting = await awaited('wipe the whole archive "high one"');
    expect(waiting.reason_code).toBe('ACCESS_AP_REQUIRED');
    expect((await keyturn.intents.get({ intent_id: waiting.intent_id })).status).toBe('proposed');
    expect(await keyturn.conversations.resume({ correlation_id: waiting.correlation_id })).toMatchObject({
      kind: 'AWAITS_APPROVER',
    });
    expect(await keyturn.conversations.status({ correlation_id: waiting.correlation_id })).toMatchObject({
      status: 'PAUSED',
      next: { act: 'approve', intent_id: waiting.intent_id },
    });
    expect(written()).not.toContain('! high one');

    await approve(waiting, ada);
    const done = await keyturn.conversations.resume({ correlation_id: waiting.correlation_id });
    expect(done).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(written().filter((line) => line === '! high one')).toHaveLength(1);
    expect(await keyturn.conversations.resume({ correlation_id: waiting.correlation_id })).toMatchObject({
      kind: 'OUTCOME',
      is_duplicate: true,
    });
    const { decisions } = await keyturn.conversations.replay({ correlation_id: waiting.correlation_id });
    expect(decisions.map(({ reason_code }) => reason_code)).toEqual([
      'ACCESS_AP_REQUIRED',
      'STEP_DISPATCHED',
    ]);
  });

  it('uses the capability that the approver granted', async () => {
    const { keyturn, ada } = place();
    const waiting = await awaited('wipe the whole archive "high two"');
    const { intent_id, hash } = waiting;
    await approve(waiting, ada);
    await keyturn.intents.grant({ intent_id, hash, signer: ada, action: 'tool:note' });
    expect((await keyturn.conversations.resume({ correlation_id: waiting.correlation_id })).kind).toBe(
      'OUTCOME',
    );
    expect((await keyturn.intents.get({ intent_id })).capabilities).toMatchObject([
      { by: 'ada', status: 'spent' },
    ]);
  });

  it('is over when the approver says no', async () => {
    const { keyturn, ada, written } = place();
    const waiting = await awaited('wipe the whole archive "high three"');
    const { intent_id, hash } = waiting;
    await keyturn.intents.reject({ intent_id, hash, reason: 'No.', signer: ada });
    const over = await keyturn.conversations.resume({ correlation_id: waiting.correlation_id });
    expect(over).toMatchObject({ kind: 'REFUSED', reason_code: 'INTENT_REJECTED' });
    expect(written()).not.toContain('! high three');
  });

  it('can be called off by the user while it waits', async () => {
    const { keyturn, ada, written } = place();
    const waiting = await awaited('wipe the whole archive "high four"');
    const off = await words(keyturn, waiting, 'no');
    expect(off).toMatchObject({ kind: 'CANCELLED', reason_code: 'CONFIRM_DECLINED' });
    await approve(waiting, ada);
    expect((await keyturn.conversations.resume({ correlation_id: waiting.correlation_id })).kind).toBe(
      'CANCELLED',
    );
    expect(written()).not.toContain('! high four');
  });
});

describe('the outcome of a decision about access', () => {
  const risky = (over: object): PolicyRequest => {
    const request = asking('access');
    return { ...request, resource: { ...request.resource, ...over } as PolicyRequest['resource'] };
  };

  it.each([
    ['LOW', {}, 'ALLOW'],
    ['MEDIUM', { risk: 'MEDIUM' }, 'ALLOW'],
    ['HIGH', { risk: 'HIGH' }, 'AP_REQUIRED'],
    ['LOW and irreversible', { irreversible: true }, 'AP_REQUIRED'],
  ])('is fixed for %s, though the policies permit everything', async (_, over, outcome) => {
    const engine = await engineOf(rule('all', 'intent', `permit ${ANY};`));
    const request = risky(over);
    expect(outcomeOf(engine, request, engine.decide(request))).toBe(outcome);
  });

  it.each(['revoked', 'agent'])(
    'is a denial for a name that is %s, though the policies permit everybody',
    async (role) => {
      const engine = await engineOf(rule('all', 'intent', `permit ${ANY};`));
      const outcome = (roles: string[]) => {
        const request = asking('access', {}, { kind: 'user', roles });
        return outcomeOf(engine, request, engine.decide(request));
      };
      expect([outcome([]), outcome([role])]).toEqual(['ALLOW', 'DENY']);
    },
  );
});

describe('a user who is the only human that can act', () => {
  /** The user approves what they asked for, which no other human could. */
  async function replayed(utterance: string): Promise<number> {
    const { keyturn, ada } = place();
    const waiting = await awaited(utterance);
    const { correlation_id } = waiting;
    await approve(waiting, ada);
    expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('OUTCOME');
    return (await keyturn.conversations.replay({ correlation_id })).decisions.length;
  }

  it('is replayed as that beside an auditor, and beside a human without a credential', async () => {
    const { keyturn, ada } = place();
    const [eve, di] = [freshSigner('eve'), freshSigner('di')];
    const people = { principal: 'human', signer: ada } as const;
    await keyturn.people.enrol({ ...people, name: 'eve', public_key: eve.public_key, roles: ['auditor'] });
    expect(await replayed('wipe the whole archive "beside an auditor"')).toBe(2);
    await keyturn.people.enrol({ ...people, name: 'di', public_key: di.public_key });
    await keyturn.people.revokeCredential({
      name: 'di',
      public_key: di.public_key,
      reason: 'lost',
      signer: ada,
    });
    expect(await replayed('wipe the whole archive "beside a lost key"')).toBe(2);
    await keyturn.people.revoke({ name: 'di', reason: 'A test.', signer: ada });
  });
});

describe('with a second human', () => {
  const bo = freshSigner('bo');

  it('nobody approves what they asked for themselves', async () => {
    const { keyturn, ada, written } = place();
    await keyturn.people.enrol({ name: 'bo', principal: 'human', public_key: bo.public_key, signer: ada });
    const waiting = await awaited('wipe the whole archive "high five"');
    await expectRefusal('SELF_APPROVAL', () => approve(waiting, ada));
    expect((await keyturn.conversations.resume({ correlation_id: waiting.correlation_id })).kind).toBe(
      'AWAITS_APPROVER',
    );
    expect(written()).not.toContain('! high five');
    await approve(waiting, bo);
    expect((await keyturn.conversations.resume({ correlation_id: waiting.correlation_id })).kind).toBe(
      'OUTCOME',
    );
    expect(written()).toContain('! high five');
  });

  it('a policy can ask for an approver, and the delegation does not stand in for one', async () => {
    const { keyturn, ada, root, written } = place();
    const half = await approvedOnly();
    const path = join(root, 'policies', 'more.cedar');
    writeFileSync(
      path,
      `@id("two-eyes") @version("1") @scope("intent") @needs("approver") @rationale("Strikes are looked at.")
forbid (principal, action == Keyturn::Action::"access", resource) when { resource.name == "note.remove" };
`,
    );
    await keyturn.policies.activate({ reason: 'A test.', signer: ada });
    expect((await keyturn.conversations.resume({ correlation_id: half.correlation_id })).kind).toBe(
      'AWAITS_APPROVER',
    );
    const waiting = await awaited('strike out some earlier writing "milk"');
    expect((await keyturn.intents.get({ intent_id: waiting.intent_id })).approvals).toEqual([]);
    expect(written()).not.toContain('~ milk');
    await approve(waiting, bo);
    expect((await keyturn.conversations.resume({ correlation_id: waiting.correlation_id })).kind).toBe(
      'OUTCOME',
    );
    expect(written()).toContain('~ milk');
  });
});

/** An intent that the delegation approved and no process dispatched, as older versions could leave it behind. */
async function approvedOnly() {
  const { keyturn, root } = place();
  const prompt = await askedFor(keyturn, 'strike out some earlier writing "half"');
  let status = '';
  for (let at = 1; status !== 'READY'; at += 1) {
    await yesAndBreak(root, prompt, at);
    status = (await keyturn.conversations.status({ correlation_id: prompt.correlation_id })).plans[0]!
      .steps[0]!.state;
  }
  const intent_id = await intentIdFor(keyturn, prompt);
  await asCore(root, async (context, signer) => {
    const draft = {
      intent_id,
      issuer: 'agent-core',
      declared_goal: 'Strike out',
      requested_actions: ['tool:note', 'simulation:note.remove@1'],
      effect: { kind: 'tool' as const, tool: 'note', arguments: { text: '~ half' } },
    };
    const { hash } = await propose(context, parseDraft(draft), signer, 'ada');
    const delegation = (await context.store.find('simulation', 'note.remove'))!.own_delegation!;
    await submit(context, { intent_id, hash, signer, delegation });
  });
  expect((await keyturn.intents.get({ intent_id })).status).toBe('approved');
  return prompt;
}
