import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import {
  agent,
  authority,
  call,
  granted,
  human,
  named,
  PERMITS,
  policy,
  proposeSay,
  rules,
  yes,
} from './authority.ts';
import { planOf, planProjects, proposed } from './plan-story.ts';

/** What an attacker who may call everything tried, and what stops it now. */

async function delegated(p: Project, delegate: string, over: object = {}): Promise<string> {
  const given = { delegate, actions: ['tool:*'], ttl_s: 86_400, approves: true, reason: 'x', signer: p.ada };
  return (await p.keyturn.agents.delegate({ ...given, ...over })).delegation_id;
}

describe('an agent that is frozen', () => {
  it('and one that is too fast is counted by its key, whatever name it proposes under', async () => {
    const p = await authority();
    const robot = await agent(p, 'robot');
    for (const name of ['x1', 'x2']) await agent(p, name);
    const limit = 'forbid (principal, action, resource) when { context.pace_hour >= 1 };';
    await rules(p, PERMITS + policy('slowly', 'capability', limit));
    const delegation = await delegated(p, 'robot');
    const grantAs = async (issuer: string) => {
      const intent = await proposeSay(p, { issuer });
      await p.keyturn.intents.submit({ ...intent, signer: robot, delegation });
      return p.keyturn.intents.grant({ ...named(intent), signer: robot, delegation, is_issued: true });
    };
    await grantAs('x1');
    await expectRefusal('POLICY_DENIED', () => grantAs('x2'));
  });
});

