import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import { writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import {
  AUTHORITY_TOOLS,
  agent,
  authority,
  call,
  granted,
  human,
  kinds,
  lastBody,
  named,
  PERMITS,
  policy,
  proposeSay,
  rules,
  writePolicies,
  yes,
} from './authority.ts';

describe('the happy path of 002', () => {
  it('steps 0 to 7: drafted, submitted, frozen, requested, issued, run once, recorded, closed', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const intent = await proposeSay(p, { issuer: 'scout' });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    const { capability_id, token } = await p.keyturn.intents.grant({ ...intent, signer: p.ada });
    expect(token).toBeNull();
    const report = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(report.result).toBe('success');
    expect(report.capability_id).toBe(capability_id);
    expect(await kinds(p, intent.intent_id)).toEqual([
      'intent.proposed',
      'intent.submitted',
      'approval.granted',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).capabilities[0]?.status).toBe(
      'spent',
    );
    await expectRefusal('ALREADY_EXECUTED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(8);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('the record binds intent, capability, tool, inputs and outputs', async () => {
    const p = await authority();
    const { intent_id, hash, capability_id } = await granted(p);
    const { execution_id } = await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    const body = await lastBody(p, intent_id);
    expect(body).toMatchObject({ execution_id, capability_id, tool: 'say', result: 'success' });
    const claimed = (await entriesAbout(p.keyturn, intent_id)).find(
      ({ kind }) => kind === 'execution.claimed',
    )!;
    expect(claimed.body).toMatchObject({ capability_id, hash });
    expect(claimed.claims).toContain(`capability:${capability_id}`);
  });

  it('nothing runs without a capability, whoever approved it', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('ORDER_MISSING', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(await lastBody(p, intent.intent_id)).toMatchObject({ reason_code: 'ORDER_MISSING' });
    expect(await p.keyturn.intents.check({ intent_id: intent.intent_id, hash: intent.hash })).toMatchObject({
      code: 'ORDER_MISSING',
    });
  });

  it('a capability is short: five minutes unless told, never past the intent', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    const { intent_id } = await granted(p);
    const [first] = (await p.keyturn.intents.get({ intent_id })).capabilities;
    expect(first?.expires_at).toBe('2026-03-02T10:05:00.000Z');
    const soon = { expiry: '2026-03-02T10:02:00.000Z' };
    const short = await granted(p, soon);
    expect((await p.keyturn.intents.get({ intent_id: short.intent_id })).capabilities[0]?.expires_at).toBe(
      soon.expiry,
    );
    const intent = await proposeSay(p, soon);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    const grant = (ttl_s: number) => () => p.keyturn.intents.grant({ ...intent, signer: p.ada, ttl_s });
    await expectRefusal('CAPABILITY_TOO_LONG', grant(600));
    await expectRefusal('CAPABILITY_TOO_LONG', grant(7200));
    await expectRefusal('CAPABILITY_TOO_LONG', grant(0));
    now = new Date('2026-03-02T10:06:00.000Z');
    await expectRefusal('CAPABILITY_EXPIRED', async () =>
      runSeen(p.keyturn, {
        intent_id,
        hash: (await p.keyturn.intents.get({ intent_id })).hash,
        confirm: yes,
      }),
    );
  });

  it('a change is a new intent that names the old one', async () => {
    const p = await authority();
    const old = await proposeSay(p);
    const changed = await proposeSay(p, { replaces: old.intent_id, ...call('say', { word: 'bye' }) });
    expect((await p.keyturn.intents.get({ intent_id: changed.intent_id })).replaces).toBe(old.intent_id);
    await expectRefusal('INTENT_NOT_FOUND', () =>
      proposeSay(p, { replaces: changed.intent_id.replace(/^./, 'f').replace(/.$/, '0') }),
    );
  });
});

