import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { signAct } from '../../src/identity/act.ts';
import { genesisOf } from '../../src/journey/audit.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { opened, sqlite } from '../store/sqlite-file.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
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
  kinds,
  lastBody,
  named,
  PERMITS,
  policy,
  rules,
  yes,
} from './authority.ts';

const WAIT = call('wait', { seconds: 30 });

/** Starts a run that would take half a minute, does something to it, and tells how it ended. */
async function stopped(
  p: Project,
  act: (intent: { capability_id: string }) => Promise<unknown>,
  grant: object = {},
) {
  const intent = await granted(p, WAIT, grant);
  const running = runSeen(p.keyturn, { ...intent, confirm: yes });
  await started(p, intent.intent_id);
  await act(intent);
  return { intent, report: await running };
}

async function started({ keyturn }: Project, intent_id: string): Promise<void> {
  await until(async () => (await keyturn.intents.get({ intent_id })).runs.length > 0);
}

async function expectViolation(p: Project, intent_id: string, code: ReasonCode): Promise<void> {
  const story = await entriesAbout(p.keyturn, intent_id);
  expect(story.at(-2)).toMatchObject({ kind: 'violation.detected', body: { reason_code: code } });
  expect(story.at(-1)).toMatchObject({
    kind: 'execution.finished',
    body: { result: 'partial', reason_code: code },
  });
}

describe('a freeze', () => {
  it('of everything stops the next check, the next grant and the next run, until a human ends it', async () => {
    const p = await authority();
    const intent = await granted(p);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'something is odd', signer: p.ada });
    const verdict = await p.keyturn.intents.check({ intent_id: intent.intent_id, hash: intent.hash });
    expect(verdict).toMatchObject({ eligible: false, code: 'FROZEN' });
    expect((verdict as { words: string }).words).toContain('something is odd');
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    await expectRefusal('FROZEN', () => p.keyturn.intents.grant({ ...named(intent), signer: p.ada }));
    await expectRefusal('FROZEN_ALREADY', () =>
      p.keyturn.system.freeze({ scope: 'system', reason: 'again', signer: p.ada }),
    );
    await p.keyturn.system.unfreeze({ scope: 'system', reason: 'it was nothing', signer: p.ada });
    await expectRefusal('NOT_FROZEN', () =>
      p.keyturn.system.unfreeze({ scope: 'system', reason: 'again', signer: p.ada }),
    );
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
  });

  it('of one agent or one tool leaves the others alone; of another tenant it is refused', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const theirs = await granted(p, { issuer: 'scout' });
    const mine = await granted(p);
    const slow = await granted(p, call('wait', { seconds: 1 }));
    await p.keyturn.system.freeze({ scope: 'agent', name: 'scout', reason: 'it misbehaves', signer: p.ada });
    await p.keyturn.system.freeze({ scope: 'tool', name: 'wait', reason: 'it hangs', signer: p.ada });
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...theirs, confirm: yes }));
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...slow, confirm: yes }));
    expect((await runSeen(p.keyturn, { ...mine, confirm: yes })).result).toBe('success');
    await expectRefusal('STORE_MISSING', () =>
      p.keyturn.system.freeze({ scope: 'tenant', name: 'other', reason: 'x', signer: p.ada }),
    );
    await p.keyturn.system.freeze({ scope: 'tenant', reason: 'all of it', signer: p.ada });
    expect((await p.keyturn.system.get()).freezes).toHaveLength(3);
  });

  it('and its end need a human', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    await expectRefusal('NOT_HUMAN', () =>
      p.keyturn.system.freeze({ scope: 'system', reason: 'x', signer: scout }),
    );
    await p.keyturn.system.freeze({ scope: 'system', reason: 'x', signer: p.ada });
    await expectRefusal('NOT_HUMAN', () =>
      p.keyturn.system.unfreeze({ scope: 'system', reason: 'x', signer: scout }),
    );
  });

  it('that comes while the human looks is found after the y', async () => {
    const p = await authority();
    const intent = await granted(p);
    const confirm = async () => {
      await p.keyturn.system.freeze({ scope: 'system', reason: 'stop', signer: p.ada });
      return true;
    };
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...intent, confirm }));
    expect(await kinds(p, intent.intent_id)).not.toContain('execution.claimed');
  });
});