describe('a capability', () => {
  it('does not outlive the key of the human who granted it', async () => {
    const p = await authority();
    const bob = await human(p, 'bob');
    const intent = await proposeSay(p, {}, await agent(p, 'scout'));
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.grant({ ...named(intent), signer: bob });
    await p.keyturn.people.revoke({ name: 'bob', reason: 'stolen', signer: p.ada });
    expect(await p.keyturn.intents.check({ intent_id: intent.intent_id, hash: intent.hash })).toMatchObject({
      code: 'CAPABILITY_REVOKED',
    });
    await expectRefusal('CAPABILITY_REVOKED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
  });

  it('does not outlive the delegation that it was granted under', async () => {
    const p = await authority();
    const robot = await agent(p, 'robot');
    const delegation = await delegated(p, 'robot', { approves: false });
    const intent = await proposeSay(p, { issuer: 'robot' });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.grant({ ...named(intent), signer: robot, delegation });
    await p.keyturn.agents.revokeDelegation({ delegation_id: delegation, reason: 'enough', signer: p.ada });
    await expectRefusal('CAPABILITY_REVOKED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));

    const short = await delegated(p, 'robot', { approves: false, ttl_s: 60 });
    const { expires_at } = await p.keyturn.intents.grant({
      ...named(intent),
      signer: robot,
      delegation: short,
    });
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  it('stops its run when the human who granted and approved it loses the key', async () => {
    const p = await authority();
    const bob = await human(p, 'bob');
    const intent = await proposeSay(p, call('wait', { seconds: 30 }), await agent(p, 'scout'));
    await p.keyturn.intents.approve({ ...intent, signer: bob });
    await p.keyturn.intents.grant({ ...named(intent), signer: bob });
    const running = runSeen(p.keyturn, { ...intent, confirm: yes });
    const { intent_id } = intent;
    await until(async () => (await p.keyturn.intents.get({ intent_id })).status === 'claimed');
    await p.keyturn.people.revoke({ name: 'bob', reason: 'stolen', signer: p.ada });
    expect(await running).toMatchObject({ result: 'partial', reason_code: 'CAPABILITY_REVOKED' });
  });
});

describe('an alternate', () => {
  it('is judged with the intent, by its own prohibitions and by the policies', async () => {
    const p = await authority();
    const alternates = [{ kind: 'tool', tool: 'say', arguments: { word: 'x' } }];
    const sly = { ...call('fail'), alternates };
    const prohibited = { ...sly, constraints: { prohibitions: ['tool:say'] } };
    await expectRefusal('ACTION_PROHIBITED', () => proposeSay(p, prohibited));
    const no_say = 'forbid (principal, action, resource == Keyturn::Tool::"say");';
    await rules(p, PERMITS + policy('no-say', 'intent', no_say));
    const intent = await proposeSay(p, sly);
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.approve({ ...intent, signer: p.ada }));
  });
});

describe('broken break_glass', () => {
  const GLASS = policy(
    'break_glass',
    'emergency',
    'permit (principal, action == Keyturn::Action::"break_glass", resource);',
  );

  it('heals when a key that broke it is revoked, and does not help against a freeze that came later', async () => {
    const p = await authority();
    const [bob, cat] = [await human(p, 'bob'), await human(p, 'cat')];
    await rules(p, PERMITS + GLASS);
    await agent(p, 'scout');
    const intent = await proposeSay(p, { issuer: 'scout' });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.system.freeze({ scope: 'system', reason: 'fire', signer: p.ada });
    for (const signer of [bob, cat])
      await p.keyturn.runs.breakGlass({ ...intent, reason: 'it burns', signer });
    await p.keyturn.system.freeze({ scope: 'tool', name: 'say', reason: 'and this', signer: p.ada });
    await expectRefusal('FROZEN', () => p.keyturn.intents.grant({ ...named(intent), signer: cat }));
    await p.keyturn.system.unfreeze({ scope: 'tool', name: 'say', reason: 'no', signer: p.ada });
    await p.keyturn.intents.grant({ ...named(intent), signer: cat });
    await p.keyturn.people.revoke({ name: 'bob', reason: 'stolen', signer: p.ada });
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
  });

  it('that healed helps no longer against the policies, also with the capability in hand', async () => {
    const p = await authority();
    const [bob, cat] = [await human(p, 'bob'), await human(p, 'cat')];
    const stop = policy('stop', 'execution', 'forbid (principal, action, resource);');
    await rules(p, PERMITS + GLASS + stop);
    await agent(p, 'scout');
    const burning = async () => {
      const intent = await proposeSay(p, { issuer: 'scout' });
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      for (const signer of [bob, cat])
        await p.keyturn.runs.breakGlass({ ...intent, reason: 'it burns', signer });
      await p.keyturn.intents.grant({ ...named(intent), signer: cat });
      return intent;
    };
    const [first, second, third] = [await burning(), await burning(), await burning()];
    expect(await runSeen(p.keyturn, { ...first, confirm: yes })).toMatchObject({ result: 'success' });
    await p.keyturn.people.revoke({ name: 'bob', reason: 'stolen', signer: p.ada });
    await expectRefusal('POLICY_DENIED', () => runSeen(p.keyturn, { ...second, confirm: yes }));
    // Nor when the policies stop permitting it.
    await rules(p, PERMITS + stop);
    await expectRefusal('POLICY_DENIED', () => runSeen(p.keyturn, { ...third, confirm: yes }));
  });
});

const PIPELINE = `version: 1
tools:
  - name: tick
    summary: Nothing.
    executable: /usr/bin/true
    sandbox: none
    undo: none
pipelines:
  - { name: nightly, summary: Nothing., steps: [{ tool: tick }] }
`;

describe('policies about a plan', () => {
  const makeProject = planProjects();
  const create = (i: number, target: string) => ({
    action_id: `a${i}`,
    action_type: 'FILE_CREATE',
    target,
    operation: { type: 'create', content: 'x\n' },
  });

  it('see every path, also where the token names only folders', async () => {
    const p = await makeProject();
    const no =
      'forbid (principal, action == Keyturn::Action::"grant", resource) when { context.scope_writes.contains("infra/prod.txt") };';
    await rules(p, PERMITS + policy('no-prod', 'capability', no));
    const many = Array.from({ length: 70 }, (_, i) => create(i, `n/${i}.txt`));
    for (const actions of [[create(0, 'infra/prod.txt')], [...many, create(99, 'infra/prod.txt')]]) {
      const intent = await proposed(p, planOf(actions));
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      await expectRefusal('POLICY_DENIED', () =>
        p.keyturn.intents.grant({ ...named(intent), signer: p.ada }),
      );
    }
    expect(existsSync(join(p.root, 'infra/prod.txt'))).toBe(false);
  });

  it('count one that starts a pipeline as unsandboxed and networked, for its steps run as the registry says', async () => {
    const p = await makeProject({}, PIPELINE);
    const loose =
      'forbid (principal, action == Keyturn::Action::"grant", resource) when { !resource.sandboxed };';
    await rules(p, PERMITS + policy('sandboxed', 'capability', loose));
    const starts = {
      action_id: 'a0',
      action_type: 'PIPELINE_RUN',
      target: 'nightly',
      operation: { type: 'pipeline_run', pipeline: 'nightly' },
      reversible: false,
    };
    for (const [action, permitted] of [
      [create(0, 'n.txt'), true],
      [starts, false],
    ] as const) {
      const intent = await proposed(p, planOf([action]));
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      const granting = () => p.keyturn.intents.grant({ ...named(intent), signer: p.ada });
      if (permitted) await granting();
      else await expectRefusal('POLICY_DENIED', granting);
    }
  });
});

describe('a number that is no number of seconds', () => {
  it('is no lifetime of a capability, and an intent does not end before it was created', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('CAPABILITY_TOO_LONG', () =>
      p.keyturn.intents.grant({ ...named(intent), signer: p.ada, ttl_s: 0.5 }),
    );
    const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
    await expectRefusal('TIME_MALFORMED', () =>
      proposeSay(p, { created_at: soon(4500), expiry: soon(2500) }),
    );
    await expectRefusal('SHAPE_INVALID', () =>
      proposeSay(p, { requested_actions: ['tool:say', 'my password'] }),
    );
    const { execution_id } = await runSeen(p.keyturn, { ...(await granted(p)), confirm: yes });
    await p.keyturn.runs.replay({ execution_id });
  });
});