describe('F1: the intent is refused', () => {
  it('by a policy, with its words, and that is recorded with the decision', async () => {
    const p = await authority();
    const prohibited = policy(
      'no-production',
      'intent',
      'forbid (principal, action == Keyturn::Action::"submit", resource) when { context.goal like "*production*" };',
      'Production is not for agents.',
    );
    await rules(p, PERMITS + prohibited);
    const intent = await proposeSay(p, { declared_goal: 'Wipe production.' });
    const refusal = await expectRefusal('POLICY_DENIED', () =>
      p.keyturn.intents.approve({ ...intent, signer: p.ada }),
    );
    expect(refusal.message).toContain('Production is not for agents.');
    expect(refusal.facts).toEqual({ policies: 'no-production' });
    const body = await lastBody(p, intent.intent_id);
    expect(body.reason_code).toBe('POLICY_DENIED');
    expect(
      JSON.parse(Buffer.from(await objectOf(p.keyturn, body.decision as string)).toString()),
    ).toMatchObject({
      decision: { allowed: false, code: 'POLICY_DENIED', policies: [{ id: 'no-production' }] },
    });
    await expectRefusal('APPROVAL_MISSING', () => p.keyturn.intents.grant({ ...intent, signer: p.ada }));
  });

  it('when it is expired', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    const intent = await proposeSay(p);
    now = new Date('2026-03-04T10:00:00.000Z');
    await expectRefusal('INTENT_EXPIRED', () => p.keyturn.intents.approve({ ...intent, signer: p.ada }));
    expect(await lastBody(p, intent.intent_id)).toEqual({ reason_code: 'INTENT_EXPIRED', decision: null });
  });

  it('when its issuer cannot be verified: an agent, a stranger, a forged key', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const intent = await proposeSay(p);
    await expectRefusal('NOT_HUMAN', () => p.keyturn.intents.approve({ ...intent, signer: scout }));
    await expectRefusal('KEY_FILE_INVALID', () =>
      p.keyturn.intents.approve({ ...intent, signer: { ...p.ada, public_key: scout.public_key } }),
    );
    await expectRefusal('PRINCIPAL_UNKNOWN', () =>
      p.keyturn.intents.approve({ ...intent, signer: { ...scout, name: 'eve' } }),
    );
    expect(await kinds(p, intent.intent_id)).toEqual(['intent.proposed', ...Array(3).fill('intent.refused')]);
  });

  it('when what it asks for is what it prohibits', async () => {
    const p = await authority();
    const own = { constraints: { prohibitions: ['tool:say'] } };
    await expectRefusal('ACTION_PROHIBITED', () => proposeSay(p, own));
    const slow = { constraints: { limits: { max_runtime_s: 1 } } };
    await expectRefusal('ACTION_PROHIBITED', () => proposeSay(p, slow));
    const wired = { ...call('wait', { seconds: 1 }), constraints: { limits: { network: false } } };
    await expectRefusal('ACTION_PROHIBITED', () => proposeSay(p, wired));
  });

  it('an envelope that does not request what its effect does is not even a proposal', async () => {
    const p = await authority();
    await expectRefusal('ACTION_NOT_REQUESTED', () => proposeSay(p, { requested_actions: ['read'] }));
  });
});