describe('F5: a violation while it runs', () => {
  it('a freeze kills the running tool and is recorded as a violation', async () => {
    const p = await authority();
    const { intent, report } = await stopped(p, () =>
      p.keyturn.system.freeze({ scope: 'system', reason: 'stop everything', signer: p.ada }),
    );
    expect(report).toMatchObject({ result: 'partial', reason_code: 'FROZEN' });
    await expectViolation(p, intent.intent_id, 'FROZEN');
    await expectRefusal('RUN_PARTIAL', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
  });

  it('a revocation of the capability that it runs under stops it', async () => {
    const p = await authority();
    const { intent } = await stopped(p, ({ capability_id }) =>
      p.keyturn.runs.revokeCapability({ capability_id, reason: 'wrong one', signer: p.ada }),
    );
    await expectViolation(p, intent.intent_id, 'CAPABILITY_REVOKED');
  });

  it('a file that a condition names and that drifts stops it', async () => {
    const p = await authority();
    const path = join(p.root, 'state.txt');
    writeFileSync(path, 'one');
    const conditions = { files: { 'state.txt': sha256('one') } };
    const { intent } = await stopped(p, async () => writeFileSync(path, 'two'), { conditions });
    await expectViolation(p, intent.intent_id, 'CAPABILITY_CONDITION_UNMET');
  });

  it('policies of the execution scope that are activated meanwhile stop it, and the decision is kept', async () => {
    const p = await authority();
    const stop = policy('stop', 'execution', 'forbid (principal, action, resource);', 'Not today.');
    const { intent } = await stopped(p, () => rules(p, PERMITS + stop));
    await expectViolation(p, intent.intent_id, 'POLICY_DENIED');
    const violation = (await entriesAbout(p.keyturn, intent.intent_id)).at(-2)!;
    const kept = await objectOf(p.keyturn, violation.body.decision as string);
    expect(Buffer.from(kept).toString()).toContain('Not today.');
  });

  it('a policy can bound how long an action runs', async () => {
    const p = await authority();
    const brief = policy(
      'brief',
      'execution',
      'forbid (principal, action, resource) when { context.running_s >= 1 };',
    );
    await rules(p, PERMITS + brief);
    const { intent } = await stopped(p, async () => {});
    await expectViolation(p, intent.intent_id, 'POLICY_DENIED');
  });

  it('revokes every capability that is outstanding for the intent', async () => {
    const p = await authority();
    const intent = await granted(p, WAIT);
    const spare = await p.keyturn.intents.grant({ ...named(intent), signer: p.ada });
    const running = runSeen(p.keyturn, { ...intent, confirm: yes });
    await started(p, intent.intent_id);
    await p.keyturn.system.freeze({ scope: 'tool', name: 'wait', reason: 'x', signer: p.ada });
    await running;
    const { capabilities } = await p.keyturn.intents.get({ intent_id: intent.intent_id });
    expect(capabilities.map(({ status }) => status)).toEqual(['revoked', 'spent']);
    const violation = (await entriesAbout(p.keyturn, intent.intent_id)).at(-2)!;
    expect(violation.body.revoked).toEqual([intent.capability_id]);
    expect(spare.capability_id).toBe(capabilities[1]?.capability_id);
  });

  it('a state that no longer has the claim stops it: another host could do the same again', async () => {
    const p = await authority();
    const intent = await granted(p, WAIT);
    const path = join(p.root, '.keyturn', 'store.db');
    const here = `name = 'intent' AND key = '${intent.intent_id}'`;
    const row = () =>
      sqlite(path, (db) => db.prepare(`SELECT status, state FROM projection WHERE ${here}`).get());
    const { status, state } = row() as { status: string; state: string };
    const running = runSeen(p.keyturn, { ...intent, confirm: yes });
    await started(p, intent.intent_id);
    sqlite(path, (db) =>
      db.prepare(`UPDATE projection SET status = ?, state = ? WHERE ${here}`).run(status, state),
    );
    const { facts } = await expectRefusal('RECORDING_FAILED', () => running);
    expect(facts).toMatchObject({ because: 'TRANSITION_ILLEGAL', stopped_by: 'PROJECTION_DRIFT' });
  });

  it('that somebody settled it stops it, since it may be done again now', async () => {
    const p = await authority();
    const intent = await granted(p, WAIT);
    const running = runSeen(p.keyturn, { ...intent, confirm: yes });
    await started(p, intent.intent_id);
    const { execution_id, attempt } = (await p.keyturn.intents.get({ intent_id: intent.intent_id })).runs.at(
      -1,
    )!;
    const path = join(p.root, '.keyturn', 'store.db');
    const store = await opened(path);
    const { origin } = await genesisOf(store);
    const saw = { execution_id, attempt, settles: 'claimed' } as const;
    const resolved = { ...saw, outcome: 'did_not_happen', reason: 'It looked dead.' } as const;
    await store.commit({
      events: [await signAct(origin, 'execution.resolved', intent.intent_id, resolved, p.ada, new Date())],
    });
    await store.close();
    const { facts } = await expectRefusal('RECORDING_FAILED', () => running);
    expect(facts).toMatchObject({ because: 'RUN_FAILED', stopped_by: 'RESOLVE_NOT_DUE' });
  });

  it('expiry after the claim does not stop a run', async () => {
    const p = await authority();
    const intent = await granted(p, call('wait', { seconds: 2 }), { ttl_s: 60 });
    const running = runSeen(p.keyturn, { ...intent, confirm: yes });
    await started(p, intent.intent_id);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    try {
      expect((await running).result).toBe('success');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('break-glass', () => {
  const GLASS = policy(
    'break_glass',
    'emergency',
    'permit (principal, action == Keyturn::Action::"break_glass", resource);',
  );
  const STOP = policy('stop', 'capability', 'forbid (principal, action, resource);');

  it('is possible only if a policy says so', async () => {
    const p = await authority();
    const { intent_id, hash } = await granted(p);
    await expectRefusal('BREAK_GLASS_FORBIDDEN', () =>
      p.keyturn.runs.breakGlass({ intent_id, hash, reason: 'it burns', signer: p.ada }),
    );
    expect(await lastBody(p, intent_id)).toMatchObject({ reason_code: 'BREAK_GLASS_FORBIDDEN' });
  });

  it('needs two humans; then the frozen and forbidden runs once, and the ledger says so', async () => {
    const p = await authority();
    const bob = await human(p, 'bob');
    await rules(p, PERMITS + GLASS + STOP);
    await agent(p, 'scout');
    const intent = await p.keyturn.intents.propose({
      declared_goal: 'Put out the fire.',
      issuer: 'scout',
      ...call('say', { word: 'water' }),
    } as never);
    const { intent_id, hash } = intent;
    await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
    await p.keyturn.system.freeze({ scope: 'system', reason: 'fire', signer: bob });
    await p.keyturn.runs.breakGlass({ intent_id, hash, reason: 'it burns', signer: p.ada });
    await p.keyturn.runs.breakGlass({ intent_id, hash, reason: 'it still burns', signer: p.ada });
    await expectRefusal('FROZEN', () => p.keyturn.intents.grant({ intent_id, hash, signer: p.ada }));
    await p.keyturn.runs.breakGlass({ intent_id, hash, reason: 'I see it', signer: bob });
    const { break_glass } = await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
    expect(break_glass).toBe(true);
    const report = await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    expect(report.result).toBe('success');
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
    await p.keyturn.runs.replay({ execution_id: report.execution_id });
    await expectRefusal('ALREADY_EXECUTED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
  });
});
