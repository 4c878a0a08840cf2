import { userInfo } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import { accountAtService, Keyturn } from '../../src/keyturn.ts';
import { agent, authority, human, type Intent, proposeSay } from '../journey/authority.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { keyturn as command } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';

const OTHER = { host: 'elsewhere', machine: 'cd'.repeat(32), uid: 4711, user: 'bob' };

/** The same project, opened by the process of another account. */
async function as(p: Project, account: typeof OTHER | null): Promise<Project> {
  const keyturn = await Keyturn.open({ at: p.root, account } as never);
  onTestFinished(() => keyturn.close());
  return { ...p, keyturn };
}

const approve = (p: Project, { intent_id, hash }: Intent, signer: Signer = p.ada) =>
  p.keyturn.intents.approve({ intent_id, hash, signer });

describe('S17: a name that no key proves does not make an approval somebody else’s', () => {
  it('ada proposes in the name of bob and approves: denied once bob is enrolled', async () => {
    const p = await authority();
    await human(p, 'bob');
    const intent = await proposeSay(p, { issuer: 'bob' });
    const refusal = await expectRefusal('POLICY_DENIED', () => approve(p, intent));
    expect(refusal.facts.policies).toBe('no-self-approval');
  });

  it('and in the name of an agent without a key', async () => {
    const p = await authority();
    await human(p, 'bob');
    await p.keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key: null, signer: p.ada });
    const intent = await proposeSay(p, { issuer: 'scout' });
    await expectRefusal('POLICY_DENIED', () => approve(p, intent));
  });

  it('what another account proposed, or a key signed, may be approved', async () => {
    const p = await authority();
    const bob = await human(p, 'bob');
    const scout = await agent(p, 'scout');
    await approve(p, await proposeSay(await as(p, OTHER), { issuer: 'bob' }));
    const say = { kind: 'tool' as const, tool: 'say', arguments: { word: 'x' } };
    for (const [issuer, signer] of [
      ['bob', bob],
      ['scout', scout],
    ] as const)
      await approve(p, await p.keyturn.intents.propose({ declared_goal: 'x', issuer, effect: say, signer }));
  });

  it('an account that is not known could be any', async () => {
    const p = await authority();
    await human(p, 'bob');
    const intent = await proposeSay(await as(p, null), { issuer: 'bob' });
    await expectRefusal('POLICY_DENIED', () => approve(p, intent));
    const other = await proposeSay(p, { issuer: 'bob' });
    const unknown = await as(p, null);
    await expectRefusal('POLICY_DENIED', () => approve(unknown, other));
  });

  it('who works alone approves what they proposed, as before', async () => {
    const p = await authority();
    await approve(p, await proposeSay(p));
  });

  it('a delegation that stands for an approval does not open it', async () => {
    const p = await authority();
    await human(p, 'bob');
    const scout = await agent(p, 'scout');
    const { delegation_id: delegation } = await p.keyturn.agents.delegate({
      delegate: 'scout',
      actions: ['tool:*'],
      ttl_s: 3600,
      approves: true,
      reason: 'x',
      signer: p.ada,
    });
    const mine = await proposeSay(p, { issuer: 'bob' });
    await expectRefusal('POLICY_DENIED', () =>
      p.keyturn.intents.submit({ ...mine, signer: scout, delegation }),
    );
    const say = { kind: 'tool' as const, tool: 'say', arguments: { word: 'x' } };
    const its = await p.keyturn.intents.propose({
      declared_goal: 'x',
      issuer: 'scout',
      effect: say,
      signer: scout,
    });
    const { intent_id, hash } = its;
    await p.keyturn.intents.submit({ intent_id, hash, signer: scout, delegation });
  });

  it('the account is in the ledger, and shown', async () => {
    const p = await authority();
    const { intent_id } = await proposeSay(p);
    const { uid, username } = userInfo();
    const [entry] = await entriesAbout(p.keyturn, intent_id);
    expect(entry!.body).toMatchObject({ account: { uid, user: username } });
    const { stdout } = await command(['show', intent_id], { cwd: p.root });
    expect(stdout).toContain(`from the account ${username} on `);
  });

  it('of a caller that a service identified, how is shown, and no account', async () => {
    const p = await authority();
    await agent(p, 'bot');
    const draft = {
      declared_goal: 'Say.',
      effect: { kind: 'tool' as const, tool: 'say', arguments: { word: 'hello' } },
    };
    const at = await Keyturn.open({ at: p.root, account: accountAtService('token', 'bot') });
    const { intent_id } = await at.intents.propose({ ...draft, issuer: 'bot' });
    await at.close();
    const { stdout } = await command(['show', intent_id], { cwd: p.root });
    expect(stdout).toContain('bot (agent, by name only), with its token\n');
  });
});