describe('F2: the capability is denied', () => {
  it('by default: what no policy permits is denied, with the reason', async () => {
    const p = await authority();
    await rules(p, policy('submit', 'intent', 'permit (principal, action, resource);'));
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('POLICY_NO_PERMIT', () => p.keyturn.intents.grant({ ...intent, signer: p.ada }));
    expect(await lastBody(p, intent.intent_id)).toMatchObject({ by: 'ada', reason_code: 'POLICY_NO_PERMIT' });
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).capabilities).toEqual([]);
  });

  it('an empty set of policies permits nothing', async () => {
    const p = await authority();
    await rules(p, '');
    const intent = await proposeSay(p);
    await expectRefusal('POLICY_NO_PERMIT', () => p.keyturn.intents.approve({ ...intent, signer: p.ada }));
  });

  it('for an action that the approved intent does not request', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('ACTION_NOT_REQUESTED', () =>
      p.keyturn.intents.grant({ ...intent, signer: p.ada, action: 'deploy' }),
    );
  });

  it('for more than the approved effect reaches', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    const scope = { unconfined: false, network: true, read: [], write: [], pipelines: [] };
    await expectRefusal('CAPABILITY_WIDENED', () =>
      p.keyturn.intents.grant({ ...intent, signer: p.ada, scope }),
    );
    expect(await kinds(p, intent.intent_id)).toContain('capability.denied');
  });

  it('while the number and the roles of approvers are not what the policies ask for', async () => {
    const p = await authority();
    const bob = await human(p, 'bob', ['ops']);
    const eve = await human(p, 'eve', ['dev']);
    const needed = policy(
      'dev-and-ops',
      'capability',
      'forbid (principal, action, resource) unless { context.quorums.contains("dev-and-ops") };',
      'Somebody from dev and somebody from ops have to agree.',
    );
    await rules(
      p,
      PERMITS + needed,
      'dev-and-ops: { each: [ { any: 1, role: dev }, { any: 1, role: ops } ] }\n',
    );
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: bob });
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.grant({ ...intent, signer: bob }));
    await p.keyturn.intents.approve({ ...intent, signer: eve });
    await p.keyturn.intents.grant({ ...intent, signer: bob });
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
  });

  it('a rate limit holds for proposers one by one', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    await agent(p, 'scout');
    await rules(
      p,
      PERMITS +
        policy(
          'slowly',
          'capability',
          'forbid (principal, action, resource) when { context.pace_hour >= 2 };',
        ),
    );
    await granted(p, { issuer: 'scout' });
    await granted(p, { issuer: 'scout' });
    await expectRefusal('POLICY_DENIED', () => granted(p, { issuer: 'scout' }));
    await granted(p, { issuer: 'ada' });
    now = new Date('2026-03-02T11:02:00.000Z');
    await granted(p, { issuer: 'scout' });
  });

  it('a rate limit holds for grants that are asked for at the same moment', async () => {
    const p = await authority();
    await rules(
      p,
      PERMITS +
        policy(
          'slowly',
          'capability',
          'forbid (principal, action, resource) when { context.pace_hour >= 3 };',
        ),
    );
    const intents = [];
    for (let i = 0; i < 8; i += 1) {
      const intent = await proposeSay(p);
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      intents.push(intent);
    }
    const asked = await Promise.allSettled(
      intents.map((intent) => p.keyturn.intents.grant({ ...intent, signer: p.ada, is_issued: true })),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  it('a rate limit counts what is issued, so of all that were ordered only so many run', async () => {
    const p = await authority();
    const slowly = 'forbid (principal, action, resource) when { context.pace_hour >= 3 };';
    await rules(p, PERMITS + policy('slowly', 'capability', slowly));
    const intents = [];
    for (let i = 0; i < 8; i += 1) {
      const intent = await proposeSay(p);
      await p.keyturn.intents.turn({ ...intent, signer: p.ada });
      intents.push(intent);
    }
    const ran = await Promise.allSettled(
      intents.map((intent) => runSeen(p.keyturn, { ...intent, confirm: yes })),
    );
    expect(ran.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });
});

describe('F4: the tool fails', () => {
  it('is recorded with its reason, nothing is tried again, and a retry needs a new capability', async () => {
    const p = await authority();
    const intent = await granted(p, call('fail'));
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).reason_code).toBe('TOOL_EXIT_NONZERO');
    await expectRefusal('RUN_FAILED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    await p.keyturn.runs.retry({ intent_id: intent.intent_id, reason: 'again', signer: p.ada });
    await expectRefusal('ORDER_MISSING', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    await expectRefusal('CAPABILITY_INTENT_CHANGED', () =>
      runSeen(p.keyturn, { ...intent, confirm: yes, capability: intent.token }),
    );
    await p.keyturn.intents.grant({ ...named(intent), signer: p.ada });
    const again = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(again.result).toBe('failure');
    expect(
      (await p.keyturn.intents.get({ intent_id: intent.intent_id })).runs.map(({ attempt }) => attempt),
    ).toEqual([1, 2]);
  });

  it('an alternate tool runs only if the approved intent names it, after a failure, with a new capability', async () => {
    const p = await authority();
    const alternates = [{ kind: 'tool', tool: 'say', arguments: { word: 'plan B' } }];
    const requested_actions = ['tool:fail', 'tool:say'];
    const intent = await proposeSay(p, { ...call('fail'), alternates, requested_actions });
    const { intent_id } = intent;
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('RETRY_NOT_DUE', () =>
      p.keyturn.runs.retry({ intent_id, reason: 'x', signer: p.ada, alternate: 'say' }),
    );
    await p.keyturn.intents.grant({ ...intent, signer: p.ada, action: 'tool:fail' });
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    await expectRefusal('ALTERNATE_NOT_NAMED', () =>
      p.keyturn.runs.retry({ intent_id, reason: 'x', signer: p.ada, alternate: 'wait' }),
    );
    await p.keyturn.runs.retry({
      intent_id,
      reason: 'the first one is broken',
      signer: p.ada,
      alternate: 'say',
    });
    await p.keyturn.intents.grant({ ...intent, signer: p.ada, action: 'tool:say' });
    const report = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(report.stdout).toBe('plan B\n');
    expect(report.tool).toBe('say');
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(9);
    await p.keyturn.runs.replay({ execution_id: report.execution_id });
  });
});

describe('F6: it is not clear what is wanted', () => {
  it('an intent that requests several actions does not say which one a capability is for', async () => {
    const p = await authority();
    const intent = await proposeSay(p, { requested_actions: ['tool:say', 'notify'] });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    const refusal = await expectRefusal('CLARIFICATION_NEEDED', () =>
      p.keyturn.intents.grant({ ...intent, signer: p.ada }),
    );
    expect(refusal.message).toContain('tool:say, notify');
    expect(await lastBody(p, intent.intent_id)).toMatchObject({ reason_code: 'CLARIFICATION_NEEDED' });
    // No run of this intent does that: such a capability could never be used.
    await expectRefusal('CAPABILITY_WRONG_ACTION', () =>
      p.keyturn.intents.grant({ ...intent, signer: p.ada, action: 'notify' }),
    );
    await p.keyturn.intents.grant({ ...intent, signer: p.ada, action: 'tool:say' });
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
  });

  it('a limit that nobody would hold is not passed over', async () => {
    const p = await authority();
    const odd = [{ budget: 5 }, { max_runtime_s: 'soon' }, { max_files: 1 }];
    for (const limits of odd)
      await expectRefusal('CLARIFICATION_NEEDED', () => proposeSay(p, { constraints: { limits } }));
  });

  it('a freeze of an agent or a tool names it', async () => {
    const p = await authority();
    await expectRefusal('CLARIFICATION_NEEDED', () =>
      p.keyturn.system.freeze({ scope: 'tool', reason: 'x', signer: p.ada }),
    );
  });
});

describe('the policies that decide', () => {
  it('are those that a human activated: a file that permits everything permits nothing', async () => {
    const p = await authority();
    await human(p, 'bob');
    writePolicies(p, PERMITS);
    const own = await proposeSay(p);
    await expectRefusal('SELF_APPROVAL', () => p.keyturn.intents.approve({ ...own, signer: p.ada }));
    const theirs = await proposeSay(p, {}, await agent(p, 'scout'));
    await p.keyturn.intents.approve({ ...theirs, signer: p.ada });
    const long = { ...theirs, signer: p.ada, ttl_s: 3600 };
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.grant(long));
    expect(await lastBody(p, theirs.intent_id)).toMatchObject({ reason_code: 'POLICY_DENIED' });
  });

  it('policies that are activated between the look and the run are asked after the y', async () => {
    const p = await authority();
    const intent = await granted(p);
    const swap = async () => {
      const stop = policy('stop', 'execution', 'forbid (principal, action, resource);');
      await rules(p, PERMITS + stop);
      return true;
    };
    await expectRefusal('POLICY_DENIED', () => runSeen(p.keyturn, { ...intent, confirm: swap }));
    expect(await kinds(p, intent.intent_id)).not.toContain('execution.claimed');
  });

  it('a capability that was issued under older policies is judged by the present ones', async () => {
    const p = await authority();
    const intent = await granted(p);
    await rules(
      p,
      PERMITS + policy('stop', 'execution', 'forbid (principal, action, resource);', 'Nothing runs today.'),
    );
    await expectRefusal('POLICY_DENIED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(await lastBody(p, intent.intent_id)).toMatchObject({ reason_code: 'POLICY_DENIED' });
  });

  it('a set that cannot be parsed, or fails its own table, is not activated', async () => {
    const p = await authority();
    await expectRefusal('POLICY_INVALID', () => rules(p, 'permit (principal, action, resource);'));
    writePolicies(p, PERMITS);
    const row = '- { name: no, action: submit, principal: { kind: human, name: ada }, expect: deny }\n';
    writeFileSync(join(p.root, 'policies', 'tests.yaml'), row);
    await expectRefusal('POLICY_TEST_FAILED', () =>
      p.keyturn.policies.activate({ reason: 'x', signer: p.ada }),
    );
    expect((await p.keyturn.system.get()).policy).not.toBeNull();
  });

  it('diff tells which recent decisions would change', async () => {
    const p = await authority();
    const { intent_id } = await granted(p);
    writePolicies(p, PERMITS + policy('stop', 'capability', 'forbid (principal, action, resource);'));
    const diff = await p.keyturn.policies.diff();
    expect(diff.added).toContain('stop');
    expect(diff.asked).toBe(3);
    expect(diff.decisions.map(({ subject, after }) => [subject, after.code])).toEqual([
      [intent_id, 'POLICY_DENIED'],
    ]);
    expect(diff.decisions.map(({ before }) => before.allowed)).toEqual([true]);
  });

  it('diff compares with the active policies, not with those of the day of a decision', async () => {
    const p = await authority();
    const { intent_id } = await granted(p);
    const stop = policy('stop', 'capability', 'forbid (principal, action, resource);');
    writePolicies(p, PERMITS + stop);
    await p.keyturn.policies.activate({ reason: 'stop', signer: p.ada });
    const unrelated = 'forbid (principal, action, resource) when { resource.name == "nothing" };';
    writePolicies(p, PERMITS + stop + policy('more', 'capability', unrelated));
    const more = await p.keyturn.policies.diff();
    expect([more.added, more.asked, more.decisions]).toEqual([['more'], 3, []]);
    writePolicies(p, PERMITS);
    const { decisions } = await p.keyturn.policies.diff();
    expect(decisions.map(({ subject, before, after }) => [subject, before.code, after.allowed])).toEqual([
      [intent_id, 'POLICY_DENIED', true],
    ]);
  });

  it('cannot be activated from a folder that is gone', async () => {
    const p = await authority();
    rmSync(join(p.root, 'policies'), { recursive: true });
    await expectRefusal('POLICY_MISSING', () => p.keyturn.policies.activate({ reason: 'x', signer: p.ada }));
  });

  it('only a human activates them', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    await expectRefusal('NOT_HUMAN', () => p.keyturn.policies.activate({ reason: 'x', signer: scout }));
  });
});

describe('scope', () => {
  it('the sandbox is made from the scope of the capability: what it does not name cannot be reached', async () => {
    const p = await authority();
    for (const folder of ['in', 'out']) mkdirSync(join(p.root, folder));
    writeFileSync(join(p.root, 'in/a.txt'), 'content');
    const full = await granted(p, call('copy'));
    expect((await runSeen(p.keyturn, { ...full, confirm: yes })).result).toBe('success');
    expect(readFileSync(join(p.root, 'out/a.txt'), 'utf8')).toBe('content');

    writeFileSync(join(p.root, 'out/a.txt'), 'old');
    const scope = { unconfined: false, network: false, read: [p.root], write: [], pipelines: [] };
    const narrow = await granted(p, call('copy'), { scope });
    expect((await runSeen(p.keyturn, { ...narrow, confirm: yes })).result).toBe('failure');
    expect(readFileSync(join(p.root, 'out/a.txt'), 'utf8')).toBe('old');
  });

  it('a tool without a sandbox needs a capability that says so', async () => {
    const p = await authority();
    const scope = { unconfined: false, network: true, read: [], write: ['/'], pipelines: [] };
    const intent = await granted(p, call('wait', { seconds: 1 }), { scope });
    await expectRefusal('CAPABILITY_OUT_OF_SCOPE', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(existsSync(join(p.root, 'ran'))).toBe(false);
  });

  it('a capability can be limited to a category of tools', async () => {
    const p = await authority();
    await expectRefusal('CAPABILITY_WRONG_ACTION', () => granted(p, {}, { tool_category: 'files' }));
    const registry = AUTHORITY_TOOLS.replace('name: say', 'name: say\n    category: files');
    writeRegistry(p.root, registry);
    const intent = await granted(p, {}, { tool_category: 'files' });
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
  });
});
