import { describe, expect, it } from 'vitest';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agent, authority, human, lastBody, PERMITS, policy, proposeSay, rules } from './authority.ts';

/** What an attacker who may call everything tried, and what stops it now. */

async function delegated(p: Project, delegate: string, over: object = {}): Promise<string> {
  const given = { delegate, actions: ['tool:*'], ttl_s: 86_400, approves: true, reason: 'x', signer: p.ada };
  return (await p.keyturn.agents.delegate({ ...given, ...over })).delegation_id;
}

describe('an agent that is frozen', () => {
  it('does not go on under the name of another proposer', async () => {
    const p = await authority();
    const robot = await agent(p, 'robot');
    await agent(p, 'other');
    const delegation = await delegated(p, 'robot');
    await p.keyturn.system.freeze({ scope: 'agent', name: 'robot', reason: 'it misbehaves', signer: p.ada });
    const intent = await proposeSay(p, { issuer: 'other' });
    await p.keyturn.intents.submit({ ...intent, signer: robot, delegation });
    await expectRefusal('FROZEN', () => p.keyturn.intents.grant({ ...intent, signer: robot, delegation }));
  });
});

describe('approval by delegation', () => {
  it('is no way to approve what one proposed oneself', async () => {
    const p = await authority();
    await human(p, 'bob');
    const robot = await agent(p, 'robot');
    const delegation = await delegated(p, 'robot');
    const intent = await proposeSay(p, { issuer: 'ada' });
    await expectRefusal('SELF_APPROVAL', () =>
      p.keyturn.intents.submit({ ...intent, signer: robot, delegation }),
    );
    expect(await lastBody(p, intent.intent_id)).toMatchObject({ reason_code: 'SELF_APPROVAL' });
  });

  it('never makes one human count as two', async () => {
    const p = await authority();
    const bob = await human(p, 'bob');
    await agent(p, 'scout');
    const two = 'forbid (principal, action, resource) unless { context.approvals >= 2 };';
    await rules(p, PERMITS + policy('two', 'capability', two));
    const delegation = await delegated(p, 'bob');
    const intent = await proposeSay(p, { issuer: 'scout' });
    await p.keyturn.intents.submit({ ...intent, signer: bob, delegation });
    await p.keyturn.intents.approve({ ...intent, signer: bob });
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.grant({ ...intent, signer: bob }));
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.grant({ ...intent, signer: bob });
  });
});
